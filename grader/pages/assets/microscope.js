/* The microscope: attention step by step, each number with the sum that it comes from. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;
  const FACTORS = [0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

  /* ---- numbers in words ---- */
  const round = (value, digits) => String(Number(value.toFixed(digits)) + 0).replace("-", "−");
  const small = (value) => value.toExponential(0).replaceAll("-", "−");

  /* In a cell: up to three decimals, which fit; what is not zero never reads as zero. */
  const short = (value) => {
    if (value === -Infinity) return "−∞";
    if (!Number.isFinite(value)) return value > 0 ? "∞" : "NaN";
    if (value !== 0 && Math.abs(value) < 0.0005) return small(value);
    return round(value, Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3);
  };
  const long = (value) => (Number.isFinite(value) && value !== 0 && Math.abs(value) >= 0.0005 ? round(value, Math.abs(value) >= 1000 ? 1 : 4) : short(value));
  const factor = (value) => (value < 0 || Object.is(value, -0) ? `(${long(value)})` : long(value));
  const products = (row, column) => row.map((value, place) => `${place ? factor(value) : long(value)}·${factor(column[place])}`).join(" + ");

  /* ---- the arithmetic, as in the reference ---- */
  const dot = (row, column) => row.reduce((sum, value, place) => sum + value * column[place], 0);
  const column = (matrix, place) => matrix.map((row) => row[place]);
  const softmax = (row) => {
    const most = Math.max(...row);
    const powers = row.map((value) => Math.exp(value - most));
    const total = powers.reduce((sum, value) => sum + value, 0);
    return powers.map((value) => value / total);
  };

  /* What the rows and columns of scores are called. */
  const names = (data) => (data.query ? ["query", "key"] : ["row", "column"]);

  /* Every step of one head: its name, its matrix, and how it is told. */
  const stepsOf = (data, state) => {
    const of = (name) => data[name] && data[name][state.head];
    const [query, key, value, by] = [of("query"), of("key"), of("value"), FACTORS[state.factor]];
    const [row, entry] = names(data);
    const plain = of("scores") || query.map((row) => key.map((other) => dot(row, other)));
    const times = (text) => (by === 1 ? text : `${long(by)} · (${text})`);
    const scores = plain.map((row) => row.map((one) => one * by));
    const steps = [{
      name: "scores", matrix: scores,
      say: (query ? "A score is the dot product of a query and a key" : "The scores as they are given") + (by === 1 ? "." : `, here times ${long(by)}.`),
      sum: (r, c) => (query ? times(products(query[r], key[c])) : by === 1 ? "" : `${long(by)} · ${factor(plain[r][c])}`),
    }];
    let last = scores;
    if (data.d_k) {
      const [before, root] = [last, Math.sqrt(data.d_k)];
      last = before.map((row) => row.map((one) => one / root));
      steps.push({ name: "scaled", matrix: last, say: `Each score is divided by √${data.d_k} = ${long(root)}.`, sum: (r, c) => `${long(before[r][c])} / ${long(root)}` });
    }
    if (data.mask) {
      const before = last;
      last = state.mask ? before.map((row, r) => row.map((one, c) => (data.mask[r][c] ? one : -Infinity))) : before;
      steps.push({
        name: "masked", matrix: last,
        say: state.mask ? "Where the mask says no, the score becomes −∞." : "The mask is off, so the scores stay as they are.",
        sum: (r, c) => (last[r][c] === -Infinity ? `${row} ${r} may not attend to ${entry} ${c}, so ${long(before[r][c])} becomes −∞` : ""),
      });
    }
    const [logits, weights] = [last, last.map(softmax)];
    steps.push({ name: "weights", matrix: weights, share: true, say: `Each row adds up to one. ${saturation(weights[state.query], `${row} ${state.query}`)}`, sum: (r, c) => quotient(logits[r], c) });
    if (value) {
      steps.push({
        name: "output", matrix: weights.map((row) => value[0].map((_, place) => dot(row, column(value, place)))), features: true,
        say: "The output is the sum of the values, each times its weight.", sum: (r, c) => products(weights[r], column(value, c)),
      });
    }
    return steps;
  };

  /* How sure a row of weights is: where it saturates, the gradient is gone. */
  const saturation = (row, name) => {
    const most = Math.max(...row);
    return `The largest weight of ${name}, w, is ${long(most)}; its gradient is w(1 − w) = ${long(most * (1 - most))}.`;
  };

  /* One weight as a quotient of exponentials, with their numbers where these can be read. */
  const quotient = (row, place) => {
    const seen = row.filter((value) => value !== -Infinity);
    const power = (value) => (value === -Infinity ? "0" : `e^${factor(value)}`);
    const written = `${power(row[place])} / (${seen.map(power).join(" + ")})`;
    if (seen.some((value) => Math.abs(value) > 9)) return written;
    const numbers = seen.map(Math.exp);
    return `${written} = ${long(Math.exp(row[place]))} / ${long(numbers.reduce((sum, value) => sum + value, 0))}`;
  };

  /* ---- a table whose cells keys and pointer reach ---- */
  const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -Infinity], End: [0, Infinity] };

  const within = (value, count) => Math.min(Math.max(value, 0), count - 1);

  /* How strongly a cell is coloured, from -1 to 1. */
  const shade = (value, most, share) => (!Number.isFinite(value) ? 0 : share ? value : most ? value / most : 0);
  const most = (matrix) => Math.max(0, ...matrix.flat().filter(Number.isFinite).map(Math.abs));

  const cellOf = (cell, here, choose) => {
    const node = h("td", {
      tabindex: here ? "0" : "-1", "aria-selected": String(here), "data-value": cell.value, click: () => choose(),
      class: [cell.value === -Infinity && "gym-hidden", cell.wrong && "gym-off", cell.shade < 0 && "gym-minus"].filter(Boolean).join(" ") || null,
    }, cell.text);
    node.style.setProperty("--shade", Math.abs(cell.shade).toFixed(3));
    return node;
  };

  /* Draws rows of cells below heads; `choose(row, column)` is told where somebody goes. A row may have heads of its own. */
  const table = (label, heads, rows, at, choose) => {
    const head = (names, corner) => h("tr", {}, h("th", { scope: "col" }, corner), names.map((name) => h("th", { scope: "col" }, name)));
    const body = rows.flatMap((row, r) => [
      row.heads && head(row.heads, row.corner),
      h("tr", { class: row.now ? "gym-now" : null }, h("th", { scope: "row" }, row.name), row.cells.map((cell, c) => cellOf(cell, r === at[0] && c === at[1], () => choose(r, c)))),
    ]);
    const node = h("table", { role: "grid", "aria-label": label, keydown: (event) => {
      const step = STEPS[event.key];
      if (!step || event.target.tagName !== "TD") return;
      event.preventDefault();
      const r = within(at[0] + step[0], rows.length);
      choose(r, within(at[1] + step[1], rows[r].cells.length));
    } }, h("thead", {}, head(heads.names, heads.corner)), h("tbody", {}, body.filter(Boolean)));
    return node;
  };

  const refill = (place, node) => {
    const held = place.contains(document.activeElement);
    place.replaceChildren(node);
    if (held) place.querySelector('td[tabindex="0"]').focus({ preventScroll: true });
  };

  const choice = (label, names, chosen, choose) =>
    h("span", { class: "gym-switch", role: "group", "aria-label": label }, names.map((name, index) =>
      h("button", { type: "button", "aria-pressed": String(index === chosen), click: () => choose(index) }, name)));

  /* A group is drawn anew with each change; whoever has the focus in it keeps it. */
  const regroup = (place, nodes) => {
    const held = [...place.querySelectorAll("button, input")].indexOf(document.activeElement);
    place.replaceChildren(...nodes);
    if (held >= 0) [...place.querySelectorAll("button, input")][held]?.focus({ preventScroll: true });
  };

  /* ---- the example of a statement ---- */
  const numbers = (count) => Array.from({ length: count }, (_, index) => String(index));

  const labelled = (name, ...inside) => h("span", { class: "gym-labelled" }, name, inside);

  /* Two lines of switches, also where one of them is empty, so that nothing below moves. */
  const controls = (data, state, set) => {
    const first = (data.scores || data.query)[0];
    const heads = (data.scores || data.query).length;
    const [row] = names(data);
    const shown = first.length > 1 && choice("What is shown", [`one ${row}`, `all ${row === "query" ? "queries" : "rows"}`], state.all ? 1 : 0, (index) => set({ all: index === 1 }));
    const mask = data.mask && labelled("mask", choice("Mask", ["off", "on"], state.mask ? 1 : 0, (index) => set({ mask: index === 1 })));
    const which = first.length > 1 && labelled(row, choice(`Which ${row}`, numbers(first.length), state.query, (query) => set({ query })));
    const head = heads > 1 && labelled("head", choice("Which head", numbers(heads), state.head, (head) => set({ head })));
    return [[shown, mask], [which, head]].map((line) => h("div", {}, line.filter(Boolean)));
  };

  const slider = (state, set) => {
    const said = h("output", {}, long(FACTORS[state.factor]));
    const input = h("input", { type: "range", min: "0", max: String(FACTORS.length - 1), value: String(state.factor), "aria-valuetext": long(FACTORS[state.factor]), input: (event) => {
      set({ factor: Number(event.target.value) });
      said.textContent = long(FACTORS[state.factor]);
      input.setAttribute("aria-valuetext", said.textContent);
    } });
    return h("label", { class: "gym-labelled" }, "scores ×", input, said);
  };

  /* The cells of a row; `beside` are the rows whose largest number has the strongest colour. */
  const cells = (step, row, beside) => {
    const top = most(beside);
    return step.matrix[row].map((value) => ({ value, text: short(value), shade: shade(value, top, step.share) }));
  };

  /* All steps of one query, one below the other. */
  const oneQuery = (data, steps, state, choose) => {
    const [row, entry] = names(data);
    const rows = steps.map((step, index) => ({
      name: step.name, now: index === state.step, cells: cells(step, state.query, [step.matrix[state.query]]),
      heads: step.features && numbers(step.matrix[0].length), corner: "feature",
    }));
    const label = `${row} ${state.query}, step by step`;
    return table(label, { names: numbers(steps[0].matrix[0].length), corner: entry }, rows, [state.step, state.column], (step, place) => choose({ step, column: place }));
  };

  /* One step of all queries. */
  const allQueries = (data, steps, state, choose) => {
    const [row, entry] = names(data);
    const step = steps[state.step];
    const rows = step.matrix.map((_, query) => ({ name: String(query), now: query === state.query, cells: cells(step, query, step.matrix) }));
    const heads = { names: numbers(step.matrix[0].length), corner: `${row} \\ ${step.features ? "feature" : entry}` };
    return table(`${step.name} of each ${row}`, heads, rows, [state.query, state.column], (query, place) => choose({ query, column: place }));
  };

  const told = (data, step, state) => {
    const [row, entry] = names(data);
    const value = step.matrix[state.query][state.column];
    const place = `${step.name}, ${row} ${state.query}, ${step.features ? "feature" : entry} ${state.column}: `;
    const sum = step.sum(state.query, state.column);
    return place + (sum.includes("becomes") ? sum : sum ? `${sum} = ${long(value)}` : long(value));
  };

  gym.example = (data) => {
    const state = { step: 0, query: data.show, column: 0, head: 0, factor: FACTORS.indexOf(1), mask: data.mask_on, all: false };
    const [tabs, set, grid] = [h("div", { class: "gym-scope-steps" }), h("div", { class: "gym-scope-set" }), h("div", { class: "gym-scope-grid" })];
    const [say, read] = [h("p", { class: "gym-scope-say" }), h("output", { class: "gym-scope-read", "aria-live": "polite" })];
    const change = (changes) => { Object.assign(state, changes); draw(); };
    const draw = () => {
      const steps = stepsOf(data, state);
      state.column = within(state.column, steps[state.step].matrix[0].length);
      regroup(tabs, [choice("Step", steps.map((step) => step.name), state.step, (step) => change({ step }))]);
      regroup(set, controls(data, state, change));
      refill(grid, (state.all ? allQueries : oneQuery)(data, steps, state, change));
      say.textContent = steps[state.step].say;
      read.textContent = told(data, steps[state.step], state);
    };
    draw();
    return h("figure", { "aria-label": "The example, step by step" }, tabs, say, grid, read, set, slider(state, change));
  };

  /* ---- the steps of a report: yours beside expected ---- */
  const MARKS = { given: "", right: "✓ ", inside: "", first: "✕ ", follows: "↳ ", unknown: "" };
  const STANDS = {
    given: "It was given.", right: "Yours is right", inside: "Your code has no such result of its own; what follows from it is right.",
    first: "This is the first step that differs", follows: "Yours follows from the first step that differs", unknown: "No result of your code could be shown to be this step.",
  };

  const valued = (matrix) => matrix.map((row) => row.map((value) => (typeof value === "number" ? value : { inf: Infinity, "-inf": -Infinity }[value] ?? NaN)));
  const close = (one, other) => one === other || Math.abs(one - other) <= 0.002 * Math.max(1, Math.abs(other));

  /* The sums that may lie behind a step, from the matrices of other steps. */
  const waysTo = (name, has) => {
    const before = has.masked || has.scaled || has.scores;
    const ways = [];
    if (name === "scores" && has.queries && has.keys) ways.push([(r, c) => dot(has.queries[r] || [], has.keys[c] || []), (r, c) => products(has.queries[r], has.keys[c])]);
    if (name === "weights" && before) ways.push([(r, c) => softmax(before[r])[c], (r, c) => quotient(before[r], c)]);
    if (name === "output" && has.weights && has.values) ways.push([(r, c) => dot(has.weights[r], column(has.values, c)), (r, c) => products(has.weights[r], column(has.values, c))]);
    if (name === "scaled" && has.scores) {
      const pairs = has.scores.flatMap((row, r) => row.map((one, c) => one / (has.scaled[r] || [])[c])).filter(Number.isFinite);
      const by = pairs.sort((a, b) => a - b)[Math.floor(pairs.length / 2)];
      if (by) ways.push([(r, c) => has.scores[r][c] / by, (r, c) => `${long(has.scores[r][c])} / ${long(by)}`]);
    }
    return ways;
  };

  /* The sum behind a step's numbers, or nothing where they are not what that sum gives. */
  const sumOf = (stages, index, kind) => {
    const has = Object.fromEntries(stages.filter((one) => one[kind].length).map((one) => [one.name, valued(one[kind])]));
    const matrix = valued(stages[index][kind]);
    const fits = (value) => matrix.every((row, r) => row.every((one, c) => { try { return close(value(r, c), one); } catch { return false; } }));
    return waysTo(stages[index].name, has).find(([value]) => fits(value))?.[1];
  };

  const grid = (stage, kind, at, choose) => {
    const matrix = valued(stage[kind]), top = Math.max(most(valued(stage.expected)), most(valued(stage.yours)));
    const off = (r, c) => kind === "yours" && stage.wrong.some(([a, b]) => a === r && b === c);
    const rows = matrix.map((row, r) => ({ name: String(r), cells: row.map((value, c) => ({ value, text: short(value), wrong: off(r, c), shade: shade(value, top, stage.name === "weights" && top <= 1) })) }));
    const names = { yours: "Yours", expected: "Expected" };
    const drawn = matrix.length ? table(`${names[kind]}: ${stage.name}`, { names: numbers(matrix[0].length), corner: "row" }, rows, at, choose) : h("p", {}, "not known");
    if (matrix.length) drawn.style.minWidth = 34 + 50 * matrix[0].length + "px"; // wide ones scroll
    return h("div", {}, h("h4", {}, names[kind]), h("div", { class: "gym-scope-grid" }, drawn));
  };

  gym.stages = (view) => {
    const { stages } = view;
    const first = stages.findIndex((one) => one.standing === "first");
    const state = { step: first >= 0 ? first : stages.length - 1 };
    state.at = stages[state.step].wrong[0] || [0, 0];
    const tabs = h("div", { class: "gym-scope-steps" }), grids = h("div", { class: "gym-scope-pair" });
    const say = h("p", { class: "gym-scope-say" }), read = h("output", { class: "gym-scope-read", "aria-live": "polite" });
    const go = (step) => { state.step = step; state.at = stages[step].wrong[0] || [0, 0]; draw(); };
    const side = (kind) => (r, c) => {
      const held = [...grids.querySelectorAll("table")].findIndex((one) => one.contains(document.activeElement));
      state.at = [r, c];
      draw();
      [...grids.querySelectorAll("table")][held]?.querySelector('td[tabindex="0"]').focus({ preventScroll: true });
    };
    const line = (kind, name) => {
      const [r, c] = state.at, stage = stages[state.step], sum = stage[kind].length && sumOf(stages, state.step, kind);
      if (!stage[kind].length) return `${name}: not known`;
      return `${name}: ${sum ? sum(r, c) + " = " : ""}${short(valued(stage[kind])[r][c])}`;
    };
    const draw = () => {
      const stage = stages[state.step];
      regroup(tabs, [choice("Step", stages.map((one) => MARKS[one.standing] + one.name), state.step, go)]);
      const at = stage.place ? `, at ${stage.place}.` : STANDS[stage.standing].endsWith(".") ? "" : ".";
      say.replaceChildren(h("strong", {}, `${stage.title}. `), ...gym.rich(STANDS[stage.standing] + at));
      grids.replaceChildren(...["yours", "expected"].map((kind) => grid(stage, kind, state.at, side(kind))));
      read.replaceChildren(...[`row ${state.at[0]}, column ${state.at[1]}`, line("yours", "Yours"), line("expected", "Expected")].map((text) => h("span", {}, text)));
    };
    draw();
    return [h("h3", {}, `Step by step, in the case “${view.case}”`), h("figure", {}, tabs, say, grids, read)];
  };
})();
