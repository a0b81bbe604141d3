/* The exercise page's own parts: title line, run panel, report. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;

  const title = gym.parts.title;
  gym.parts.title = (view) => {
    const late = () => setTimeout(gym.ready, 5000); // though the editor's script came, its code did not
    if (gym.createEditor) late();
    else addEventListener("gym:more", late, { once: true });
    return title(view);
  };

  gym.parts.bottom = () => {
    const go = (name, target) => h("button", { type: "button", click: () => document.getElementById(target).scrollIntoView({ behavior: "smooth" }) }, name);
    return h("nav", { class: "gym-bottom", "aria-label": "Parts of this page" }, go("Statement", "left"), go("Code", "editor"), go("Result", "result"));
  };

  /* ---- run panel ---- */
  const MARK = { passed: "✓", failed: "✕", partly: "✕", skipped: "–", broken: "!" };
  let clock = 0;

  /* What somebody hears who listens to the page: each news once, and nothing of what only ticks. */
  let heard = "";
  const said = h("p", { class: "gym-said", role: "status" });
  const say = (text) => {
    if (!said.isConnected) document.body.append(said);
    if (text && text !== heard) setTimeout(() => { said.textContent = text; }, 50); // once it is known to be there
    heard = text || heard;
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

  /* The loss while it is trained, from the first step to the last that is known; redrawn with every finished call. */
  const sparkline = (losses) => {
    const canvas = h("canvas", { class: "gym-spark", role: "img", "aria-label": `Training loss, now ${losses.at(-1).toPrecision(3)}` });
    const draw = () => {
      const scale = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
      canvas.width = width * scale;
      canvas.height = height * scale;
      const pen = canvas.getContext("2d"), top = Math.max(...losses), bottom = Math.min(0, ...losses);
      pen.scale(scale, scale);
      pen.strokeStyle = getComputedStyle(canvas).color;
      pen.lineWidth = 1.5;
      pen.beginPath();
      losses.forEach((loss, at) => pen.lineTo(
        (at / (losses.length - 1)) * width, 2 + (height - 4) * (1 - (loss - bottom) / (top - bottom || 1))));
      pen.stroke();
    };
    new ResizeObserver(draw).observe(canvas);
    return h("figure", { class: "gym-training" }, canvas, h("figcaption", { class: "gym-sub" }, `training loss ${losses.at(-1).toPrecision(3)}`));
  };

  /* What somebody who has pressed a button must not miss stands in view; the bar at the bottom of a phone covers the rest. */
  let told = "";
  const bring = (view, element) => {
    if (view.look && view.text !== told) gym.bring(() => {
      const box = element.getBoundingClientRect(), narrow = innerWidth < 768;
      if (box.top < 0 || box.bottom > innerHeight - (narrow ? 64 : 0)) element.scrollIntoView({ behavior: "smooth", block: narrow ? "center" : "nearest" });
    });
    told = view.text;
  };

  const UNSENT = "Your code was not sent: the server could not be reached. Press Run checks to send it.";
  let idle = null;
  gym.parts.panel = (view, trigger, element) => {
    gym.announce = () => trigger("input");
    if (view.phase === "idle") idle = view;
    /* What waited for the server when the page was closed is told once the editor knows whose code it is. */
    gym.lookAgain = () => { if (view.phase === "idle") element.replaceChildren(gym.parts.panel(view, trigger, element)); };
    if (view.phase === "idle" && gym.unsent && gym.unsent()) view = { ...view, phase: "unsent", text: UNSENT };
    if (view.note) gym.noteCode(view.note);
    bring(view, element);
    say(view.said);
    /* What was said of code that was not taken is stale once that code is edited. */
    gym.calm = () => { if (idle && element.querySelector(".gym-is-refused")) element.replaceChildren(gym.parts.panel(idle, trigger, element)); };
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", "Run");
    document.body.dataset.busy = view.busy ? "yes" : "no";
    gym.compare?.();
    const time = h("span", { class: "gym-time", "aria-hidden": "true" });
    tick(time, view);
    const bar = h("div", { class: "gym-progress", "aria-hidden": "true" }, h("i"));
    bar.firstChild.style.width = view.share + "%";
    const guest = view.phase === "guest" && [" ", h("a", { href: "/sign-in?next=" + encodeURIComponent(location.pathname + location.search), click: gym.save }, "Sign in or register")];
    if (view.scroll) gym.revealing = true;
    return h("div", { class: "gym-panel gym-is-" + view.phase },
      h("div", { class: "gym-panel-line" }, h("i", { class: "gym-dot", "aria-hidden": "true" }), h("strong", {}, view.text, guest), time),
      view.detail && h("p", { class: "gym-sub" }, view.detail),
      view.busy && bar,
      view.curve.length > 1 && sparkline(view.curve));
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
      h("p", { class: "gym-cause-kind" }, one.kind), h("h3", {}, gym.rich(one.title)), gym.paragraphs(one.message));

  const properties = (list) =>
    h("section", { class: "gym-card-box gym-properties" }, h("h3", {}, "What your attention does in the cases that look at it"),
      h("ul", {}, list.map((one) =>
        h("li", { class: "gym-" + one.status },
          h("i", { class: "gym-mark", role: "img", "aria-label": one.said }, MARK[one.status]),
          h("div", {}, h("strong", {}, one.title), h("p", {}, gym.rich(one.teaches)),
            one.message && h("p", { class: "gym-seen" }, gym.rich(one.message)))))));

  /* A report is drawn twice where its cause comes later; what is the same stays as somebody has set it meanwhile. */
  let drawn = new Map(), before = new Map();
  const once = (make, one) => {
    const key = JSON.stringify(one);
    const node = before.get(key) || make(one);
    drawn.set(key, node);
    return node;
  };

  const figures = (view, shown) => {
    const maps = view.maps.filter((map) => map !== shown).map((map) => once(gym.heatmap, map));
    const all = [...maps, gym.gradients(view), ...view.curves.map((curve) => once(gym.curve, curve))].filter(Boolean);
    return all.length ? h("div", { class: "gym-figures" }, all) : null;
  };

  /* What went wrong, beside the picture that shows it: the first map with a wrong cell. */
  const lead = (view, proof) =>
    view.causes.length || proof ? h("div", { class: "gym-lead-card" }, h("div", {}, view.causes.map(cause)), proof && once(gym.heatmap, proof)) : null;

  /* A result that has just come stands in view; on a wide screen as much of the editor as has room stays too. */
  const reveal = () => {
    const result = document.getElementById("result"), card = result.querySelector(".gym-lead-card") || result.querySelector(".gym-verdict");
    if (innerWidth < 768) result.scrollIntoView({ behavior: "smooth" });
    else if (card && card.getBoundingClientRect().bottom > innerHeight) {
      const tall = card.getBoundingClientRect().bottom - result.getBoundingClientRect().top > innerHeight;
      (tall ? result : card).scrollIntoView({ behavior: "smooth", block: tall ? "start" : "end" });
    }
  };

  /* The steps of the case where it begins to differ; their script comes with the first of them. */
  const stages = (view) => {
    const place = h("section", { class: "gym-card-box gym-stages", "aria-label": "Step by step" });
    place.style.setProperty("--rows", String(Math.max(...view.stages.map((one) => one.expected.length)) + 1));
    gym.load("microscope", place).then(() => place.replaceChildren(...gym.stages(view)));
    return place;
  };

  const group = (one) =>
    h("details", { class: "gym-card-box gym-group", open: one.open },
      h("summary", {}, h("span", { class: "gym-badge gym-" + one.tone }, one.badge), h("strong", {}, one.name), h("span", { class: "gym-count" }, one.count)),
      h("ul", {}, one.checks.map((check) =>
        h("li", { class: "gym-" + check.status },
          h("i", { class: "gym-mark", role: "img", "aria-label": check.status }, MARK[check.status] || "!"),
          h("span", { class: "gym-check-name" }, check.name.split("\n").map((name) => h("span", {}, name))),
          h("span", { class: "gym-check-text" }, gym.rich(check.message)),
          h("span", { class: "gym-count" }, check.points)))));

  /* One device beside the other: how far the same answer strays on each. */
  const panels = (list) =>
    h("section", { class: "gym-card-box gym-devices" }, h("h3", {}, "The same code on each device"),
      h("p", { class: "gym-sub" }, "The largest error, relative to the size of the numbers, and what the reference's own rounding there allows. This costs no points."),
      h("div", { class: "gym-device-list" }, list.map((one) =>
        h("section", { class: "gym-device", "aria-label": `${one.title}, ${one.dtype}` },
          h("h4", { class: one.within ? "gym-passed" : "gym-failed" }, h("i", { class: "gym-mark", role: "img", "aria-label": one.within ? "within bounds" : "out of bounds" }, one.within ? MARK.passed : MARK.failed), ` ${one.title} `, h("small", {}, one.dtype)),
          h("p", { class: "gym-sub" }, one.box),
          one.note && h("p", { class: "gym-seen" }, gym.rich(one.note)),
          one.rows.length ? h("table", {},
            h("thead", {}, h("tr", {}, ["tensor", "error", "allowed", "worst case"].map((name) => h("th", { scope: "col" }, name)))),
            h("tbody", {}, one.rows.map((row) => h("tr", { class: row.within ? "" : "gym-out" },
              h("th", { scope: "row" }, row.name), h("td", {}, row.error), h("td", {}, row.bound), h("td", {}, row.where))))) : null))));

  /* After full marks: how else it can be written, and what comes next. */
  const solutions = (view) =>
    h("section", { class: "gym-card-box gym-solutions" }, h("h3", {}, "Compare with yours"),
      view.ways.map((way) => h("details", {}, h("summary", {}, way.title), h("pre", { tabindex: "0" }, way.code))),
      view.next && h("p", {}, h("a", { class: "gym-button gym-strong", href: view.next.href }, "Next: " + view.next.text)));

  const fold = (title, ...inside) => h("details", { class: "gym-card-box gym-fold" }, h("summary", {}, h("strong", {}, title)), inside);

  gym.parts.report = (view) => {
    gym.compare = null;
    if (view.empty) return h("div");
    if (gym.mark) gym.mark(view.marks); // where there is an editor
    const proof = view.maps.find((map) => map.panes.some((pane) => pane.wrong.length));
    [before, drawn] = [drawn, new Map()];
    if (gym.revealing) gym.bring(reveal);
    gym.revealing = false;
    /* A report is not about what stands in the editor once that is edited, nor about a newer Try of it. */
    const edited = h("p", { class: "gym-card-box gym-advice gym-edited" }, view.edited);
    gym.compare = () => {
      edited.hidden = !gym.differs || !gym.differs();
      edited.textContent = document.body.dataset.busy === "yes" && gym.isChecked?.() ? view.checked : view.edited;
    };
    gym.compare();
    const parts = [
      edited,
      h("section", { class: "gym-card-box gym-verdict", "aria-label": "Result" },
        view.free ? h("div", { class: "gym-stop", "aria-hidden": "true" }, "!") : view.score !== null && dial(view),
        h("div", { class: "gym-verdict-text" }, h("h2", {}, view.title), view.free && h("p", { class: "gym-free" }, view.free), view.lines.map((line) => h("p", {}, line))),
        view.bars.length ? h("ul", { class: "gym-meters" }, view.bars.map(meter)) : ""),
      view.reason && h("section", { class: "gym-card-box gym-reason" }, h("h3", {}, "What happened"), h("p", {}, gym.rich(view.reason))),
      lead(view, proof),
      view.stages && once(stages, view.stages),
      view.solutions && once(solutions, view.solutions),
      view.clues && h("section", { class: "gym-card-box gym-advice gym-clues" }, h("h3", {}, view.clues.title), view.clues.text && h("p", {}, view.clues.text),
        h("ul", {}, view.clues.lines.map((text) => h("li", {}, gym.rich(text))))),
      view.groups.map((one) => once(group, one)),
      figures(view, proof),
      view.properties.length ? properties(view.properties) : null,
      view.panels.length ? panels(view.panels) : null,
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
