"use strict";
// Tracks over time: trails that fade, a clock with its zone, a slider below a histogram that can be brushed, and speeds.
tracs.time = (() => {
  const LOOKS = {
    original: {width: 3, dash: [], full: true}, perturbed: {width: 1.5, dash: [4, 5], full: false},
    synthetic: {width: 1.5, dash: [], full: false}, reconstructed: {width: 2, dash: [1, 4], full: true},
  };
  const BINS = 60, STEPS = 1000, SECONDS = 20, LABELLED = 12, TALL = 34;
  const dark = () => window.matchMedia("(prefers-color-scheme: dark)").matches;
  const own = (name, element) => getComputedStyle(element).getPropertyValue(name);

  // The last of sorted times, from one place up to another, that is not after t; the place before if there is none.
  function last(times, from, to, t) {
    let low = from - 1, high = to - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (times[middle] <= t) low = middle; else high = middle - 1;
    }
    return low;
  }

  // Leaflet may be loaded after this.
  const trails = () => L.Layer.extend({
    initialize(data, number, state) { Object.assign(this, {data, number, state}); },
    onAdd(map) {
      this.canvas = L.DomUtil.create("canvas", "leaflet-zoom-hide tracs-trails", map.getPanes().overlayPane);
      this.canvas.style.pointerEvents = "none";
      map.on("moveend resize", this.reset, this);
      this.reset();
    },
    onRemove(map) {
      map.off("moveend resize", this.reset, this);
      this.canvas.remove();
    },
    reset() {
      const map = this._map, size = map.getSize(), ratio = window.devicePixelRatio || 1;
      L.DomUtil.setPosition(this.canvas, map.containerPointToLayerPoint([0, 0]));
      Object.assign(this.canvas, {width: size.x * ratio, height: size.y * ratio});
      Object.assign(this.canvas.style, {width: size.x + "px", height: size.y + "px"});
      this.pen = this.canvas.getContext("2d");
      this.pen.scale(ratio, ratio);
      this.points = this.data.sides[this.number].xy.map(place => map.latLngToContainerPoint(place));
      this.draw();
    },
    draw() {
      const {pen, points, data, state} = this, {at, times} = data.sides[this.number], size = this._map.getSize();
      const look = LOOKS[data.roles[this.number]];
      pen.clearRect(0, 0, size.x, size.y);
      for (let i = 0; i + 1 < at.length; i++) {
        const head = last(times, at[i], at[i + 1], state.t);
        if (head < at[i]) continue;
        const colour = (dark() && tracs.DARK[data.colours[i]]) || data.colours[i];
        pen.strokeStyle = pen.fillStyle = colour;
        pen.lineWidth = look.width;
        pen.setLineDash(look.dash);
        for (let k = head; k > at[i] && times[k] > state.t - data.trail; k--) {
          pen.globalAlpha = Math.max(1 - (state.t - times[k]) / data.trail, 0.06) * 0.95;
          pen.beginPath();
          pen.moveTo(points[k - 1].x, points[k - 1].y);
          pen.lineTo(points[k].x, points[k].y);
          pen.stroke();
        }
        const rests = state.t - times[head] > data.trail;
        pen.globalAlpha = rests ? 0.25 : 1;
        pen.setLineDash([]);
        pen.lineWidth = 2;
        pen.beginPath();
        pen.arc(points[head].x, points[head].y, rests ? 2.5 : 4.5, 0, 2 * Math.PI);
        if (look.full) pen.fill();
        pen.stroke();
        if (!this.number && at.length - 1 <= LABELLED) {
          pen.font = "12px sans-serif";
          pen.fillText(data.names[i], points[head].x + 7, points[head].y - 5);
        }
      }
      pen.globalAlpha = 1;
    },
  });

  function histogram(box, data, state, moved) {
    const canvas = tracs.element("canvas", "tracs-histogram", box), pen = canvas.getContext("2d");
    const {times} = data.sides[0], counts = new Array(BINS).fill(0), span = data.last - data.first || 1;
    times.forEach(t => { counts[Math.min(Math.floor((t - data.first) / span * BINS), BINS - 1)]++; });
    const most = Math.max(...counts, 1);
    canvas.title = "Locations over time: drag to choose a part";
    canvas.setAttribute("aria-hidden", "true");

    function draw() {
      const wide = canvas.clientWidth || 300;
      Object.assign(canvas, {width: wide, height: TALL});
      counts.forEach((count, i) => {
        const middle = data.first + (i + 0.5) / BINS * span, chosen = middle >= state.from && middle <= state.to;
        pen.fillStyle = own(chosen ? "--ink" : "--edge", canvas);
        pen.globalAlpha = chosen ? 0.75 : 0.35;
        const tall = count ? Math.max(TALL * count / most, 1.5) : 0;
        pen.fillRect(i / BINS * wide + 0.5, TALL - tall, wide / BINS - 1, tall);
      });
      pen.globalAlpha = 1;
      pen.fillStyle = "#d55e00";
      pen.fillRect((state.t - data.first) / span * wide - 1, 0, 2, TALL);
    }
    let start = null;
    const at = event => {
      const all = canvas.getBoundingClientRect();
      return data.first + Math.min(Math.max((event.clientX - all.left) / all.width, 0), 1) * span;
    };
    canvas.onpointerdown = event => { start = at(event); canvas.setPointerCapture(event.pointerId); };
    canvas.onpointermove = event => { if (start !== null) moved(Math.min(start, at(event)), Math.max(start, at(event))); };
    canvas.onpointerup = event => {
      if (start !== null && Math.abs(at(event) - start) < span / BINS) moved(data.first, data.last, at(event));
      start = null;
    };
    return draw;
  }

  return (map, data) => {
    const state = {from: data.first, to: data.last, t: Math.min(data.first + data.trail, data.last), timer: null};
    const Trails = trails();
    const layers = data.roles.map((_, number) => new Trails(data, number, state)), overlays = {};
    layers.slice().reverse().forEach(layer => { overlays[data.roles[layer.number]] = layer.addTo(map); });
    if (data.region) overlays.region = L.geoJSON(data.region, {style: {color: "#333333", weight: 2, fill: false}}).addTo(map);
    L.control.layers(null, overlays, {collapsed: false}).addTo(map);
    const said = t => {
      const words = data.clock === "times" ? new Date(t).toISOString().slice(0, 19).replace("T", " ")
        : String(+(data.low + t * data.unit).toPrecision(9));
      return data.zone ? `${words} ${data.zone}` : words;
    };
    const control = L.control({position: "bottomleft"});
    control.onAdd = () => {
      const box = tracs.element("div", "tracs-note tracs-clock");
      const row = tracs.element("div", "tracs-row", box), play = tracs.element("button", "", row);
      const clock = tracs.element("output", "", row), speed = tracs.element("select", "", row);
      const all = tracs.element("button", "", row);
      play.type = all.type = "button";
      all.textContent = "All";
      all.title = "The whole time, not the part that was chosen";
      speed.setAttribute("aria-label", "Speed");
      [0.25, 0.5, 1, 2, 4, 8].forEach(times => speed.add(new Option(`${times}x`, times, times === 1, times === 1)));
      let slider = null, bars = () => {};
      function show() {
        slider.value = Math.round((state.t - state.from) / (state.to - state.from || 1) * STEPS);
        slider.setAttribute("aria-valuetext", said(state.t));
        clock.textContent = said(state.t);
        play.textContent = state.timer ? "Pause" : "Play";
        all.disabled = state.from === data.first && state.to === data.last;
        bars();
        layers.forEach(layer => layer._map && layer.draw());
      }
      function choose(from, to, t) {
        Object.assign(state, {from, to, t: t === undefined ? Math.min(Math.max(state.t, from), to) : t});
        show();
      }
      function stop() {
        clearInterval(state.timer);
        state.timer = null;
        show();
      }
      bars = histogram(box, data, state, choose);
      slider = tracs.element("input", "", box);
      Object.assign(slider, {type: "range", min: 0, max: STEPS, step: 1});
      slider.setAttribute("aria-label", "Time");
      slider.oninput = () => { state.t = state.from + slider.value / STEPS * (state.to - state.from); show(); };
      all.onclick = () => choose(data.first, data.last);
      play.onclick = () => {
        if (state.timer) return stop();
        if (state.t >= state.to) state.t = state.from;
        let before = performance.now();
        state.timer = setInterval(() => {
          const now = performance.now();
          state.t += (now - before) / 1000 / SECONDS * speed.value * (data.last - data.first);
          before = now;
          if (state.t >= state.to) { state.t = state.to; return stop(); }
          show();
        }, 40);
        show();
      };
      window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
      L.DomEvent.disableClickPropagation(box).disableScrollPropagation(box);
      setTimeout(show, 0);
      return box;
    };
    control.addTo(map);
  };
})();
