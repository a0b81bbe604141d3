/* Lines over one axis, on a canvas that keys and pointer can read. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;
  const HEIGHT = 240, LEFT = 62, BOTTOM = 38, TOP = 10, RIGHT = 14; // pixels
  const INK = { light: ["#4338ca", "#c2410c", "#475569"], dark: ["#a5b4fc", "#fdba74", "#94a3b8"] };
  const DASHES = [[], [6, 4], [2, 4]];
  const isDark = () => document.body.classList.contains("dark");

  const share = (axis, value) => (axis.log
    ? Math.log(value / axis.least) / Math.log(axis.most / axis.least)
    : (value - axis.least) / (axis.most - axis.least));

  const across = (view, width, x) => LEFT + share(view.x, x) * (width - LEFT - RIGHT);
  const down = (view, y) => TOP + (1 - share(view.y, y)) * (HEIGHT - TOP - BOTTOM);

  const axes = (pen, view, width) => {
    pen.strokeStyle = isDark() ? "#334155" : "#e2e8f0";
    pen.fillStyle = isDark() ? "#94a3b8" : "#475569";
    pen.font = "11px system-ui, sans-serif";
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const [place, text] of view.y.ticks) {
      const y = TOP + (1 - place) * (HEIGHT - TOP - BOTTOM);
      pen.strokeRect(LEFT, y, width - LEFT - RIGHT, 0);
      pen.fillText(text, LEFT - 6, y);
    }
    pen.textAlign = "center";
    for (const [place, text] of view.x.ticks) pen.fillText(text, LEFT + place * (width - LEFT - RIGHT), HEIGHT - BOTTOM + 12);
    pen.fillText(view.x.name + (view.x.log ? " (logarithmic)" : ""), (LEFT + width - RIGHT) / 2, HEIGHT - 8);
  };

  const line = (pen, points, ink, dash) => {
    pen.strokeStyle = ink;
    pen.lineWidth = 2;
    pen.setLineDash(dash);
    pen.beginPath();
    for (const [x, y] of points) pen.lineTo(x, y);
    pen.stroke();
    pen.setLineDash([]);
  };

  const dots = (pen, points, ink) => {
    pen.fillStyle = ink;
    for (const [x, y] of points) { pen.beginPath(); pen.arc(x, y, 3, 0, 7); pen.fill(); }
  };

  const paint = (canvas, view, state) => {
    const width = canvas.clientWidth;
    if (!width) return;
    const pen = gym.pen(canvas, HEIGHT);
    const inks = INK[isDark() ? "dark" : "light"];
    axes(pen, view, width);
    if (view.bound !== null) line(pen, [[LEFT, down(view, view.bound)], [width - RIGHT, down(view, view.bound)]], inks[2], DASHES[1]);
    // The expected line first, so that yours is seen where they agree.
    [...view.series.keys()].reverse().forEach((index) => {
      const points = view.series[index].points.map(([x, y]) => [across(view, width, x), down(view, y)]);
      line(pen, points, inks[index % 3], DASHES[index % 3]);
      if (points.length < 20) dots(pen, points, inks[index % 3]);
    });
    if (state.at !== null) {
      pen.strokeStyle = isDark() ? "#f8fafc" : "#0f172a";
      pen.lineWidth = 1;
      pen.strokeRect(across(view, width, state.xs[state.at]), TOP, 0, HEIGHT - TOP - BOTTOM);
    }
  };

  const number = (value) => (value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e6) ? value.toExponential(2) : String(Number(value.toPrecision(4))));

  const words = (view, x) => {
    const said = view.series.map((series) => [series.name, series.points.find((point) => point[0] === x)]);
    return `${view.x.name} ${number(x)}: ` + said.filter(([, point]) => point).map(([name, point]) => `${name} ${number(point[1])}`).join(", ");
  };

  const nearest = (view, state, width, place) => {
    const distance = (x) => Math.abs(across(view, width, x) - place);
    return state.xs.reduce((best, x, index) => (distance(x) < distance(state.xs[best]) ? index : best), 0);
  };

  const step = (state, key) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[key];
    if (by === undefined) return false;
    const from = state.at === null ? (by > 0 && by < Infinity ? -1 : 0) : state.at;
    state.at = Math.min(Math.max(from + by, 0), state.xs.length - 1);
    return true;
  };

  const names = (view) => {
    const all = view.series.map((series, index) => h("span", {}, h("i", { class: "gym-ink-" + (index % 3), "aria-hidden": "true" }), series.name));
    if (view.bound !== null) all.push(h("span", {}, h("i", { class: "gym-ink-bound", "aria-hidden": "true" }), "target: " + number(view.bound)));
    return all;
  };

  gym.curve = (view) => {
    const xs = [...new Set(view.series.flatMap((series) => series.points.map((point) => point[0])))].sort((a, b) => a - b);
    const state = { at: null, xs };
    const said = view.note || view.summary;
    const canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": `${view.title}. ${view.summary}. Arrow keys read the points.` });
    const read = h("output", { class: "gym-read" }, said);
    const draw = () => { paint(canvas, view, state); read.textContent = state.at === null ? said : words(view, xs[state.at]); };
    canvas.addEventListener("keydown", (event) => { if (step(state, event.key)) { event.preventDefault(); draw(); } });
    canvas.addEventListener("pointermove", (event) => { state.at = nearest(view, state, canvas.clientWidth, event.offsetX); draw(); });
    const leave = () => { state.at = null; draw(); };
    canvas.addEventListener("pointerleave", leave);
    canvas.addEventListener("blur", leave);
    new ResizeObserver(draw).observe(canvas);
    document.addEventListener("gym:theme", draw);
    return h("figure", { class: "gym-card-box gym-curve" },
      h("figcaption", {}, h("h3", {}, view.title), h("span", { class: "gym-names" }, names(view))),
      h("p", { class: "gym-axes" }, `up: ${view.y.name}${view.y.log ? " (logarithmic)" : ""}`), canvas,
      h("div", { class: "gym-legend" }, read));
  };
})();
