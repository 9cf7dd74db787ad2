"""The user's arguments become public objects: CRS, tracks, region, prior, places; and what may be asked of the originals."""
