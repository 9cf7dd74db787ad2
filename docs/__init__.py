"""Pages and pictures about geotracs."""
