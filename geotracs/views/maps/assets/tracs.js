"use strict";
// What all pages of geotracs do in a browser: fit the data beside the controls, fold these where there is little room,
// name things for screen readers, and draw on dark ground if the reader wants it.
window.tracs = (() => {
  const NARROW = 600, MARGIN = 14, GAP = 8, MOST = 12, LOW = 450, LEAST = 5e-4;
  const CORNERS = [["top", "left"], ["top", "right"], ["bottom", "left"], ["bottom", "right"]];
  const DARK = {
    "#000000": "#ffffff", "#333333": "#d6d6d6", "#555555": "#bbbbbb", "#666666": "#aaaaaa", "#777777": "#999999",
    "#0072b2": "#4fb3ee", "#0000ff": "#8f8fff", "#5a2d00": "#d9a066", "#6969ff": "#b3b3ff", "#2d00a5": "#b87fff",
    "#00004b": "#e6e6ff",
  };

  const narrow = () => window.innerWidth < NARROW;
  const first = (map, selector) => map.getContainer().querySelector(selector);

  function element(tag, name, parent) {
    const made = L.DomUtil.create(tag, name || "", parent);
    return made;
  }

  // A layer control that folds by itself, for mouse, touch and keyboard.
  function foldable(map) {
    const list = first(map, ".leaflet-control-layers-expanded > .leaflet-control-layers-list");
    if (!list) return;
    const box = element("details", "tracs-layers");
    element("summary", "", box).textContent = "Layers";
    list.parentNode.insertBefore(box, list);
    box.appendChild(list);
    box.open = true;
  }

  function folded(map, which) {
    map.getContainer().querySelectorAll("details" + which).forEach(box => { box.open = false; });
  }

  // One below the other where there is no room beside each other.
  function arranged(maps) {
    if (maps.length < 2) return;
    maps.forEach(map => map.getContainer().classList.add("tracs-panel"));
    const columns = narrow() ? 1 : maps.length === 4 ? 2 : maps.length, rows = Math.ceil(maps.length / columns);
    maps.forEach((map, i) => {
      const own = map.getContainer().style;
      Object.assign(own, {
        position: "absolute", width: 100 / columns + "%", height: 100 / rows + "%",
        left: 100 * (i % columns) / columns + "%", top: 100 * Math.floor(i / columns) / rows + "%",
        borderBottom: "1px solid var(--edge)",
      });
      map.invalidateSize({animate: false});
      if (i && map.zoomControl) map.zoomControl.remove();
    });
  }

  // The controls of all maps, by the corner that they are in and how far they reach into the map from there.
  function controls(maps) {
    const found = new Map();
    for (const map of maps) {
      const all = map.getContainer().getBoundingClientRect();
      for (const [end, side] of CORNERS) {
        const corner = `.leaflet-${end}.leaflet-${side} > .leaflet-control`;
        for (const control of map.getContainer().querySelectorAll(corner)) {
          const box = control.getBoundingClientRect();
          if (!box.width || !box.height) continue;
          const wide = Math.ceil(side === "left" ? box.right - all.left : all.right - box.left);
          const tall = Math.ceil(end === "top" ? box.bottom - all.top : all.bottom - box.top);
          found.set([end, side, wide, tall].join(), {end, side, wide, tall});
        }
      }
    }
    const largest = [...found.values()].sort((a, b) => b.wide * b.tall - a.wide * a.tall);
    return largest.slice(0, MOST);
  }

  // Each control is avoided either at its side or at its end: take what leaves the data largest.
  function fit(maps, bounds) {
    const size = maps[0].getSize(), given = L.latLngBounds(bounds), middle = given.getCenter();
    const box = given.extend([middle.lat - LEAST, middle.lng - LEAST]).extend([middle.lat + LEAST, middle.lng + LEAST]);
    const low = maps[0].project(box.getSouthWest(), 0), high = maps[0].project(box.getNorthEast(), 0);
    const wide = Math.max(high.x - low.x, 1e-9), tall = Math.max(low.y - high.y, 1e-9);
    const all = controls(maps);
    let best = null;
    for (let choice = 0; choice < 1 << all.length; choice++) {
      const pad = {left: MARGIN, right: MARGIN, top: MARGIN, bottom: MARGIN};
      all.forEach((control, i) => {
        const beside = choice >> i & 1, at = beside ? control.side : control.end;
        pad[at] = Math.max(pad[at], (beside ? control.wide : control.tall) + GAP);
      });
      const scale = Math.min((size.x - pad.left - pad.right) / wide, (size.y - pad.top - pad.bottom) / tall);
      if (!best || scale > best.scale) best = {scale, pad};
    }
    const pad = best.pad;
    const padding = {paddingTopLeft: [pad.left, pad.top], paddingBottomRight: [pad.right, pad.bottom], animate: false};
    maps.forEach(map => map.fitBounds(box, padding));
  }

  function recolour(map, dark) {
    const paint = layer => {
      const own = layer.options;
      if (!layer.setStyle || !own || own.pane === "tracs-ground" || layer instanceof L.LayerGroup) return;
      own.light = own.light || {color: own.color, fillColor: own.fillColor};
      const change = {};
      for (const key of ["color", "fillColor"]) {
        const colour = own.light[key];
        if (colour) change[key] = dark ? DARK[colour.toLowerCase()] || colour : colour;
      }
      layer.setStyle(change);
    };
    map.eachLayer(paint);
    if (!map.tracsPaints) map.on("layeradd", event => { if (map.tracsDark) paint(event.layer); });
    map.tracsPaints = true;
    map.tracsDark = dark;
  }

  // Land, borders and layers of the user's, in greys that the style sheet chooses, below everything.
  function ground(map, kinds) {
    if (!kinds.length) return;
    const pane = map.createPane("tracs-ground");
    pane.style.zIndex = 250;
    pane.style.pointerEvents = "none";
    pane.setAttribute("aria-hidden", "true");
    const renderer = L.svg({pane: "tracs-ground", padding: 0.5});
    for (const [kind, shapes] of kinds) {
      if (kind === "land") map.getContainer().classList.add("tracs-sea");
      const options = {renderer, pane: "tracs-ground", interactive: false, className: "tracs-" + kind, radius: 1.5};
      L.geoJSON(shapes, {...options, pointToLayer: (shape, where) => L.circleMarker(where, options)}).addTo(map);
    }
  }

  function ready(maps, options) {
    maps.forEach((map, i) => {
      const place = map.getContainer();
      place.setAttribute("role", "region");
      place.setAttribute("aria-label", options.label + (maps.length > 1 ? `, map ${i + 1} of ${maps.length}` : ""));
      if (!i) L.control.scale({imperial: false, position: "bottomleft"}).addTo(map);
    });
    arranged(maps);
    maps.forEach(map => ground(map, options.ground));
    maps.forEach(foldable);
    maps.filter(map => narrow() || map.getSize().y < LOW).forEach(map => folded(map, narrow() ? "" : ".tracs-layers"));
    if (options.bounds) fit(maps, options.bounds);
    maps.forEach(map => { map.tracsBounds = options.bounds; });
    const scheme = window.matchMedia("(prefers-color-scheme: dark)");
    const paint = () => maps.forEach(map => recolour(map, scheme.matches));
    scheme.addEventListener("change", paint);
    if (scheme.matches) paint();
  }

  return {DARK, element, fit, narrow, first, ready};
})();
