"use strict";
// One person at a time: a list with a search, the tracks of the one who is picked with time as colour, the others faint.
tracs.people = (() => {
  const LIGHT = ["#e08a00", "#e16462", "#b12a90", "#6a00a8", "#0d0887"];
  const DARK = ["#fff2a8", "#fdb95e", "#ee7b82", "#d46ed6", "#a28bff"];
  const LOOKS = {
    original: {line: {weight: 3.5, opacity: 0.95}, dot: {radius: 3.5, weight: 1, fillOpacity: 1}},
    perturbed: {line: {weight: 1, opacity: 0.35, dashArray: "4 6"}, dot: {radius: 4, weight: 2, fillOpacity: 0}},
    synthetic: {line: {weight: 1.5, opacity: 0.6}, dot: {radius: 2, weight: 1, fillOpacity: 0}},
    reconstructed: {line: {weight: 2.5, opacity: 0.95, dashArray: "1 5"}, dot: {radius: 2, weight: 1, fillOpacity: 1}},
  };
  const FAINT = {color: "#777777", weight: 1, opacity: 0.5, interactive: false, pane: "tracs-faint"};
  const dark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;

  function mix(scale, part) {
    const at = Math.min(Math.max(part, 0), 1) * (scale.length - 1), low = Math.min(Math.floor(at), scale.length - 2);
    const ends = [scale[low], scale[low + 1]].map(hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)));
    return `rgb(${ends[0].map((value, i) => Math.round(value + (at - low) * (ends[1][i] - value))).join()})`;
  }

  const distance = metres => {
    const rounded = +metres.toPrecision(2);
    return rounded >= 1000 ? `${rounded / 1000} km` : `${rounded} m`;
  };
  const moment = (t, data) => data.clock === "times" ? new Date(t).toISOString().slice(0, 16).replace("T", " ") : String(+t.toPrecision(9)) + (data.zone && " " + data.zone);
  const parts = (side, i) => side.xy.slice(side.at[i], side.at[i + 1]);

  function draw(map, data) {
    const groups = {}, overlays = {};
    const pane = map.createPane("tracs-tube");
    Object.assign(pane.style, {zIndex: 390, opacity: 0.22, pointerEvents: "none"});
    Object.assign(map.createPane("tracs-faint").style, {zIndex: 380, opacity: 0.3, pointerEvents: "none"});
    const tube = L.svg({pane: "tracs-tube", padding: 0.5}), thin = L.canvas({pane: "tracs-faint", padding: 0.5});
    const names = ["others", ...(data.radius ? ["radius"] : []), ...data.roles];
    for (const name of names) groups[name] = overlays[name] = L.layerGroup().addTo(map);
    data.sides[0].at.slice(1).forEach((_, i) =>
      L.polyline(parts(data.sides[0], i), {...FAINT, renderer: thin}).addTo(groups.others));
    if (data.region) overlays.region = L.geoJSON(data.region, {style: {color: "#333333", weight: 2, fill: false}}).addTo(map);
    L.control.layers(null, overlays, {collapsed: false}).addTo(map);

    const usual = data.radius ? data.radius.slice().sort((a, b) => a - b)[data.radius.length >> 1] : 0;
    const wide = metres => 2 * metres / (40075016.7 * Math.cos(map.getCenter().lat * Math.PI / 180) / 256 / 2 ** map.getZoom());

    function radius(i) {
      groups.radius.clearLayers();
      const where = parts(data.sides[0], i), metres = data.radius.slice(data.sides[0].at[i], data.sides[0].at[i + 1]);
      const look = {renderer: tube, pane: "tracs-tube", color: dark() ? "#bbbbbb" : "#555555", interactive: false};
      const known = metres.map(own => own <= 2 * usual);  // paler where little is known
      where.forEach((place, k) => {
        L.circle(place, {...look, radius: metres[k], stroke: false, fillOpacity: known[k] ? 1 : 0.12}).addTo(groups.radius);
        if (k && known[k] && known[k - 1]) {
          const weight = wide(Math.min(metres[k - 1], metres[k]));
          L.polyline([where[k - 1], place], {...look, weight, opacity: 1, lineCap: "butt"}).addTo(groups.radius);
        }
      });
    }

    function side(number, i) {
      const role = data.roles[number], group = groups[role].clearLayers();
      const where = parts(data.sides[number], i), looks = LOOKS[role], scale = dark() ? DARK : LIGHT;
      const times = data.times && data.times.slice(data.sides[0].at[i], data.sides[0].at[i + 1]);
      const same = times && times.length === where.length;
      const span = same ? times[times.length - 1] - times[0] || 1 : Math.max(where.length - 1, 1);
      where.forEach((place, k) => {
        const color = mix(scale, (same ? times[k] - times[0] : k) / span);
        if (k) L.polyline([where[k - 1], place], {...looks.line, color}).addTo(group);
      });
      where.forEach((place, k) => {
        const color = mix(scale, (same ? times[k] - times[0] : k) / span);
        const said = [`${role}, ${k + 1} of ${where.length}`, ...(same ? [moment(times[k], data)] : [])].join(", ");
        L.circleMarker(place, {...looks.dot, color, fillColor: color}).bindTooltip(said).addTo(group);
      });
    }

    // How far two sides of a person are apart on average, where they have the same rows.
    function apart(a, b, i) {
      const first = parts(data.sides[a], i), second = parts(data.sides[b], i);
      if (!first.length || first.length !== second.length) return null;
      return first.reduce((sum, place, k) => sum + map.distance(place, second[k]), 0) / first.length;
    }

    function words(i) {
      const own = data.sides[0], count = own.at[i + 1] - own.at[i], said = [`${count} location${count === 1 ? "" : "s"}`];
      if (data.times && count) {
        const times = data.times.slice(own.at[i], own.at[i + 1]);
        said.push(`${moment(times[0], data)} to ${moment(times[count - 1], data)}`);
      }
      const truth = data.roles.indexOf("original");
      data.roles.forEach((role, number) => {
        const error = truth < 0 || number === truth ? null : apart(truth, number, i);
        if (error !== null) said.push(`${role}: ${distance(error)} off on average`);
      });
      return said;
    }

    let shown = 0;
    function show(i) {
      shown = i;
      if (data.radius) radius(i);
      data.roles.map((_, number) => number).reverse().forEach(number => side(number, i));
      return words(i);
    }
    map.on("zoomend", () => data.radius && radius(shown));
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show(shown));
    return {show, bounds: i => L.latLngBounds(data.sides.flatMap(each => parts(each, i)))};
  }

  function panel(map, data, drawn) {
    const control = L.control({position: "topright"});
    control.onAdd = () => {
      const box = tracs.element("details", "tracs-note tracs-people");
      box.open = true;
      tracs.element("summary", "", box).textContent = `One of ${data.names.length} people`;
      const search = tracs.element("input", "", box), list = tracs.element("select", "", box);
      const row = tracs.element("div", "tracs-row", box), said = tracs.element("div", "", box);
      search.type = "search";
      search.placeholder = "Find a person";
      search.setAttribute("aria-label", "Find a person");
      list.size = Math.min(6, Math.max(2, data.names.length));
      list.setAttribute("aria-label", "People");
      said.setAttribute("aria-live", "polite");
      const buttons = [["Previous (p)", -1], ["Next (n)", 1], ["Zoom", 0]].map(([name, step]) => {
        const button = tracs.element("button", "", row);
        button.type = "button";
        button.textContent = name;
        button.onclick = () => step ? move(step) : map.fitBounds(drawn.bounds(+list.value).pad(0.2));
        return button;
      });
      const scale = tracs.element("div", "tracs-time", box);
      scale.textContent = "first to last";

      function show() {
        said.replaceChildren(...drawn.show(+list.value).map(line => {
          const own = document.createElement("div");
          own.textContent = line;
          return own;
        }));
      }
      function fill() {
        const asked = search.value.trim().toLowerCase();
        list.replaceChildren();
        data.names.forEach((name, i) => {
          if (name.toLowerCase().includes(asked)) list.add(new Option(name, i));
        });
        buttons.forEach(button => { button.disabled = !list.length; });
        if (!list.length) return said.replaceChildren("Nobody has this name.");
        list.selectedIndex = 0;
        show();
      }
      function move(step) {
        if (!list.length) return;
        list.selectedIndex = (list.selectedIndex + step + list.length) % list.length;
        show();
      }
      search.oninput = fill;
      list.onchange = show;
      document.addEventListener("keydown", event => {
        if (event.target === search || event.ctrlKey || event.metaKey || event.altKey) return;
        if (event.key === "n") move(1);
        if (event.key === "p") move(-1);
      });
      L.DomEvent.disableClickPropagation(box).disableScrollPropagation(box);
      fill();
      return box;
    };
    control.addTo(map);
  }

  return (map, data) => panel(map, data, draw(map, data));
})();
