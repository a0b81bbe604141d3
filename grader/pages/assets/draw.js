/* Drawing the values of a tensor: its cells as grids, set by pointer, by touch or by keys. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;
  const BRUSHES = { bool: ["0", "1"], whole: ["0", "1", "2", "3"], real: ["-2", "-1", "0", "1", "2"] };
  const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const FORMS = { bool: /^[01]$/, whole: /^\d{1,3}$/, real: /^-?\d{0,4}(\.\d{0,4})?$/ };

  const kindOf = (dtype) => (dtype === "bool" ? "bool" : dtype.startsWith("float") ? "real" : "whole");

  /* A line to choose what is drawn from; `brush.value` is it. */
  const palette = (brush, kind, name) => {
    const buttons = BRUSHES[kind].map((value) => h("button", { type: "button", "aria-pressed": String(value === brush.value), click: () => {
      brush.value = value;
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.textContent === value));
    } }, value));
    return h("span", { class: "gym-switch", role: "group", "aria-label": `${name}: value to draw` }, buttons);
  };

  const shade = (cell, text) => {
    const value = text === "-inf" ? -4 : Number(text) || 0;
    cell.textContent = text;
    cell.style.setProperty("--shade", String(Math.min(Math.abs(value) / 2, 1)));
    cell.classList.toggle("gym-minus", value < 0);
  };

  /* The grids of a tensor. `blocks` are its matrices: {label, start, rows, columns}; `changed` gets all cells as they are then. */
  gym.drawing = (one, blocks, changed) => {
    const kind = kindOf(one.dtype), cells = [...one.cells], brush = { value: "1" };
    const read = h("output", { class: "gym-sub" }, "Click or drag; or arrow keys, then a number or Space. Then press Try.");
    let typing = "";

    const set = (cell, text) => {
      if (cells[cell.at] === text) return;
      cells[cell.at] = text;
      shade(cell, text);
      changed(cells);
    };
    const say = (cell) => { read.textContent = `${cell.dataset.place}: ${cells[cell.at]}`; };

    /* Digits are taken as they are typed; what is no number yet, as "-" or "1.", is not set. */
    const type = (cell, key) => {
      typing = [typing + key, key].find((text) => FORMS[kind].test(text)) ?? typing;
      if (typing !== "" && Number.isFinite(Number(typing))) set(cell, String(Number(typing)));
    };

    const grid = ({ label, start, rows, columns }) => {
      const lines = Array.from({ length: rows }, (_, row) => Array.from({ length: columns }, (_, column) => {
        const at = start + row * columns + column;
        const cell = h("td", { role: "gridcell", tabindex: at === start ? "0" : "-1", "data-held": `${one.name} ${at}`,
          "data-place": `${one.name} ${label ? label + ", " : ""}row ${row}, column ${column}` });
        Object.assign(cell, { at, row, column });
        shade(cell, cells[at]);
        return cell;
      }));
      const cellOf = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest("td");
      const paint = (event) => {
        const cell = cellOf(event);
        if (cell && table.contains(cell)) { set(cell, brush.value); say(cell); }
      };
      const keys = (event) => {
        const cell = event.target.closest("td"), step = STEPS[event.key];
        if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
        if (step) lines[cell.row + step[0]]?.[cell.column + step[1]]?.focus();
        else if (event.key === " ") set(cell, brush.value);
        else if (event.key === "Backspace" || event.key === "Delete") { typing = ""; set(cell, "0"); }
        else if (/^[\d.-]$/.test(event.key)) type(cell, event.key);
        else return;
        event.preventDefault();
        say(document.activeElement.closest("td") ?? cell);
      };
      const enter = (event) => {
        typing = "";
        for (const cell of lines.flat()) cell.tabIndex = cell === event.target ? 0 : -1;
        say(event.target);
      };
      const table = h("table", { role: "grid", "aria-label": `${one.name} ${label}`.trim() + ": draw values", keydown: keys, focusin: enter,
        pointerdown: (event) => { if (event.button === 0) paint(event); },
        pointermove: (event) => { if (event.buttons & 1) paint(event); } },
      h("tbody", {}, lines.map((line) => h("tr", { role: "row" }, line))));
      return h("figure", { class: "gym-try-block" }, label && h("figcaption", {}, label), h("div", { class: "gym-try-scroll" }, table));
    };

    return h("div", { class: "gym-draw" }, palette(brush, kind, one.name), h("div", { class: "gym-try-blocks" }, blocks.map(grid)), read);
  };
})();
