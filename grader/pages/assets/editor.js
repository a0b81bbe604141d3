/* The editor of the exercise page: drafts, a file from disk, and the way from a message to its line. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;
  const SEND_AFTER = 4000, SEND_AGAIN = 20000, ASK_AGAIN = 2000; // milliseconds
  const SIZES = [12, 13, 14, 16, 18, 20]; // of the code, in pixels
  let editor = null; // what codemirror.js has made
  let state = null; // {draft, starter, text}: what the server sent for this page

  const resize = (place, steps) => {
    const now = Number(gym.store.get("gym/code-size")) || (innerWidth < 768 ? 12 : 14);
    const size = SIZES[Math.min(Math.max(SIZES.indexOf(now) + steps, 0), SIZES.length - 1)];
    if (steps) gym.store.set("gym/code-size", String(size));
    place.style.setProperty("--code-size", size + "px");
  };

  gym.parts.editor = (view, trigger, element) => {
    const code = h("div", { class: "gym-code" });
    const button = (steps, text, label) => h("button", { type: "button", class: "gym-plain", "aria-label": label, title: label, click: () => resize(element, steps) }, text);
    editor = gym.createEditor(code, changed);
    resize(element, 0);
    return h("div", {},
      h("div", { class: "gym-code-bar" }, h("span", {}, view.file), button(-1, "A−", "A−: smaller code"), button(1, "A+", "A+: larger code")),
      h("div", { class: "gym-code-note", role: "status" }), code);
  };

  gym.source = () => (state && state.ready ? editor.text() : null);
  gym.exercise = () => state.exercise;
  gym.write = (text) => { editor.mark([]); editor.write(text); };

  gym.goTo = (number) => {
    editor.select(number);
    document.getElementById("editor").scrollIntoView({ block: "nearest" });
  };

  /* ---- code that waits for the server: the browser remembers it beyond a reload, where nothing is sent by itself ---- */
  let closing = false; // a request that ends with its page says nothing about the server
  addEventListener("pagehide", () => { closing = true; });
  addEventListener("pageshow", () => { closing = false; });
  gym.unsent = () => state !== null && gym.store.get(state.draft + "/unsent") !== null;
  const remember = () => { if (state && !closing) gym.store.set(state.draft + "/unsent", "yes"); };
  const forget = () => { if (state) gym.store.drop(state.draft + "/unsent"); };

  let away = "", cancelled = "", pressed = false;
  /* Shows that a run is being sent, and gives its source. Whoever has no account is known to the server from their first run on. */
  gym.send = async (panel, whileAway, afterCancel) => {
    gym.tell("panel", panel);
    gym.closeTry();
    gym.noteCode("");
    forget();
    if (state && !state.member) await fetch("/visit", { method: "POST" }).then(gym.visitorBegan, () => null);
    away = whileAway;
    cancelled = afterCancel;
    pressed = true;
    gym.mark([]);
    gym.run = { text: gym.source() ?? "" };
    return gym.run.text;
  };

  /* Which code is being checked, and which one the report that is shown is about. */
  gym.run = { text: "" };
  let opened = "";
  gym.differs = () => state !== null && gym.source().trimEnd() !== opened.replace(/\r\n?/g, "\n").trimEnd();
  gym.isChecked = () => state !== null && gym.source().trimEnd() === gym.run.text.replace(/\r\n?/g, "\n").trimEnd();
  gym.isAbout = (run) => { opened = sent = run.text; };

  /* Marks the lines that a report names, as far as they still read as they were sent. */
  let sent = "", named = [];
  const mark = () => {
    const lines = sent.split("\n");
    editor.mark(named.filter((one) => one.line >= 1 && lines[one.line - 1] === editor.line(one.line)));
  };
  gym.mark = (marks) => {
    named = marks;
    if (state) mark(); // else once it is there
  };

  /* Marks lines of a text that did not become an attempt. */
  gym.markIn = (text, marks) => { sent = text; gym.mark(marks); };

  /* ---- drafts: in this browser at once, on the server a little later; both say which draft of the server they were made from ---- */
  const read = (key) => parsed(gym.store.get(key));
  const parsed = (line) => {
    if (line === null) return null;
    try { const found = JSON.parse(line); if (typeof found.text === "string") return found; } catch { /* written before drafts had a base */ }
    return { text: line, base: 0, sent: false };
  };

  let timer = 0;
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => gym.save(), 400);
    if (gym.calm) gym.calm();
    if (gym.compare) gym.compare();
    if (gym.tryIsOld) gym.tryIsOld();
  };

  /* What another tab has stored since this one did is put aside before it is replaced: the last text of each tab stays,
     until somebody has chosen, and is offered to whoever opens the page next. */
  const TAB = String(Math.random()).slice(2);
  const aside = (draft = state.draft) => { try { return JSON.parse(gym.store.get(draft + "/aside")) ?? {}; } catch { return {}; } };
  const putAside = (change) => {
    const texts = aside();
    change(texts);
    if (Object.keys(texts).length) gym.store.set(state.draft + "/aside", JSON.stringify(texts));
    else gym.store.drop(state.draft + "/aside");
  };
  const setAside = (...some) => putAside((texts) => {
    for (const text of some) if (!Object.values(texts).includes(text)) texts[String(Math.random()).slice(2)] = text;
  });
  const replace = (text) => {
    const held = read(state.draft), own = held === null || [text, state.known].includes(held.text);
    state.known = text;
    putAside((texts) => {
      delete texts[TAB];
      if (!own) texts[held.tab] = held.text;
    });
  };
  const chosen = (...texts) => {
    state.known = read(state.draft)?.text;
    putAside((kept) => { for (const tab in kept) if (texts.includes(kept[tab])) delete kept[tab]; });
  };

  const keep = (text) => {
    if (state.guest) gym.store.drop(state.guest);
    replace(text);
    if (text.trim() === state.starter.trim()) gym.store.drop(state.draft);
    else store(text, text === state.sent);
  };
  const store = (text, sent, tab = TAB) => gym.store.set(state.draft, JSON.stringify({ text, base: state.base, sent, tab }));

  /* The server has the code of this tab; other code that another tab has stored since stays. */
  const settle = () => {
    const held = read(state.draft), text = gym.source();
    if (held && held.text !== text) store(held.text, false, held.tab);
    else keep(text);
  };

  gym.save = () => {
    const text = gym.source();
    if (text === null || text === state.saved) return;
    state.saved = text;
    keep(text);
    clearTimeout(state.sending);
    state.sending = setTimeout(() => send(false), SEND_AFTER);
  };

  const send = async (leaving) => {
    const text = gym.source(), held = read(state.draft);
    if (!state.guest || text === null || text === state.sent) return; // what visitors type stays here
    if (held && held.text !== text) return; // another tab's is newer, and this one put aside
    clearTimeout(state.sending);
    const address = `/draft?ex=${encodeURIComponent(state.exercise)}&base=${state.base}`;
    try {
      const answer = await fetch(address, { method: "POST", body: text, keepalive: leaving, headers: { "Content-Type": "text/plain" } });
      if (answer.status !== 200 && answer.status !== 409) return;
      const { saved, source } = await answer.json();
      state.base = saved;
      if (source === undefined) { state.sent = text; settle(); } else other(source, ELSEWHERE);
    } catch { state.sending = setTimeout(() => send(false), SEND_AGAIN); }
  };
  const leave = () => { if (state) { gym.save(); send(true); } };
  addEventListener("pagehide", leave);
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "hidden") leave(); });

  /* What happened to this code, where the panel shows another one's run; the report that comes then marks nothing here. */
  gym.noteCode = (text) => {
    document.querySelector("#editor .gym-code-note").replaceChildren(text);
    if (text) gym.run.text = sent = "";
  };

  /* The same exercise is open elsewhere with other code: nothing is replaced unless somebody says so. */
  const ELSEWHERE = "This code was changed on another device.";
  const retain = () => { state.saved = state.sent = null; gym.save(); }; // though nobody has typed
  const other = (text, words) => {
    const note = document.querySelector("#editor .gym-code-note");
    const button = (label, act) => h("button", { type: "button", class: "gym-button", click: () => {
      chosen(text, gym.source());
      act();
      retain();
      note.replaceChildren();
      offerAside();
    } }, label);
    note.replaceChildren(h("span", {}, words), button("Use that version", () => gym.write(text)), button("Keep this one", () => null));
  };
  const offerAside = () => {
    const [text] = Object.values(aside()).filter((one) => one !== gym.source());
    if (text !== undefined && !document.querySelector("#editor .gym-code-note").hasChildNodes()) other(text, "You have other code for this exercise, from another tab or from before.");
  };

  /* What was typed before the editor came, whose code is put aside; returns where the cursor was. */
  const takeOver = () => {
    const first = document.querySelector(".gym-first-code textarea");
    const text = first && first.value !== first.defaultValue ? first.value : null, before = gym.source();
    if (text !== null) {
      if (![text, state.starter, state.latest].includes(before)) setAside(before);
      gym.write(text);
    }
    return first && first === document.activeElement ? first.selectionStart : null;
  };
  addEventListener("storage", (event) => {
    if (!state || event.key !== state.draft || event.newValue === null) return;
    const { text, base, sent: known } = read(state.draft);
    if (base > state.base) state.base = base;
    if (text === gym.source()) { state.known = text; if (known) state.sent = text; }
    else if (text !== parsed(event.oldValue)?.text) other(text, "This code was changed in another tab.");
  });

  gym.edited = () => state !== null && gym.source().trim() !== state.starter.trim();

  /* What this account has typed before, here or on another device; null if it has not. */
  const typed = (own, kept) => {
    if (!kept || (own && !own.sent)) {
      if (kept && own.base !== kept.saved && own.text !== kept.source) setTimeout(() => other(kept.source, ELSEWHERE));
      return own ? own.text : null;
    }
    return kept.source;
  };

  /* What was typed before signing in comes along, once; the account's own code, if it is other, is offered beside it, and
     so is what was put aside before signing in. */
  const draft = () => {
    const guest = state.guest ? read(state.guest) : null, mine = typed(read(state.draft), state.kept);
    if (state.guest) {
      setAside(...Object.values(aside(state.guest)));
      gym.store.drop(state.guest + "/aside");
    }
    if (!guest) return mine ?? (state.latest || state.starter);
    if (mine === null || mine.trim() === guest.text.trim()) setTimeout(retain);
    else {
      state.sent = guest.text; // nothing of the account's is replaced before somebody says so, or types
      setAside(mine);
      setTimeout(() => other(mine, "Your account has other code for this exercise."));
    }
    return guest.text;
  };

  /* The attempt that the address asks for; what was typed since is not replaced in silence. */
  const offer = async () => {
    const asked = state.asked;
    if (asked === null || gym.source().trim() === asked.trim()) return;
    if (gym.edited() && !(await gym.ask(state.question, "Open the attempt"))) return;
    gym.write(asked);
    gym.save();
  };

  gym.parts.editor_state = (view) => {
    if (view.restore !== undefined) {
      gym.leave();
      gym.write((opened = sent = view.restore));
      gym.save();
      mark(); // its report may be the one that is shown already
      return null;
    }
    state = { ...view, ready: true, base: view.kept ? view.kept.saved : 0, sent: view.kept ? view.kept.source : view.starter };
    state.known = read(state.draft)?.text;
    gym.write((state.saved = draft()));
    const cursor = takeOver();
    setTimeout(offerAside, 10); // after what else there may be to choose from
    gym.run.text = view.latest; // what is still followed, if anything
    gym.isAbout({ text: view.asked ?? view.latest });
    mark();
    if (gym.compare) gym.compare();
    document.getElementById("editor").dataset.ready = "yes";
    if (gym.unsent()) gym.lookAgain();
    gym.ready();
    if (cursor !== null) editor.place(cursor); // now that it is visible
    offer();
    return null;
  };

  gym.reset = async () => {
    if (!state) return;
    if (gym.edited() && !(await gym.ask("Replace your code with the starter? Your attempts stay in My attempts.", "Reset to starter"))) return;
    gym.write(state.starter);
    gym.save();
  };

  /* Puts a file into the editor, or says what is wrong with it. */
  const load = async (...files) => {
    const note = document.querySelector("#editor .gym-code-note"), [file] = files;
    try {
      if (files.length !== 1) throw new Error("Choose one file.");
      const text = await gym.textOf(file);
      if (gym.edited() && !(await gym.ask("Replace the code in the editor with " + file.name + "?", "Load the file"))) return;
      gym.write(text);
      gym.save();
      note.replaceChildren();
    } catch (error) {
      note.replaceChildren(h("span", {}, error.message + " The code in the editor is as it was."));
      note.scrollIntoView({ block: "nearest" });
    }
  };

  gym.pick = () => {
    const input = gym.h("input", { type: "file", accept: ".py,.ipynb,text/x-python" });
    input.addEventListener("change", () => { if (input.files.length) load(...input.files); });
    input.click();
  };

  /* A browser would open a file that is dropped in the place of the page, and the editor would take a notebook as text. */
  const drop = (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (event.type !== "drop") return;
    event.stopImmediatePropagation();
    if (state) load(...event.dataTransfer.files);
  };
  for (const name of ["dragover", "drop"]) addEventListener(name, drop, true);

  gym.parts.buttons = (view, trigger) => {
    const button = (id, words, act, look = "") => h("button", { type: "button", id, class: "gym-button " + look, click: () => { if (state) act(); } }, words);
    return h("div", {},
      button("run", "Run checks", () => trigger("click"), "gym-strong"), button("try-run", "Try", () => gym.tryOut()),
      button("cancel", "Cancel", () => trigger("stop"), "gym-stop-it"), button("reset", "Reset to starter", () => gym.reset()),
      button("load", "Load a file", () => gym.pick()));
  };

  /* ---- keys ---- */
  const keys = (event) => {
    const checks = event.ctrlKey || event.metaKey, tries = event.shiftKey && event.target.closest("#editor, #try");
    if (event.key !== "Enter" || !(checks || tries)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    document.getElementById(checks ? "run" : "try-run")?.click(); // nothing while a run is under way, see below
  };
  addEventListener("keydown", keys, true);

  /* ---- a server that is away: Gradio's request for a run is held and made again until there is an answer, or Cancel ---- */
  const AWAY = [502, 503, 504]; // what a proxy says for a server that is being started again
  const ask = window.fetch;
  let giveUp = null;

  const aMoment = () => new Promise((go) => {
    giveUp = () => go(false);
    setTimeout(() => go(true), ASK_AGAIN);
  });

  window.fetch = async (address, options) => {
    if (!pressed || !String(address).includes("/gradio_api/run/")) return ask(address, options);
    pressed = false; // Gradio's next request is the one for the run
    for (;;) {
      const answer = await ask(address, options).catch(() => null);
      if (answer !== null && !AWAY.includes(answer.status)) { giveUp = null; forget(); return answer; }
      gym.tell("panel", away);
      remember();
      if (!(await aMoment())) break;
    }
    giveUp = null;
    forget();
    gym.tell("panel", cancelled); // Gradio tells of no failure while it cannot reach the server itself
    throw new TypeError("cancelled");
  };

  /* One run at a time; the button keeps its focus, which it would lose if it were disabled. */
  addEventListener("click", (event) => {
    const on = (id) => event.target.closest && event.target.closest(id);
    if (on("#run") && document.body.dataset.busy === "yes") event.stopImmediatePropagation();
    if (on("#cancel") && giveUp !== null) { event.stopImmediatePropagation(); giveUp(); }
  }, true);
  dispatchEvent(new Event("gym:more"));
})();
