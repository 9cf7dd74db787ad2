"""Tools for those who work on geotracs."""
