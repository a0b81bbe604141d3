/* Lines over one axis, drawn by uPlot; keys and pointer can read them. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;
  const HEIGHT = 240; // pixels
  const INK = { light: ["#4338ca", "#c2410c", "#475569"], dark: ["#a5b4fc", "#fdba74", "#94a3b8"] };
  const DASHES = [[], [6, 4], [2, 4]];
  const FONT = "11px system-ui, sans-serif";
  const themed = (light, dark) => () => (document.body.classList.contains("dark") ? dark : light);
  const ink = (index) => themed(INK.light[index % 3], INK.dark[index % 3]);

  const number = (value) => (value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e6) ? value.toExponential(2) : String(Number(value.toPrecision(4))));

  const tick = (value) => {
    if (value === null) return "";
    return value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e6) ? value.toExponential(0).replace("e+", "e") : value.toLocaleString("en");
  };

  const words = (view, [xs, ...lines], at) => `${view.x.name} ${number(xs[at])}: ` + view.series
    .map((series, index) => [series.name, lines[index][at]])
    .filter(([, y]) => typeof y === "number").map(([name, y]) => `${name} ${number(y)}`).join(", ");

  const names = (view) => {
    const all = view.series.map((series, index) => h("span", {}, h("i", { class: "gym-ink-" + (index % 3), "aria-hidden": "true" }), series.name));
    if (view.bound !== null) all.push(h("span", {}, h("i", { class: "gym-ink-bound", "aria-hidden": "true" }), "target: " + number(view.bound)));
    return all;
  };

  /* ---- what uPlot is told ---- */
  const scale = (axis) => ({ time: false, distr: axis.log ? 3 : 1, range: [axis.least, axis.most] });

  const decades = (axis) => (_, marks) => marks.map((value) => (!axis.log || Number.isInteger(Math.log10(value)) ? value : null));

  const axis = (axis, room) => ({
    ...room, stroke: themed("#475569", "#94a3b8"), font: FONT, labelFont: FONT, ticks: { show: false },
    grid: { stroke: themed("#e2e8f0", "#334155"), width: 1, filter: decades(axis) }, values: (_, marks) => marks.map(tick),
  });

  /* The expected line first, so that yours is seen where they agree. */
  const options = (view, few, changed) => ({
    width: 600, height: HEIGHT, legend: { show: false }, cursor: { y: false, drag: { x: false, y: false } },
    scales: { x: scale(view.x), y: scale(view.y) },
    axes: [axis(view.x, { size: 24, label: view.x.name + (view.x.log ? " (logarithmic)" : ""), labelSize: 18 }), axis(view.y, { size: 62 })],
    series: [{},
      ...view.series.map((_, index) => ({ stroke: ink(index), width: 2, dash: DASHES[index % 3], spanGaps: true, points: { show: few, size: 6, fill: ink(index) } })).reverse(),
      ...(view.bound === null ? [] : [{ stroke: ink(2), width: 2, dash: DASHES[1], points: { show: false } }])],
    hooks: { setCursor: [changed] },
  });

  const step = (from, last, key) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[key];
    if (by === undefined) return null;
    return Math.min(Math.max((from ?? (by === 1 ? -1 : 0)) + by, 0), last);
  };

  const draw = (view, box, read, said) => {
    const tables = view.series.map((series) => [series.points.map(([x]) => x), series.points.map(([, y]) => y)]);
    const data = tables.length ? uPlot.join(tables) : [[]];
    const [xs, ...lines] = data;
    const drawn = [xs, ...[...lines].reverse(), ...(view.bound === null ? [] : [xs.map(() => view.bound)])];
    const tell = (plot) => { read.textContent = plot.cursor.idx == null ? said : words(view, data, plot.cursor.idx); };
    const plot = new uPlot(options(view, xs.length < 20, tell), drawn, box);
    box.addEventListener("keydown", (event) => {
      const at = step(plot.cursor.idx, xs.length - 1, event.key);
      if (at === null) return;
      event.preventDefault();
      plot.setCursor({ left: plot.valToPos(xs[at], "x"), top: 0 });
    });
    box.addEventListener("blur", () => plot.setCursor({ left: -10, top: -10 }));
    new ResizeObserver(() => { if (box.clientWidth) plot.setSize({ width: box.clientWidth, height: HEIGHT }); }).observe(box);
    document.addEventListener("gym:theme", () => plot.redraw());
  };

  gym.curve = (view) => {
    const said = view.note || view.summary;
    const read = h("output", { class: "gym-read" }, said);
    const box = h("div", { tabindex: "0", role: "img", "aria-label": `${view.title}. ${view.summary}. Arrow keys read the points.` });
    gym.load("charts", box).then(() => draw(view, box, read, said));
    return h("figure", { class: "gym-card-box gym-curve" },
      h("figcaption", {}, h("h3", {}, view.title), h("span", { class: "gym-names" }, names(view))),
      h("p", { class: "gym-axes" }, `up: ${view.y.name}${view.y.log ? " (logarithmic)" : ""}`), box,
      h("div", { class: "gym-legend" }, read));
  };
})();
