/* The page's own building blocks. Text reaches the document through textContent only, never as markup:
   names, code, output and messages are written by strangers. */
(() => {
  "use strict";

  const gym = (window.gym = { parts: {} });

  gym.h = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === "function") node.addEventListener(name, value);
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
    return node;
  };
  const h = gym.h;

  /* Words with `code` in backticks and "line 14", which leads into the editor. */
  gym.rich = (text) =>
    String(text).split(/(`[^`\n]+`|(?<!\bcell \d+, )\bline \d+\b)/).filter(Boolean).map((piece) => {
      if (piece.length > 2 && piece.startsWith("`")) return h("code", {}, piece.slice(1, -1));
      const line = /^line (\d+)$/.exec(piece);
      if (!line) return piece;
      return h("button", { type: "button", class: "gym-link", click: () => gym.goTo(Number(line[1])) }, piece);
    });

  /* Shows a line of the submitted code; on the page of an exercise, of the editor. */
  gym.goTo = (number) => document.getElementById("line-" + number)?.scrollIntoView({ block: "center" });

  gym.paragraphs = (text) => String(text).split(/\n\s*\n/).map((part) => h("p", {}, gym.rich(part)));

  /* What stays in a part that is drawn again, and had the focus, has it again. */
  gym.redraw = (element, make) => {
    const held = document.activeElement, drawn = make();
    if (drawn) element.replaceChildren(drawn);
    if (held !== document.activeElement && element.contains(held)) held.focus({ preventScroll: true });
  };

  /* Brings what was just drawn into view, once it has its height; not while somebody presses something, for under
     the pointer of a page that moves a click is lost. */
  let pressing = false, presses = 0;
  addEventListener("pointerdown", () => { pressing = true; presses += 1; }, true);
  for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => { pressing = false; }, true);
  gym.bring = (move) => {
    const before = presses;
    setTimeout(() => { if (!pressing && presses === before) move(); }, 50);
  };

  /* Draws a part of the page again whenever the server sends it a new value, a line of JSON. */
  gym.mount = (name, element, props, trigger, watch) => {
    const draw = () => {
      if (!props.value) return;
      if (!gym.parts[name]) { addEventListener("gym:more", draw, { once: true }); return; } // the editor's script comes later
      gym.redraw(element, () => gym.parts[name](JSON.parse(props.value), trigger, element));
    };
    gym.place(name, element);
    watch("value", draw);
    draw();
  };

  /* ---- what the server wrote into the page, which stands there until Gradio is up ---- */
  const texts = {};
  const text = (gym.text = (name) => {
    const written = document.getElementById("gym-" + name);
    if (!texts[name] && written) {
      texts[name] = written.cloneNode(true);
      texts[name].removeAttribute("id");
      texts[name].hidden = false;
      gym.soften(texts[name]);
    }
    return texts[name];
  });
  gym.parts.statement = () => text("statement");
  gym.parts.hints = () => text("hints");
  gym.ready = () => {
    for (const name of ["statement", "hints"]) text(name);
    document.getElementById("gym-first")?.remove();
  };

  /* Names of code in tables may break after their parts, so that no table is wider than a phone. */
  gym.soften = (place) => {
    for (const code of place.querySelectorAll("td code")) {
      const parts = code.textContent.split(/(?<=[_(,.=*/])|(?<=[a-z])(?=[A-Z])/);
      code.replaceChildren(...parts.flatMap((part, index) => (index ? [h("wbr"), part] : [part])));
    }
  };

  /* ---- a submission on its way ---- */
  const MOVING = ["panel", "report", "title", "attempts", "board"]; // as the page's layout names them
  const CONNECT_AGAIN = 3000; // milliseconds
  let stream = null, ended = "", judged = false, news = {};

  /* Shows how a submission is getting on, up to its report; a server that is away is asked again, and the panel `away` shown meanwhile. */
  gym.follow = (submission, away) => {
    if (!submission || submission === ended) return;
    if (stream) stream.close();
    judged = false;
    const run = gym.run; // none yet where a page opens
    const source = (stream = new EventSource("/runs/" + encodeURIComponent(submission)));
    source.addEventListener("report", () => { judged = true; gym.isAbout?.(run || gym.run); });
    for (const name of MOVING) source.addEventListener(name, (event) => gym.tell(name, event.data));
    source.addEventListener("end", () => { source.close(); ended = submission; });
    source.addEventListener("error", () => {
      if (stream !== source) return;
      if (!judged) gym.tell("panel", away);
      /* A connection that fails is made anew by the browser, but not after a proxy's word that the server is away. */
      if (source.readyState === EventSource.CLOSED) setTimeout(() => { if (stream === source) gym.follow(submission, away); }, CONNECT_AGAIN);
    });
  };

  /* Somebody looks at another attempt: what is still found out about this one may not take its place. */
  gym.leave = () => { if (stream && judged) { stream.close(); stream = null; } };

  /* Shows a line that did not come through Gradio. */
  gym.tell = (name, line) => { news[name] = line; gym.announce(); };

  /* Gives Gradio, which has just been told that there is some, the news for the parts that move; the others stay. */
  gym.news = () => {
    const lines = MOVING.map((name) => news[name] ?? { __type__: "update" });
    news = {};
    return lines;
  };

  gym.ask = (question, yes) =>
    new Promise((answer) => {
      const done = (value) => { box.close(); box.remove(); answer(value); };
      const box = h("dialog", { class: "gym-dialog", "aria-label": question, cancel: (event) => { event.preventDefault(); done(false); } },
        h("p", {}, question),
        h("div", { class: "gym-dialog-buttons" },
          h("button", { type: "button", class: "gym-button", click: () => done(false) }, "Keep it as it is"),
          h("button", { type: "button", class: "gym-button gym-strong", click: () => done(true) }, yes)));
      document.body.append(box);
      box.showModal();
    });

  gym.store = {
    get: (key) => { try { return localStorage.getItem(key); } catch { return null; } },
    set: (key, value) => { try { localStorage.setItem(key, value); } catch { /* storage may be full or switched off */ } },
    drop: (key) => { try { localStorage.removeItem(key); } catch { /* as above */ } },
  };

  /* ---- light and dark ---- */
  const wanted = () => gym.store.get("gym/theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  gym.paint = () => {
    const dark = wanted() === "dark";
    document.documentElement.style.colorScheme = dark ? "dark" : "light";
    for (const node of [document.documentElement, document.body]) node && node.classList.toggle("dark", dark);
    document.dispatchEvent(new CustomEvent("gym:theme"));
  };
  gym.flip = () => {
    gym.store.set("gym/theme", wanted() === "dark" ? "light" : "dark");
    gym.paint();
  };
  gym.paint();
  document.addEventListener("DOMContentLoaded", () => {
    gym.paint();
    /* Gradio sets the class on <body> once, when it starts; the person's own choice wins. */
    new MutationObserver(() => {
      if (document.body.classList.contains("dark") !== (wanted() === "dark")) gym.paint();
    }).observe(document.body, { attributes: true, attributeFilter: ["class"] });
    for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => {
      const field = document.getElementById(button.dataset.copy);
      field.select();
      /* Browsers have a clipboard over HTTPS only; elsewhere the older command, or the reader's own keys, copy what is selected. */
      const copied = navigator.clipboard ? navigator.clipboard.writeText(field.value) : document.execCommand("copy") ? Promise.resolve() : Promise.reject();
      const said = button.nextElementSibling;
      copied.then(() => { said.textContent = "Copied."; }, () => { said.textContent = "It is selected; copy it with your keyboard."; });
    });
  });

  /* ---- the footer of every page: what submissions run in, said where a wall is missing too ---- */
  document.addEventListener("DOMContentLoaded", () => {
    const box = document.querySelector('meta[name="gym-box"]');
    if (box) document.body.append(h("footer", { class: "gym-footer" }, `Submissions run in a ${box.content}.${box.content.includes("(tier ") ? " Tier A has every layer of protection, B two kinds, C one." : ""}`));
  });

  gym.skip = (event, target) => {
    event.preventDefault();
    const place = document.getElementById(target);
    const inner = place && (place.querySelector(".cm-content") || place.querySelector("a[href], button") || place);
    if (inner) { inner.focus(); inner.scrollIntoView({ block: "center" }); }
  };
})();
