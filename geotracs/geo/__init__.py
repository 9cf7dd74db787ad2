"""The user's arguments become public objects: CRS, tracks, region, prior, places; what originals are asked."""
