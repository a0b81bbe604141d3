/* The pictures of a report: matrices on a canvas that keys and pointer can read, and gradient bars. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;
  gym.points = (value) => String(Math.round(value * 100) / 100);
  const RAMPS = {
    light: [[238, 242, 250], [129, 140, 248], [67, 56, 202], [30, 27, 75]],
    dark: [[30, 41, 59], [67, 56, 202], [129, 140, 248], [224, 231, 255]],
    signedLight: [[154, 52, 18], [251, 146, 60], [244, 246, 250], [99, 102, 241], [49, 46, 129]],
    signedDark: [[253, 186, 116], [194, 65, 12], [30, 41, 59], [79, 70, 229], [199, 210, 254]],
  };
  const isDark = () => document.body.classList.contains("dark");

  const colour = (share, signed) => {
    const ramp = RAMPS[signed ? (isDark() ? "signedDark" : "signedLight") : isDark() ? "dark" : "light"];
    const place = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
    const low = Math.min(Math.floor(place), ramp.length - 2);
    return `rgb(${ramp[low].map((from, i) => Math.round(from + (ramp[low + 1][i] - from) * (place - low))).join(" ")})`;
  };

  /* ---- what is shown: one pane of the map, yours, the expected one or the difference ---- */
  const VIEWS = { yours: "Yours", expected: "Expected", difference: "Difference" };

  const minus = (a, b) => (a === b ? 0 : typeof a === "number" && typeof b === "number" ? a - b : "nan");

  const matrixOf = (pane, kind) => {
    if (kind === "expected") return pane.expected;
    if (kind === "yours") return pane.values;
    return pane.values.map((row, r) => row.map((value, c) => minus(value, pane.expected[r][c])));
  };

  const largest = (matrix) => Math.max(0, ...matrix.flat().filter((value) => typeof value === "number").map(Math.abs));

  /* How numbers become colours: `signed` from -most over 0 to most, else from 0 to most. */
  const scaleOf = (view, kind) => {
    if (kind !== "difference") return { signed: view.least < 0, most: view.most };
    return { signed: true, most: Math.max(...view.panes.map((pane) => largest(matrixOf(pane, kind)))) };
  };

  const shade = (value, scale) => {
    const share = scale.most ? value / scale.most : 0;
    return colour(scale.signed ? (share + 1) / 2 : Math.abs(share), scale.signed);
  };

  const hides = (view, pane, matrix, r, c) => {
    if (view.hatched === "expected") return pane.expected[r][c] === 0;
    if (view.hatched === "-inf") return matrix[r][c] === "-inf";
    return view.hatched === "zero" && matrix[r][c] === 0;
  };

  /* ---- drawing ---- */
  const EDGE = 30; // pixels left and above the cells, for the labels

  const slash = (pen, x, y, size) => {
    pen.strokeStyle = isDark() ? "#f87171" : "#b91c1c";
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x + 3, y + size - 3);
    pen.lineTo(x + size - 3, y + 3);
    pen.stroke();
  };

  const hatch = (pen, x, y, size) => {
    pen.save();
    pen.beginPath();
    pen.rect(x, y, size, size);
    pen.clip();
    pen.strokeStyle = isDark() ? "rgb(148 163 184 / .55)" : "rgb(71 85 105 / .42)";
    pen.lineWidth = 1;
    pen.beginPath();
    for (let shift = -size; shift < size; shift += Math.max(4, size / 4)) {
      pen.moveTo(x + shift, y + size);
      pen.lineTo(x + shift + size, y);
    }
    pen.stroke();
    pen.restore();
  };

  const fill = (pen, view, pane, kind, place) => {
    const matrix = matrixOf(pane, kind);
    const scale = scaleOf(view, kind);
    const gap = place.size > 8 ? 1 : 0;
    matrix.forEach((row, r) => row.forEach((value, c) => {
      const [x, y, size] = [place.left + c * place.size, place.top + r * place.size, place.size - gap];
      pen.fillStyle = typeof value === "number" ? shade(value, scale) : value === "-inf" ? colour(0, false) : "transparent";
      pen.fillRect(x, y, size, size);
      if (value === "nan" || value === "inf") slash(pen, x, y, size);
      if (place.size > 8 && hides(view, pane, matrix, r, c)) hatch(pen, x, y, size);
    }));
  };

  /* Gives a canvas of `height` pixels as many dots as the screen has, and returns its pen. */
  gym.pen = (canvas, height) => {
    const scale = devicePixelRatio || 1;
    canvas.style.height = height + "px";
    canvas.width = canvas.clientWidth * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    return pen;
  };

  const paint = (canvas, view, state) => {
    const pane = view.panes[state.pane];
    const [rows, columns] = [pane.values.length, pane.values[0].length];
    if (!canvas.clientWidth || !columns) return;
    const size = Math.max(6, Math.min(44, Math.floor((canvas.clientWidth - EDGE) / columns)));
    const pen = gym.pen(canvas, EDGE + size * rows + 2);
    labels(pen, rows, columns, size);
    fill(pen, view, pane, state.kind, { left: EDGE, top: EDGE, size });
    const many = pane.wrong.length > (rows * columns) / 2; // thick frames would be all there is to see
    if (state.kind !== "expected") frames(pen, pane.wrong, size, isDark() ? "#f87171" : "#dc2626", many ? 1 : 2);
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
    const step = Math.max(1, Math.ceil(18 / size));
    pen.textAlign = "right";
    for (let r = 0; r < rows; r += step) pen.fillText(String(r), EDGE - 6, EDGE + (r + 0.5) * size);
    pen.textAlign = "center";
    for (let c = 0; c < columns; c += step) pen.fillText(String(c), EDGE + (c + 0.5) * size, EDGE - 10);
  };

  /* ---- reading ---- */
  const WORDS = { nan: "not a number", inf: "infinite", "-inf": "−∞" };
  const number = (value) => {
    if (typeof value !== "number") return WORDS[value] || String(value);
    return Math.abs(value) >= 0.001 || value === 0 ? value.toFixed(3) : value.toExponential(1);
  };

  const words = (view, state) => {
    const [r, c] = state.at;
    const pane = view.panes[state.pane];
    const wrong = pane.wrong.some(([a, b]) => a === r && b === c);
    const expected = pane.expected.length ? `, expected ${number(pane.expected[r][c])}` : "";
    return `row ${r}, column ${c}: yours ${number(pane.values[r][c])}${expected}${wrong ? " ✕" : ""}`;
  };

  const move = (view, state, key) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[key];
    if (!step) return false;
    const values = view.panes[state.pane].values;
    const [r, c] = state.at || [0, 0];
    const from = state.at ? step : [0, 0];
    state.at = [Math.min(Math.max(r + from[0], 0), values.length - 1), Math.min(Math.max(c + from[1], 0), values[0].length - 1)];
    return true;
  };

  /* ---- what can be switched ---- */
  const choice = (names, chosen, choose) => {
    const buttons = names.map((name, index) => h("button", { type: "button", "aria-pressed": String(index === chosen), click: () => {
      buttons.forEach((button, other) => button.setAttribute("aria-pressed", String(other === index)));
      choose(index);
    } }, name));
    return buttons;
  };

  /* A small picture of each head, which shows the large one of it. */
  const heads = (view, state, draw) => {
    if (view.panes.length < 2) return [null, () => {}];
    const small = view.panes.map(() => h("canvas", { "aria-hidden": "true" }));
    const buttons = choice(view.panes.map((pane, index) => [small[index], h("span", {}, pane.name)].flat()), 0, (index) => { state.pane = index; state.at = null; draw(); });
    view.panes.forEach((pane, index) => { if (pane.wrong.length) buttons[index].classList.add("gym-off"); });
    const redraw = () => view.panes.forEach((pane, index) => {
      const size = Math.max(1, Math.floor(52 / Math.max(pane.values.length, pane.values[0].length)));
      small[index].style.width = size * pane.values[0].length + "px";
      if (small[index].clientWidth) fill(gym.pen(small[index], size * pane.values.length), view, pane, state.kind, { left: 0, top: 0, size });
    });
    return [h("div", { class: "gym-heads", role: "group", "aria-label": "Which head" }, buttons), redraw];
  };

  const legend = (view, state, read) => {
    const scale = scaleOf(view, state.kind);
    const most = gym.points(scale.most >= 0.01 ? scale.most : Number(scale.most.toPrecision(2)));
    const ramp = [h("span", {}, (scale.signed ? "−" + most : "0") + " "), h("i", { "aria-hidden": "true", class: scale.signed ? "gym-signed" : null }), h("span", {}, " " + most)];
    return [...(scale.most ? ramp : []),
      view.legend && h("span", { class: "gym-hatched" }, view.legend), read].filter(Boolean);
  };

  gym.parts.heatmap = gym.heatmap = (view) => {
    const state = { kind: "yours", pane: 0, at: null, size: 1 };
    const said = view.note || view.summary;
    const canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": `${view.title}. ${view.summary} Arrow keys read the cells.` });
    const read = h("output", { class: "gym-read" }, said);
    const line = h("div", { class: "gym-legend" });
    const draw = () => {
      paint(canvas, view, state);
      redrawHeads();
      line.replaceChildren(...legend(view, state, read));
      read.textContent = state.at ? words(view, state) : said;
    };
    const [strip, redrawHeads] = heads(view, state, draw);
    const point = () => { paint(canvas, view, state); read.textContent = words(view, state); };
    canvas.addEventListener("keydown", (event) => { if (move(view, state, event.key)) { event.preventDefault(); point(); } });
    canvas.addEventListener("pointermove", (event) => {
      const [r, c] = [event.offsetY, event.offsetX].map((place) => Math.floor((place - EDGE) / state.size));
      const values = view.panes[state.pane].values;
      if (values[r] && values[r][c] !== undefined) { state.at = [r, c]; point(); }
    });
    const leave = () => { state.at = null; draw(); };
    canvas.addEventListener("pointerleave", leave);
    canvas.addEventListener("blur", () => setTimeout(() => { if (document.activeElement !== canvas) leave(); })); // not while it is moved
    new ResizeObserver(draw).observe(canvas);
    document.addEventListener("gym:theme", draw);
    const kinds = Object.keys(VIEWS);
    const buttons = view.panes[0].expected.length
      ? choice(Object.values(VIEWS), 0, (index) => { state.kind = kinds[index]; draw(); }) : null;
    return h("figure", { class: "gym-card-box gym-map" },
      h("figcaption", {}, h("h3", {}, view.title), buttons && h("span", { class: "gym-switch", role: "group", "aria-label": "Which matrix" }, buttons)),
      h("p", { class: "gym-axes" }, `down: ${view.rows} · across: ${view.columns}`), strip, canvas, line);
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
