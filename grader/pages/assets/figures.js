/* The pictures of a report: a matrix on a canvas that keys and pointer can read, and gradient bars. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;
  const RAMPS = {
    light: [[238, 242, 250], [129, 140, 248], [67, 56, 202], [30, 27, 75]],
    dark: [[30, 41, 59], [67, 56, 202], [129, 140, 248], [224, 231, 255]],
  };
  const isDark = () => document.body.classList.contains("dark");

  const colour = (share) => {
    const ramp = RAMPS[isDark() ? "dark" : "light"];
    const place = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
    const low = Math.min(Math.floor(place), ramp.length - 2);
    return `rgb(${ramp[low].map((from, i) => Math.round(from + (ramp[low + 1][i] - from) * (place - low))).join(" ")})`;
  };

  const nan = (pen, x, y, size) => {
    pen.strokeStyle = isDark() ? "#f87171" : "#b91c1c";
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x + 3, y + size - 3);
    pen.lineTo(x + size - 3, y + 3);
    pen.stroke();
  };

  const EDGE = 30; // pixels left and above the cells, for the labels

  const paint = (canvas, view, state) => {
    const rows = view.values.length;
    const columns = rows ? view.values[0].length : 0;
    const width = canvas.clientWidth;
    if (!width || !columns) return;
    const size = Math.max(6, Math.min(44, Math.floor((width - EDGE) / columns)));
    const scale = devicePixelRatio || 1;
    canvas.style.height = EDGE + size * rows + 2 + "px";
    canvas.width = width * scale;
    canvas.height = (EDGE + size * rows + 2) * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const matrix = state.expected ? view.expected : view.values;
    labels(pen, rows, columns, size);
    matrix.forEach((row, r) => row.forEach((value, c) => {
      const [x, y] = [EDGE + c * size, EDGE + r * size];
      pen.fillStyle = value === null ? "transparent" : colour(view.most ? value / view.most : 0);
      pen.fillRect(x, y, size - 1, size - 1);
      if (value === null) nan(pen, x, y, size);
    }));
    if (!state.expected) frames(pen, view.wrong, size, isDark() ? "#f87171" : "#dc2626", 2);
    if (state.at) frames(pen, [state.at], size, isDark() ? "#f8fafc" : "#0f172a", 2);
    state.size = size;
  };

  const frames = (pen, cells, size, stroke, width) => {
    pen.strokeStyle = stroke;
    pen.lineWidth = width;
    for (const [r, c] of cells) pen.strokeRect(EDGE + c * size + 0.5, EDGE + r * size + 0.5, size - 2, size - 2);
  };

  const labels = (pen, rows, columns, size) => {
    pen.fillStyle = isDark() ? "#94a3b8" : "#475569";
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const step = Math.max(1, Math.ceil(Math.max(rows, columns) / 16));
    pen.textAlign = "right";
    for (let r = 0; r < rows; r += step) pen.fillText(String(r), EDGE - 6, EDGE + (r + 0.5) * size);
    pen.textAlign = "center";
    for (let c = 0; c < columns; c += step) pen.fillText(String(c), EDGE + (c + 0.5) * size, EDGE - 10);
  };

  const number = (value) => (value === null ? "not a number" : Math.abs(value) >= 0.001 || value === 0 ? value.toFixed(3) : value.toExponential(1));

  const words = (view, [r, c]) => {
    const wrong = view.wrong.some(([a, b]) => a === r && b === c);
    return `row ${r}, column ${c}: yours ${number(view.values[r][c])}, expected ${number(view.expected[r][c])}${wrong ? " ✕" : ""}`;
  };

  const move = (view, state, key) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[key];
    if (!step) return false;
    const [r, c] = state.at || [0, 0];
    const from = state.at ? step : [0, 0];
    state.at = [Math.min(Math.max(r + from[0], 0), view.values.length - 1), Math.min(Math.max(c + from[1], 0), view.values[0].length - 1)];
    return true;
  };

  gym.heatmap = (view) => {
    const state = { expected: false, at: null, size: 1 };
    const canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": `${view.title}. ${view.summary} Arrow keys read the cells.` });
    const read = h("output", { class: "gym-read" }, view.note || view.summary);
    const draw = () => { paint(canvas, view, state); if (state.at) read.textContent = words(view, state.at); };
    canvas.addEventListener("keydown", (event) => { if (move(view, state, event.key)) { event.preventDefault(); draw(); } });
    canvas.addEventListener("pointermove", (event) => {
      const [r, c] = [event.offsetY, event.offsetX].map((place) => Math.floor((place - EDGE) / state.size));
      if (view.values[r] && view.values[r][c] !== undefined) { state.at = [r, c]; draw(); }
    });
    const leave = () => { state.at = null; read.textContent = view.note || view.summary; draw(); };
    canvas.addEventListener("pointerleave", leave);
    canvas.addEventListener("blur", leave);
    const pick = (expected) => () => {
      state.expected = expected;
      buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(Boolean(index) === expected)));
      draw();
    };
    const buttons = [h("button", { type: "button", "aria-pressed": "true", click: pick(false) }, "Yours"),
                     h("button", { type: "button", "aria-pressed": "false", click: pick(true) }, "Expected")];
    new ResizeObserver(draw).observe(canvas);
    document.addEventListener("gym:theme", draw);
    return h("figure", { class: "gym-card-box gym-map" },
      h("figcaption", {}, h("h3", {}, view.title), h("span", { class: "gym-switch", role: "group", "aria-label": "Which matrix" }, buttons)),
      h("p", { class: "gym-axes" }, `down: ${view.rows} · across: ${view.columns}`), canvas,
      h("div", { class: "gym-legend" }, h("span", {}, "0 "), h("i", { "aria-hidden": "true" }), h("span", {}, " " + gym.points(view.most)), read));
  };

  gym.gradients = (view) => {
    if (!view.bars_of_gradients.length) return null;
    return h("figure", { class: "gym-card-box gym-gradients" },
      h("figcaption", {}, h("h3", {}, "Gradient flow"), h("span", { class: "gym-sub" }, "largest gradient per tensor; the mark is what was expected")),
      h("ul", {}, view.bars_of_gradients.map((bar) => {
        const track = h("span", { class: "gym-meter", "aria-hidden": "true" }, h("i"), h("b"));
        track.firstChild.style.width = bar.share + "%";
        track.lastChild.style.left = bar.expected + "%";
        return h("li", { class: "gym-" + bar.tone }, h("code", {}, bar.name), track, h("span", {}, bar.text));
      })),
      view.gradients_note && h("p", { class: "gym-sub" }, gym.rich(view.gradients_note)));
  };
})();
