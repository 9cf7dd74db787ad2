"""Parameters that several algorithms have."""

from qgis.core import (
    QgsProcessing,
    QgsProcessingParameterBoolean,
    QgsProcessingParameterDistance,
    QgsProcessingParameterEnum,
    QgsProcessingParameterExtent,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
    QgsProcessingParameterNumber,
    QgsProcessingParameterPoint,
    QgsUnitTypes,
)

from .words import tr

POINTS, LINES, AREAS = QgsProcessing.TypeVectorPoint, QgsProcessing.TypeVectorLine, QgsProcessing.TypeVectorPolygon
ANY = QgsProcessing.TypeVectorAnyGeometry
FITS = ["envelope", "oriented", "transport", "best"]
METHODS = [
    "joint", "optimal", "nearest", "tracs-c", "tracs-d", "geo-ind", "strawman", "planar-laplace", "k-rr",
    "exponential", "l-srr", "ngram", "atp", "auto",
]  # fmt: skip
OVER_PLACES = ("nearest", "k-rr", "exponential", "l-srr", "ngram", "atp")
UNITS = ["location", "trajectory", "person", "day", "1W"]
RELEASE = "Release (a file that Perturb tracks has written)"


def source(name, words, kinds, optional=False):
    """Return a parameter for a layer."""
    return QgsProcessingParameterFeatureSource(name, tr(words), kinds, optional=optional)


def enum(name, words, options, default=None, several=False, optional=False):
    """Return a parameter for one of some words."""
    return QgsProcessingParameterEnum(
        name, tr(words), options, allowMultiple=several, defaultValue=default, optional=optional, usesStaticStrings=True
    )


def field(name, words, parent, several=False, optional=True):
    """Return a parameter for fields of a layer."""
    return QgsProcessingParameterField(
        name, tr(words), parentLayerParameterName=parent, allowMultiple=several, optional=optional
    )


def metres(name, words, default=None, optional=True):
    """Return a parameter for a distance, in any unit."""
    parameter = QgsProcessingParameterDistance(name, tr(words), defaultValue=default, optional=optional, minValue=0)
    parameter.setDefaultUnit(QgsUnitTypes.DistanceMeters)
    return parameter


def number(name, words, default=None, optional=False, whole=False, least=None, most=None):
    """Return a parameter for a number."""
    kind = QgsProcessingParameterNumber.Integer if whole else QgsProcessingParameterNumber.Double
    limits = {key: value for key, value in (("minValue", least), ("maxValue", most)) if value is not None}
    return QgsProcessingParameterNumber(name, tr(words), kind, defaultValue=default, optional=optional, **limits)


def flag(name, words, default=False):
    """Return a parameter for yes or no."""
    return QgsProcessingParameterBoolean(name, tr(words), defaultValue=default)


def add_region(algorithm, words="Public region", advanced=False):
    """Add the three ways to give a region."""
    algorithm.add(
        source("DOMAIN", words, [AREAS], optional=True),
        "Where locations may be: an area that everybody may know, such as a city.",
        advanced,
    )
    algorithm.add(
        QgsProcessingParameterExtent("EXTENT", tr("or an extent"), optional=True),
        "Type it or draw it. Do not calculate it from the layer of the tracks: where private data ends is private.",
        advanced,
    )
    algorithm.add(QgsProcessingParameterPoint("CENTRE", tr("or the centre of a disc"), optional=True), "", True)
    algorithm.add(metres("DISC", "and its radius"), "", True)


def add_places(algorithm, advanced=False):
    """Add the two ways to give places."""
    algorithm.add(
        source("PLACES", "Public places", [ANY], optional=True),
        "Points, lines or areas that reports shall be.",
        advanced,
    )
    algorithm.add(metres("GRID", "or cells of a grid, their side"), "", True)


def add_prior(algorithm):
    """Add where locations are likely."""
    algorithm.add(
        source("PRIOR", "Where locations are likely", [POINTS, AREAS], optional=True),
        "A public layer, such as a census; it makes the noise short where people are.",
        True,
    )
    algorithm.add(field("WEIGHT", "Column of the prior with numbers", "PRIOR"), "", True)


def add_record(algorithm, advanced=True):
    """Add public layers that the record of a release may not hold."""
    add_region(algorithm, "Public region of the release, if its record does not hold it", advanced)
    words = "As given to Perturb tracks, if its record does not hold them."
    algorithm.add(source("ROUND_TO", "Public places of the release", [ANY], optional=True), words, advanced)
    algorithm.add(metres("ROUND_TO_GRID", "or the side of their cells"), "", advanced)


def add_replace(algorithm):
    """Add whether outputs are replaced."""
    algorithm.add(flag("REPLACE", "Replace an output that exists"), "", True)
