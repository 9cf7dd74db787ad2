"""Public regions and their charts, in planar coordinates."""

from geotracs.domains.rectangle import Rectangle

__all__ = ["Rectangle"]
