/* Try: the code of the editor on one small example, with numbers that can be typed or drawn; nothing is stored or counted. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;
  const BLOCKS = 4; // matrices of one tensor that are shown
  const AWAY = "The server cannot be reached. Please try again in a moment.";
  let place = null, running = false;
  let asked = { example: "", seed: 1, typed: {} };
  const drawn = new Set(); // the arguments whose values are drawn and not typed

  gym.parts.try = (view, trigger, element) => {
    place = element;
    return null;
  };

  /* ---- what is shown of a tensor: its last two axes as a table, the others as a heading ---- */
  const title = (one) => {
    if (one.shape === null) return h("strong", {}, h("code", {}, one.name));
    const named = one.axes.length === one.shape.length && !one.axes.includes("...");
    const size = one.shape.map((length, axis) => (named ? `${one.axes[axis]} ${length}` : String(length))).join(" × ");
    return h("span", {}, h("strong", {}, h("code", {}, one.name)), ` ${size || "a number"}`);
  };

  const blocks = (shape) => {
    const columns = shape.at(-1) ?? 1, rows = shape.length > 1 ? shape.at(-2) : 1;
    const outer = shape.slice(0, -2), many = outer.reduce((product, length) => product * length, 1);
    return { columns, rows, outer, many };
  };

  const index = (number, outer) => {
    const found = [];
    for (const length of [...outer].reverse()) { found.unshift(number % length); number = Math.floor(number / length); }
    return found;
  };

  const labelOf = (one, number, outer) =>
    index(number, outer).map((at, axis) => `${one.axes[axis] && one.axes[axis] !== "..." ? one.axes[axis] + " " : ""}${at}`).join(", ");

  const table = (one, wrong, number, { columns, rows, outer }) => {
    const start = number * rows * columns, label = labelOf(one, number, outer);
    const line = (row) => h("tr", {}, Array.from({ length: columns }, (_, column) => {
      const at = start + row * columns + column;
      return h("td", { class: wrong.has(at) ? "gym-out" : null, title: wrong.has(at) ? "not as expected" : null }, one.cells[at] ?? "…");
    }));
    return h("figure", { class: "gym-try-block" }, label && h("figcaption", {}, label), h("div", { class: "gym-try-scroll", tabindex: "0", role: "region", "aria-label": `${one.name} ${label}` }, h("table", {}, h("tbody", {}, Array.from({ length: rows }, (_, row) => line(row))))));
  };

  const numbers = (one) => {
    if (one.shape === null) return h("code", {}, one.cells[0]);
    const sizes = blocks(one.shape), wrong = new Set(one.wrong);
    if (!one.shape.every(Boolean)) return h("p", { class: "gym-sub" }, "no numbers");
    const shown = Math.min(sizes.many, BLOCKS);
    return h("div", { class: "gym-try-blocks" }, Array.from({ length: shown }, (_, number) => table(one, wrong, number, sizes)),
      shown < sizes.many && h("p", { class: "gym-sub" }, `and ${sizes.many - shown} more`));
  };

  /* ---- numbers that somebody types: nested lists, a row a line ---- */
  const written = (one) => {
    if (one.shape === null) return one.cells[0];
    const nest = (depth, start, step) => {
      if (depth === one.shape.length) return one.cells[start] ?? "0";
      const inner = step / one.shape[depth], last = depth === one.shape.length - 1;
      const parts = Array.from({ length: one.shape[depth] }, (_, at) => nest(depth + 1, start + at * inner, inner));
      return "[" + parts.join(last ? ", " : ",\n" + " ".repeat(depth + 1)) + "]";
    };
    return nest(0, 0, one.shape.reduce((product, length) => product * length, 1));
  };

  const field = (one) => {
    const value = asked.typed[one.name] ?? written(one);
    const listen = (event) => { asked.typed[one.name] = event.target.value; };
    const named = { "aria-label": `${one.name}: type other values`, "data-held": one.name, spellcheck: "false", input: listen };
    if (one.shape === null) return h("input", { ...named, type: "text", value });
    const area = h("textarea", { ...named, rows: Math.min(12, value.split("\n").length + 1) });
    area.value = value;
    return area;
  };

  /* ---- numbers that somebody draws; they are sent as if they had been typed ---- */
  const canBeDrawn = (one) => {
    const { many, rows, columns } = one.shape === null ? {} : blocks(one.shape);
    return many <= BLOCKS && rows <= 16 && columns <= 16 && one.cells.length === many * rows * columns && one.cells.length > 0;
  };

  const drawing = (one) => {
    const { columns, rows, outer, many } = blocks(one.shape);
    drawn.add(one.name);
    const matrices = Array.from({ length: many }, (_, number) => ({ label: labelOf(one, number, outer), start: number * rows * columns, rows, columns }));
    return gym.drawing(one, matrices, (cells) => { asked.typed[one.name] = written({ ...one, cells }); });
  };

  const typing = (one) => { drawn.delete(one.name); return field(one); };

  const argument = (one) => {
    const open = one.typed && one.name in asked.typed, simple = one.typed && one.shape === null;
    const box = h("div", { class: "gym-try-value" });
    const way = (words, draw, first) => h("button", { type: "button", class: "gym-link", "aria-label": `${one.name}: ${words}`, click: (event) => {
      event.target.parentElement.remove();
      box.replaceChildren(draw(one));
      box.querySelector(first).focus();
    } }, words);
    const ways = one.typed && !simple && !open && h("span", { class: "gym-try-ways" }, way("type other values", typing, "textarea"), canBeDrawn(one) && way("draw values", drawing, "td"));
    const shown = open && drawn.has(one.name) && canBeDrawn(one) ? drawing : open || simple ? field : numbers;
    box.append(shown(one));
    return h("section", { class: "gym-try-one" }, h("div", { class: "gym-try-head" }, title(one), ways), box);
  };

  const output = (one) => {
    const name = (one.expected ?? one.yours).name;
    const side = (heading, tensor) => h("div", {}, h("h3", {}, heading), tensor ? h("p", { class: "gym-sub" }, title(tensor)) : null,
      tensor ? numbers(tensor) : h("p", { class: "gym-sub" }, "nothing that can be compared"));
    const same = one.yours && !one.yours.wrong.length;
    return h("section", { class: "gym-try-one", "aria-label": name },
      same ? side("Yours, and expected", one.yours) : h("div", { class: "gym-try-pair" }, side("Yours", one.yours), side("Expected", one.expected)));
  };

  const controls = (view) => {
    const choose = h("select", { "aria-label": "Example", change: (event) => again({ example: event.target.value, typed: {} }) },
      view.examples.map(([name, words]) => h("option", { value: name, selected: name === view.example }, words)));
    const button = (words, change) => h("button", { type: "button", class: "gym-button", click: () => again(change) }, words);
    return h("div", { class: "gym-try-controls" }, choose, button("Other numbers", { seed: 1 + Math.floor(Math.random() * 1e9), typed: {} }), Object.keys(asked.typed).length ? button("Undo my values", { typed: {} }) : null);
  };

  const card = (state, message, ...rest) =>
    h("section", { class: "gym-card-box gym-try gym-is-" + state, "aria-label": "Try" },
      h("div", { class: "gym-panel-line", role: "status" }, h("span", { class: "gym-dot" }), h("strong", {}, gym.rich(message)),
        h("button", { type: "button", class: "gym-plain gym-try-close", "aria-label": "Close", title: "Close", click: () => place.replaceChildren() }, "×")), ...rest.flat());

  const result = (view) => {
    const state = view.right === null ? "idle" : view.right ? "passed" : "failed";
    return card(state, view.right ? "As expected on this example. Run checks tries many more." : view.message, controls(view),
      h("p", { class: "gym-try-call" }, h("code", {}, view.call)),
      view.printed ? h("section", { class: "gym-try-one" }, h("h3", {}, "Printed"), h("pre", { tabindex: "0" }, view.printed)) : null,
      view.outputs.map(output), view.arguments.length ? h("h3", {}, "Inputs") : null, view.arguments.map(argument));
  };

  /* ---- asking ---- */
  const again = (change) => { Object.assign(asked, change); gym.tryOut(); };

  const show = (node) => {
    const held = place.contains(document.activeElement) ? document.activeElement.dataset.held : undefined;
    place.replaceChildren(node);
    if (held) [...place.querySelectorAll("[data-held]")].find((one) => one.dataset.held === held)?.focus({ preventScroll: true });
    gym.bring(() => {
      const { top } = node.getBoundingClientRect();
      if (top < 0 || top > innerHeight - 160) node.scrollIntoView({ behavior: "smooth", block: innerWidth < 768 ? "start" : "nearest" });
    });
  };

  const answer = async (source) => {
    const body = JSON.stringify({ source, ...asked });
    const got = await fetch("/try?ex=" + encodeURIComponent(gym.exercise()), { method: "POST", body, headers: { "Content-Type": "text/plain" } }).catch(() => null);
    if (got === null || got.status === 502 || got.status === 504) return { error: AWAY };
    return got.json().catch(async () => ({ error: AWAY }));
  };

  /* A run of the checks says more; its result belongs below the editor. */
  gym.closeTry = () => place?.replaceChildren();

  /* What is shown is about the code before an edit. */
  gym.tryIsOld = () => place?.querySelector(".gym-try")?.classList.add("gym-try-old");

  gym.tryOut = async () => {
    const source = gym.source();
    if (source === null || place === null || running) return;
    running = true;
    const shown = place.querySelector(".gym-try");
    if (!shown) show(card("running", "Running your code on a small example"));
    else shown.classList.add("gym-try-busy");
    const view = await answer(source);
    running = false;
    if (view.error) {
      const box = place.querySelector(".gym-try");
      box?.querySelector("strong").replaceChildren(...gym.rich(view.error));
      if (box) box.className = "gym-card-box gym-try gym-is-refused"; // else it was closed meanwhile
      return;
    }
    gym.markIn(source, view.line && !view.right ? [{ line: view.line, message: view.message, severity: "error" }] : []);
    show(result(view));
  };
})();
