"""What a page holds besides its layers: caption, legend, and, where originals are drawn, Leaflet itself."""

import html
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any, cast

from branca.element import Element, Figure, MacroElement
from folium.template import Template
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from geotracs.errors import PrivacyWarning, warn

CAPTION = "This map contains original locations: keep it confidential."
UNKNOWN = "These locations carry no record of a perturbation: keep this map confidential."
CHANGED = "These locations are not those of the release on record: keep this map confidential."
FIGURES = "This map shows shares of original locations: keep it confidential."
NO_RECORD = "This estimate carries no record of a release: keep this map confidential."
TITLE = "geotracs: before and after"
ANSWERS = "geotracs: answers from a release"
TEMPLATE = re.compile(r"\{(?=[{%#])")
"""What begins a template; in JSON only within texts."""
REMOTE = re.compile(
    r"""<(?:script|link|iframe)\b[^>]*?\b(?:src|href)\s*=\s*["']?\s*(?:https?:)?//([^/"'\s>]+)""", re.IGNORECASE
)
"""A tag that loads a script, a style sheet or a frame from elsewhere, and the host."""

SWATCHES = {
    "original": '<line x1="2" y1="7" x2="38" y2="7" stroke-width="3"/><circle cx="20" cy="7" r="4" fill="#333"/>',
    "perturbed": '<line x1="2" y1="7" x2="38" y2="7" stroke-width="2" stroke-dasharray="4 4"/>'
    '<circle cx="20" cy="7" r="4" fill="#fff" stroke-width="2"/>',
    "synthetic": '<line x1="2" y1="7" x2="38" y2="7" stroke-width="1.5"/><circle cx="20" cy="7" r="2" fill="#fff"/>',
    "reconstructed": '<line x1="2" y1="7" x2="38" y2="7" stroke-width="2" stroke-dasharray="1 4"/>'
    '<circle cx="20" cy="7" r="2" fill="#333"/>',
    "radius": '<rect x="2" y="1" width="36" height="12" rx="6" fill="#333" fill-opacity="0.2" stroke-opacity="0.5"/>',
    "unclear": '<circle cx="20" cy="7" r="2.5" fill="#333"/>',
    "flow": '<path d="M4 5H26V2L37 7L26 12V9H4Z" fill="#0072b2" fill-opacity="0.75" stroke="#0072b2"/>',
    "unclear flow": '<path d="M4 5H26V2L37 7L26 12V9H4Z" stroke="#0072b2" stroke-opacity="0.6"/>',
    "within the zone": '<circle cx="20" cy="7" r="5" fill="#e69f00" fill-opacity="0.75" stroke="#e69f00"/>',
}


class Note(MacroElement):
    """A box in a corner of the map, stacked by Leaflet with its other controls.

    Parameters
    ----------
    content : str
        HTML, already escaped where it comes from data.
    corner : {"topleft", "topright", "bottomleft", "bottomright"}
        Where.
    kind : str
        A second class for the style: "legend" or "caption".
    """

    _template = Template(
        """
        {% macro script(this, kwargs) %}
            var {{ this.get_name() }} = L.control({position: {{ this.corner|tojson }}});
            {{ this.get_name() }}.onAdd = function () {
                var box = L.DomUtil.create("div", {{ this.classes|tojson }});
                box.setAttribute("role", "note");
                box.innerHTML = {{ this.content|tojson }};
                return box;
            };
            {{ this.get_name() }}.addTo({{ this._parent.get_name() }});
        {% endmacro %}
        """
    )

    def __init__(self, content: str, corner: str, kind: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # branca has no annotations there
        self._name = "Note"
        self.content, self.corner = content, corner
        self.classes = f"tracs-note tracs-{kind}"


def legend(lines: Sequence[str], roles: Iterable[str], scale: str = "") -> str:
    """Return a legend that folds away: some plain lines, a scale of colours, then what the strokes mean."""
    swatches = [f'<svg width="40" height="14" stroke="#333" fill="none">{SWATCHES[role]}</svg>{role}' for role in roles]
    first, *others = (text(line) for line in lines)
    below = "<br>".join([*others, *swatches]) if not scale else f"{'<br>'.join(others)}{scale}{'<br>'.join(swatches)}"
    return f"<details open><summary>{first}</summary>{below}</details>"


def scale(colours: Sequence[str], top: float) -> str:
    """Return a scale of colours from 0 to a share, by square roots: half of it is a quarter of the share."""
    return bar(colours, [f"{part * top:.2%}" for part in (0, 0.25, 1)])


def bar(colours: Sequence[str], ticks: Sequence[str]) -> str:
    """Return a bar of colours with words at both ends and in the middle."""
    words = "".join(f"<span>{text(tick)}</span>" for tick in ticks)
    shades = f"linear-gradient(to right, {', '.join(map(text, colours))})"
    return f'<div class="tracs-scale" style="background: {shades}"></div><div class="tracs-ticks">{words}</div>'


def text(value: Any) -> str:
    """Return a value as text that may stand in a page, whatever is in it.

    Braces are escaped too: folium compiles what it has rendered as a template once more, in which they would be code.

    >>> text("<b>{{ 7 * 7 }}</b>")
    '&lt;b&gt;&#123;&#123; 7 * 7 &#125;&#125;&lt;/b&gt;'
    """
    return html.escape(str(value)).replace("{", "&#123;").replace("}", "&#125;")


def in_script(value: Any) -> Markup:
    """Return a value as JavaScript that may stand in a page: no `<` that could end the script, and no template.

    >>> print(in_script(["</script>", "{{ 7 * 7 }}"]))
    ["\\u003c/script\\u003e", "\\u007b{ 7 * 7 }}"]
    """
    return Markup(TEMPLATE.sub(r"\\u007b", str(htmlsafe_json_dumps(value))))


class Inlined(Element):
    """A script or a style sheet written into the page."""

    _template = Template("<{{ this.tag }}>{{ this.code }}</{{ this.tag }}>")

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = "Inlined"
        code = files("geotracs.views.maps").joinpath("assets", name).read_text(encoding="utf-8")
        self.tag = "style" if name.endswith(".css") else "script"
        # Pictures of markers and of a collapsed layer control, which are not drawn, and the map of the source.
        self.code = code.replace("url(images/", "url(data:,").replace("//# sourceMappingURL=leaflet.js.map", "")


class Ready(MacroElement):
    """Folds and names controls, and fits the data beside them, when all of them are there.

    Parameters
    ----------
    maps : list of folium.Map
        All that are on the page, which show the same.
    bounds : [[south, west], [north, east]], optional
        What is in view.
    label : str
        What the map is, for those who do not see it.
    ground : list of (kind, shapes)
        What lies below everything, see `backdrop`.
    """

    _template = Template(
        """
        {% macro script(this, kwargs) %}
            setTimeout(() => tracs.ready(
                [{% for map in this.maps %}{{ map.get_name() }}, {% endfor %}], {{ this.settings }}), 0);
        {% endmacro %}
        """
    )

    def __init__(
        self, maps: Sequence[Any], bounds: list[list[float]] | None, label: str, ground: Sequence[Any] = ()
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # branca has no annotations there
        self._name = "Ready"
        self.maps, self.bounds = maps, bounds
        self.settings = in_script({"bounds": bounds, "label": label, "ground": ground})


def dress(page: Element, *scripts: str) -> None:
    """Write geotracs' own style and scripts into a page: they are no third party's.

    Parameters
    ----------
    page : folium.Map
        A map of the page.
    *scripts : str
        Beside those of all pages.
    """
    header = cast(Figure, page.get_root()).header
    for name in ("tracs.css", "tracs.js", *scripts):
        header.add_child(Inlined(name), name=name)


def inline(page: Element, *elements: Any) -> None:
    """Write the scripts of Leaflet into a page, so that it loads none from elsewhere.

    Parameters
    ----------
    page : folium.Map
        A map of the page.
    *elements : folium elements
        All that would link to scripts: the maps and the plugins.
    """
    for element in elements:
        element.default_js, element.default_css = [], []
    header = cast(Figure, page.get_root()).header
    for name in ("leaflet.css", "leaflet.js", "L.Map.Sync.js"):
        header.add_child(Inlined(name), name=name)


class Guard(Element):
    """Warns when a page that shows originals is written with scripts of third parties on it.

    It stands in the header, which is rendered after everything else has put its links there.
    """

    def render(self, **kwargs: Any) -> str:
        """Warn if the page loads scripts from elsewhere; nothing is added to it."""
        figure = cast(Figure, self.get_root())
        parts = [*figure.header._children.values(), *figure.html._children.values()]
        written = "".join(part.render() for part in parts if not isinstance(part, (Guard, Inlined)))
        hosts = sorted(set(REMOTE.findall(written)))
        if hosts:
            warn(
                f"This map shows original locations, and its page loads scripts or styles from {', '.join(hosts)}: "
                "whoever controls these can read the locations. They come from the map given as `m`, or from a layer "
                "that was added to it. Leave `m` out, and add layers that need no scripts to the map that explore "
                "returns.",
                PrivacyWarning,
            )
        return ""


def guard(page: Element) -> None:
    """Watch a page that shows originals."""
    cast(Figure, page.get_root()).header.add_child(Guard(), name="tracs_guard")
