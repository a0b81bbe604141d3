/* The editor: four-space keys, drafts, a file from disk, and the way from a message to its line. */
(() => {
  "use strict";
  const gym = window.gym;
  const UNIT = "    ";
  const LIMIT = 256 * 1024; // bytes; the service has the last word
  let paper = null; // {draft, starter, text}: what the server sent for this page

  /* Gradio gives no access to its editor: the view hangs, privately, on the content node. Without it the keys stay Gradio's. */
  gym.view = () => {
    const content = document.querySelector("#editor .cm-content");
    const tile = content && (content.cmTile || content.cmView);
    const view = tile && (tile.view || (tile.rootView && tile.rootView.view));
    return view && typeof view.dispatch === "function" ? view : null;
  };

  gym.source = () => { const view = gym.view(); return view ? view.state.doc.toString() : null; };

  gym.write = (text) => {
    const view = gym.view();
    if (view) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 } });
  };

  gym.goTo = (number) => {
    const view = gym.view();
    const shown = document.getElementById("line-" + number);
    if (!view && shown) shown.scrollIntoView({ block: "center" });
    if (!view) return;
    const line = view.state.doc.line(Math.min(Math.max(number, 1), view.state.doc.lines));
    view.dispatch({ selection: { anchor: line.from, head: line.to }, scrollIntoView: true });
    view.focus();
    document.getElementById("editor").scrollIntoView({ block: "center" });
  };

  /* ---- drafts ---- */
  gym.save = () => {
    const text = gym.source();
    if (!paper || !paper.ready || text === null || text === paper.saved) return;
    paper.saved = text;
    if (text.trim() === paper.starter.trim()) gym.store.drop(paper.draft);
    else gym.store.set(paper.draft, text);
  };
  gym.edited = () => paper !== null && gym.source() !== null && gym.source().trim() !== paper.starter.trim();
  addEventListener("pagehide", gym.save);
  document.addEventListener("visibilitychange", gym.save);
  setInterval(gym.save, 1000);

  /* What was typed before signing in comes along, once. */
  const draft = () => {
    const own = gym.store.get(paper.draft);
    const guest = gym.store.get(paper.guest);
    if (paper.draft !== paper.guest && guest !== null) gym.store.drop(paper.guest);
    if (guest !== null && paper.draft !== paper.guest) return guest;
    return own !== null ? own : paper.latest || paper.starter;
  };

  /* The attempt that the address asks for; what was typed since is not replaced in silence. */
  const offer = async () => {
    const asked = paper.asked;
    if (asked === null || gym.source().trim() === asked.trim()) return;
    if (gym.edited() && !(await gym.ask(paper.question, "Open the attempt"))) return;
    gym.write(asked);
    gym.save();
  };

  const settle = (text, tries) => {
    if (gym.view()) {
      gym.write(text);
      gym.view().contentDOM.setAttribute("tabindex", "0"); // a place for the Tab key, in every browser
      paper.ready = true;
      document.getElementById("editor").dataset.ready = "yes";
      offer();
    } else if (tries > 0) requestAnimationFrame(() => settle(text, tries - 1));
  };

  gym.parts.paper = (view) => {
    if (view.restore !== undefined) { gym.write(view.restore); gym.save(); return null; }
    paper = { ...view, ready: false, saved: null };
    settle(draft(), 600);
    return null;
  };

  gym.reset = async () => {
    if (!paper) return;
    if (gym.edited() && !(await gym.ask("Replace your code with the starter? Your attempts stay in My attempts.", "Reset to starter"))) return;
    gym.write(paper.starter);
    gym.save();
  };

  gym.pick = () => {
    const input = gym.h("input", { type: "file", accept: ".py,text/x-python" });
    input.addEventListener("change", async () => {
      const file = input.files[0];
      if (!file) return;
      if (file.size > LIMIT) { gym.note("That file has " + file.size + " bytes; the limit is " + LIMIT + "."); return; }
      const text = await file.text();
      if (gym.edited() && !(await gym.ask("Replace the code in the editor with " + file.name + "?", "Load the file"))) return;
      gym.write(text);
      gym.save();
    });
    input.click();
  };

  /* ---- keys ---- */
  const lines = (state, range) => {
    const found = [];
    for (let n = state.doc.lineAt(range.from).number; n <= state.doc.lineAt(range.to).number; n++) found.push(state.doc.line(n));
    return found;
  };

  const indent = (view) => {
    const range = view.state.selection.main;
    if (range.empty) {
      const column = range.from - view.state.doc.lineAt(range.from).from;
      const text = " ".repeat(4 - (column % 4));
      view.dispatch({ changes: { from: range.from, insert: text }, selection: { anchor: range.from + text.length }, userEvent: "input" });
    } else view.dispatch({ changes: lines(view.state, range).filter((line) => line.length).map((line) => ({ from: line.from, insert: UNIT })), userEvent: "input.indent" });
  };

  const dedent = (view) =>
    view.dispatch({
      changes: lines(view.state, view.state.selection.main).map((line) => {
        const width = /^ */.exec(line.text)[0].length;
        return { from: line.from, to: line.from + Math.min(width, width % 4 || 4) };
      }).filter((change) => change.to > change.from),
      userEvent: "delete.dedent",
    });

  const newline = (view) => {
    const range = view.state.selection.main;
    const line = view.state.doc.lineAt(range.from);
    const before = line.text.slice(0, range.from - line.from);
    let depth = /^ */.exec(before)[0];
    if (/:\s*(#.*)?$/.test(before)) depth += UNIT;
    else if (/^\s*(return|pass|break|continue|raise)\b/.test(before)) depth = depth.slice(0, -4);
    const text = "\n" + depth;
    view.dispatch({ changes: { from: range.from, to: range.to, insert: text }, selection: { anchor: range.from + text.length }, scrollIntoView: true, userEvent: "input" });
  };

  let leaving = false; // after Escape, Tab leaves the editor: people without a mouse must get out
  const keys = (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
      const run = document.getElementById("run");
      if (run) { event.preventDefault(); event.stopImmediatePropagation(); run.click(); } // nothing while a run is under way, see below
      return;
    }
    if (!event.target.closest || !event.target.closest("#editor .cm-content")) return;
    const view = gym.view();
    if (!view || view.composing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") { leaving = true; return; }
    if (event.key === "Tab" && leaving) { leaving = false; event.stopImmediatePropagation(); return; }
    leaving = false;
    const act = event.key === "Tab" ? (event.shiftKey ? dedent : indent) : event.key === "Enter" && !event.shiftKey ? newline : null;
    if (!act || view.dom.querySelector(".cm-tooltip-autocomplete")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    act(view);
  };
  addEventListener("keydown", keys, true);

  /* One run at a time; the button keeps its focus, which it would lose if it were disabled. */
  addEventListener("click", (event) => {
    if (document.body.dataset.busy === "yes" && event.target.closest && event.target.closest("#run")) event.stopImmediatePropagation();
  }, true);
})();
