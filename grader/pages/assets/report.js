/* The exercise page's own parts: title line, run panel, report. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;

  gym.parts.title = (view) =>
    h("div", { class: "gym-title" },
      h("div", {}, h("h1", {}, view.title, view.solved && h("span", { class: "gym-tick", role: "img", "aria-label": "solved" }, "✓")), h("p", { class: "gym-sub" }, view.facts)),
      h("p", { class: "gym-way" }, h("span", {}, view.progress),
        view.previous && h("a", { href: view.previous, rel: "prev" }, "‹ Previous"),
        view.next && h("a", { href: view.next, rel: "next" }, "Next ›")));

  gym.parts.bottom = () => {
    const go = (name, target) => h("button", { type: "button", click: () => document.getElementById(target).scrollIntoView({ behavior: "smooth" }) }, name);
    return h("nav", { class: "gym-bottom", "aria-label": "Parts of this page" }, go("Statement", "left"), go("Code", "editor"), go("Result", "result"));
  };

  /* ---- run panel ---- */
  const MARK = { passed: "✓", failed: "✕", partly: "✕", skipped: "–", waiting: "", busy: "" };
  let clock = 0;

  gym.note = (text) => {
    const place = document.getElementById("gym-note");
    if (place) place.textContent = text;
  };

  const seconds = (value) => value.toFixed(1) + " s";

  const tick = (place, view) => {
    clearInterval(clock);
    if (view.elapsed === null) return;
    place.textContent = seconds(view.elapsed);
    if (!view.busy) return;
    const start = performance.now() - view.elapsed * 1000;
    clock = setInterval(() => { place.textContent = seconds((performance.now() - start) / 1000); }, 100);
  };

  gym.parts.panel = (view, trigger, element) => {
    element.setAttribute("role", "status");
    document.body.dataset.busy = view.busy ? "yes" : "no";
    const time = h("span", { class: "gym-time", "aria-hidden": "true" });
    tick(time, view);
    const bar = h("div", { class: "gym-progress", "aria-hidden": "true" }, h("i"));
    bar.firstChild.style.width = view.share + "%";
    const guest = view.phase === "guest" && [" ", h("a", { href: "/sign-in?next=" + encodeURIComponent(location.pathname + location.search), click: gym.save }, "Sign in or register")];
    if (view.scroll && innerWidth < 768) setTimeout(() => document.getElementById("result").scrollIntoView({ behavior: "smooth" }), 0);
    return h("div", { class: "gym-panel gym-is-" + view.phase },
      h("div", { class: "gym-panel-line" }, h("i", { class: "gym-dot", "aria-hidden": "true" }), h("strong", {}, view.text, guest), time),
      view.detail && h("p", { class: "gym-sub" }, view.detail),
      view.busy && bar,
      h("p", { id: "gym-note", class: "gym-sub" }),
      view.chips.length > 0 && h("ul", { class: "gym-chips" }, view.chips.map((chip) =>
        h("li", { class: "gym-chip gym-" + chip.state },
          h("i", { class: "gym-mark", role: "img", "aria-label": chip.state }, MARK[chip.state]), h("span", {}, chip.name), h("b", {}, chip.text)))));
  };

  /* ---- report ---- */
  const dial = (view) => {
    const node = h("div", { class: "gym-dial gym-" + view.tone, role: "img", "aria-label": `${view.score} of 100 points` },
      h("div", {}, h("strong", {}, view.score), h("small", {}, "of 100")));
    node.style.setProperty("--share", String(view.share));
    return node;
  };

  const meter = (bar) => {
    const fill = h("i");
    fill.style.width = bar.share + "%";
    return h("li", { class: "gym-" + bar.tone }, h("span", {}, bar.name), h("span", { class: "gym-meter", "aria-hidden": "true" }, fill), h("b", {}, bar.points));
  };

  const cause = (one) =>
    h("section", { class: "gym-card-box gym-cause" },
      h("p", { class: "gym-cause-kind" }, one.kind), h("h3", {}, one.title), gym.paragraphs(one.message));

  const group = (one) =>
    h("details", { class: "gym-card-box gym-group", open: one.open },
      h("summary", {}, h("span", { class: "gym-badge gym-" + one.tone }, one.badge), h("strong", {}, one.name), h("span", { class: "gym-count" }, one.count)),
      h("ul", {}, one.checks.map((check) =>
        h("li", { class: "gym-" + check.status },
          h("i", { class: "gym-mark", role: "img", "aria-label": check.status }, MARK[check.status] || "!"),
          h("span", { class: "gym-check-name" }, check.name.split("\n").map((name) => h("span", {}, name))),
          h("span", { class: "gym-check-text" }, gym.rich(check.message)),
          h("span", { class: "gym-count" }, check.points)))));

  const fold = (title, ...inside) => h("details", { class: "gym-card-box gym-fold" }, h("summary", {}, h("strong", {}, title)), inside);

  gym.parts.report = (view) => {
    if (view.empty) return h("div");
    const parts = [
      h("section", { class: "gym-card-box gym-verdict", "aria-label": "Result" },
        view.free ? h("div", { class: "gym-stop", "aria-hidden": "true" }, "!") : dial(view),
        h("div", { class: "gym-verdict-text" }, h("h2", {}, view.title), view.free && h("p", { class: "gym-free" }, view.free), view.lines.map((line) => h("p", {}, line))),
        view.bars.length ? h("ul", { class: "gym-meters" }, view.bars.map(meter)) : ""),
      view.reason && h("section", { class: "gym-card-box gym-reason" }, h("h3", {}, "What happened"), h("p", {}, gym.rich(view.reason))),
      view.causes.map(cause),
      view.groups.map(group),
      view.maps.length || view.bars_of_gradients.length
        ? h("div", { class: "gym-figures" }, view.maps.map(gym.heatmap), gym.gradients(view)) : null,
      view.advice.length ? h("section", { class: "gym-card-box gym-advice" }, h("h3", {}, "Good to know"), h("ul", {}, view.advice.map((text) => h("li", {}, gym.rich(text))))) : null,
      view.mapping.length ? fold("Which weights were found where", h("table", { class: "gym-mapping" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "weight"), h("th", { scope: "col" }, "found in your module"))),
        h("tbody", {}, view.mapping.map(([name, place]) => h("tr", {}, h("td", {}, h("code", {}, name)), h("td", {}, h("code", {}, place))))))) : null,
      view.output ? fold("What your code printed", h("pre", { tabindex: "0" }, view.output)) : null,
      h("p", { class: "gym-sub gym-facts" }, view.facts),
    ];
    return h("div", { class: "gym-report" }, ...parts.flat().filter(Boolean));
  };
})();
