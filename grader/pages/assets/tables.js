/* Lists and tables: exercises, attempts, leaderboards, gradebook. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;

  const ring = (share, label) => {
    const node = h("span", { class: "gym-ring", role: "img", "aria-label": label });
    node.style.setProperty("--share", String(share));
    if (share >= 100) node.textContent = "✓";
    return node;
  };

  /* What an exercise builds on, as links; solved ones are ticked. */
  gym.needs = (needs) => needs.length > 0 && h("p", { class: "gym-needs" }, "Needs ",
    needs.map((one, index) => [index ? ", " : "", h("a", { href: one.href }, one.text), one.solved && h("span", { class: "gym-tick", role: "img", "aria-label": "solved" }, "✓")]).flat());

  const bar = (share) => {
    const fill = h("i");
    fill.style.width = share + "%";
    return h("span", { class: "gym-meter", "aria-hidden": "true" }, fill);
  };

  /* What stands before an exercise; it can be opened all the same. */
  const after = (needs) => h("p", { class: "gym-needs gym-after" }, "After ",
    needs.map((one, index) => [index ? " and " : "", h("a", { href: one.href }, one.text)]).flat());

  const card = (one) =>
    h("li", { class: "gym-card" + (one.solved ? " gym-solved" : one.after.length ? " gym-later" : "") },
      ring(one.best, one.ring),
      h("div", { class: "gym-card-text" },
        h("a", { href: one.href, class: "gym-card-link" }, one.title), h("span", {}, one.summary),
        h("small", {}, one.facts), one.after.length && !one.solved ? after(one.after) : gym.needs(one.needs)),
      one.score && !one.solved ? h("span", { class: "gym-card-score" }, one.score) : null);

  /* On a small screen only the track of the next exercise is open: forty cards are a wall. */
  const opened = (name) => [...document.querySelectorAll("#gym-first .gym-track[open] h2")].some((head) => head.textContent === name);
  const track = (one, all) =>
    h("details", { class: "gym-track", open: one.open || innerWidth >= 768 || opened(one.name) },
      h("summary", {}, h("h2", {}, one.name), all && bar(one.share), one.done && h("span", { class: "gym-tick", role: "img", "aria-label": "all solved" }, "✓"), h("span", { class: "gym-count" }, one.count)),
      h("ul", { class: "gym-cards" }, one.exercises.map(card)));

  gym.parts.exercises = (view) =>
    h("div", { class: "gym-page" },
      view.begun ? h("h1", {}, view.title) : gym.text("hero"),
      view.begun && h("div", { class: "gym-lead" },
        h("p", { class: "gym-sub" }, view.text), bar(view.share),
        view.next && h("a", { href: view.next.href, class: "gym-button gym-strong" }, "Continue with " + view.next.text)),
      view.again.length ? gym.again(view.again) : null,
      view.begun && h("p", { class: "gym-sub" }, "“After …” names what an exercise builds on. You may open every exercise now."),
      view.tracks.map((one) => track(one, view.begun)));

  /* Every exercise by track; choosing one leads there. Whoever steps through them by keys is led there by Enter, or by
     going on to something else. */
  gym.picker = (groups, label) => {
    const options = (choices) => choices.map((one) => h("option", { value: one.href, selected: one.here }, one.text));
    const here = groups.flatMap((group) => group.choices).find((one) => one.here)?.href;
    let byKey = false;
    const go = ({ target }) => { if (target.value !== here) location.href = target.value; };
    const typed = (event) => {
      byKey = event.key !== "Enter"; // which also ends an open list
      if (event.key !== "Enter" || event.target.value === here) return;
      event.preventDefault();
      go(event);
    };
    return h("label", { class: "gym-choices" }, h("span", {}, label),
      h("select", { keydown: typed, pointerdown: () => { byKey = false; }, change: (event) => { if (!byKey) go(event); }, blur: go },
        groups.map((group) => (group.name ? h("optgroup", { label: group.name }, options(group.choices)) : options(group.choices))).flat()));
  };

  const TEXTS = new Set(["text", "rich", "link"]); // kinds of columns that begin at the left; numbers end at the right
  const cell = (column, value) => {
    const kind = column.kind || "text";
    if (kind === "text") return h("td", {}, value);
    if (kind === "rich") return h("td", {}, gym.rich(value));
    if (kind === "score") {
      const tone = value === null ? "none" : value >= 99.995 ? "good" : value >= 50 ? "fair" : "poor";
      return h("td", { class: "gym-number" }, h("span", { class: "gym-pill gym-" + tone }, value === null ? "–" : gym.points(value)));
    }
    if (kind === "grade") return grade(value);
    if (kind === "tally") return h("td", { class: "gym-number" }, h("a", { href: value[1] }, String(value[0])));
    if (kind === "link") return h("th", { scope: "row" }, h("a", { href: value.href }, value.text));
    if (kind === "time") return h("td", { class: "gym-number" }, value === null ? "never" : time(value));
    return h("td", { class: "gym-number" }, value === null ? "–" : String(value));
  };

  /* The best score with the number of attempts. */
  const grade = (value) => {
    if (value === null) return h("td", { class: "gym-number gym-sub" }, "–");
    const [score, attempts, href] = value;
    const tone = score >= 99.995 ? "good" : score >= 50 ? "fair" : "poor";
    const words = attempts + (attempts === 1 ? " attempt" : " attempts");
    return h("td", { class: "gym-number" }, h("a", { href, class: "gym-pill gym-" + tone }, gym.points(score)), h("small", {}, words));
  };

  const key = (value) => (Array.isArray(value) ? value[0] : value !== null && typeof value === "object" ? value.text : value);

  /* A text as it is searched: capitals and accents make no difference. */
  const bare = (text) => String(text).normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

  gym.points = (value) => String(Math.round(value * 100) / 100);

  const order = (rows, index, down) => [...rows].sort((a, b) => {
    const [x, y] = [key(a.cells[index]), key(b.cells[index])];
    if (x === y) return 0;
    if (x === null) return 1;
    if (y === null) return -1;
    return (typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true })) * (down ? -1 : 1);
  });

  // A browser takes a control of which 32 pixels are in view for visible; whoever uses keys sees the whole of it.
  const whole = ({ target }) => { if (target.matches(":focus-visible")) target.scrollIntoView({ block: "nearest", inline: "nearest" }); };

  /* A table with a fixed head and first column; a click on a head sorts, the search box keeps what matches. */
  gym.table = (view, choose) => {
    const body = h("tbody");
    const groups = view.groups && h("tr", { class: "gym-groups" }, view.groups.map((one) => h(one.name ? "th" : "td", { scope: one.name ? "colgroup" : null, colspan: one.span }, one.name && h("span", {}, one.name))));
    const heads = view.columns.map((column, index) =>
      h("th", { scope: "col", "aria-sort": "none", class: column.kind && !TEXTS.has(column.kind) ? "gym-number" : null },
        h("button", { type: "button", click: () => sort(index) }, column.name)));
    let rows = view.rows;
    let wanted = "";
    const none = h("p", { class: "gym-empty", role: "status" });
    // Numbers, and what is missing, are not what somebody looks for by a name.
    const words = new Map();
    const wordsOf = (row) => {
      if (!words.has(row)) words.set(row, row.cells.filter((value, index) => value !== null && TEXTS.has(view.columns[index].kind || "text")).map((value) => bare(key(value))));
      return words.get(row);
    };
    // Each line is made once: those of a class of 300 take a phone seconds, for every letter that is typed.
    const lines = new Map();
    const lineOf = (row) => {
      if (lines.has(row)) return lines.get(row);
      const line = h("tr", { class: row.you ? "gym-you" : null, tabindex: choose ? "0" : null },
        view.columns.map((column, index) => cell(column, row.cells[index])));
      if (row.you) line.querySelector("[data-name], td:nth-child(2)").append(h("em", {}, "you"));
      if (choose) {
        line.addEventListener("click", () => choose(row));
        line.addEventListener("keydown", (event) => { if (event.key === "Enter") choose(row); });
      }
      lines.set(row, line);
      return line;
    };
    const show = () => {
      const found = rows.filter((row) => wordsOf(row).some((text) => text.includes(wanted)));
      none.textContent = found.length ? "" : view.find ? "Nothing found." : "Nobody found.";
      body.replaceChildren(...found.map(lineOf));
    };
    const sort = (index) => {
      const down = heads[index].getAttribute("aria-sort") === "ascending";
      heads.forEach((head) => head.setAttribute("aria-sort", "none"));
      heads[index].setAttribute("aria-sort", down ? "descending" : "ascending");
      rows = order(view.rows, index, down);
      show();
    };
    show();
    const search = view.rows.length > 10 && h("input", { type: "search", class: "gym-search", placeholder: view.find ?? "Find a name", "aria-label": "Find in this table",
      input: (event) => { wanted = bare(event.target.value.trim()); show(); } });
    return h("div", { class: "gym-table" }, search,
      h("div", { class: "gym-scroll", tabindex: "0", role: "region", "aria-label": view.label, focusin: whole },
        h("table", {}, h("thead", {}, groups, h("tr", {}, heads)), body)), search && none);
  };

  gym.empty = (view) => h("p", { class: "gym-empty" }, view.text, view.link && " ", view.link && h("a", { href: view.link.href }, view.link.text));

  gym.parts.board = (view) =>
    h("div", { class: view.wide ? "gym-page" : "gym-block" },
      view.wide && h("h1", {}, view.title),
      view.notice && h("p", { class: "gym-notice", role: "status" }, view.notice),
      view.choices && gym.picker(view.choices, "Show"),
      view.rows.length ? gym.table(view) : gym.empty(view),
      view.rows.length ? h("p", { class: "gym-sub" }, view.text) : null);

  /* Words with `code` in backticks; "line 14" is no button here, as the whole row is one. */
  gym.words = (text) => String(text).split(/(`[^`\n]+`)/).filter(Boolean).map((piece) =>
    piece.length > 2 && piece.startsWith("`") ? h("code", {}, piece.slice(1, -1)) : piece);

  const back = (view) => view.back && h("p", { class: "gym-back" }, h("a", { href: view.back.href }, "‹ " + view.back.text));

  gym.parts.attempts = (view, trigger) =>
    h("div", { class: view.wide ? "gym-page" : "gym-block" },
      back(view),
      view.wide && h("h1", {}, view.title),
      view.choices && gym.picker(view.choices, "Show"),
      view.filters && h("div", { class: "gym-filters" }, view.filters.map((one) => gym.picker(one.groups, one.label))),
      view.student && h("form", { method: "post", action: "/teach/reset" }, h("input", { type: "hidden", name: "student", value: view.student }),
        h("button", { type: "submit", class: "gym-button" }, "Link for a new password"), " ",
        h("a", { class: "gym-button", href: "/teach/member?person=" + view.student }, "Role and membership")),
      view.join && h("p", { class: "gym-sub" }, h("a", { class: "gym-button", href: view.join.href }, view.join.text)),
      view.note && h("p", { class: "gym-sub" }, view.note),
      view.rows.length ? h("ul", { class: "gym-attempts" }, view.rows.map((row) => {
        const inside = [h("span", { class: "gym-pill gym-" + row.tone }, row.score),
          h("span", { class: "gym-attempt-text" }, h("strong", {}, row.title), h("small", {}, gym.words(row.text))),
          time(row.created)];
        const open = async () => {
          if (gym.edited() && !(await gym.ask(row.question, "Open this attempt"))) return;
          trigger("select", { id: row.id });
        };
        return h("li", {}, row.href ? h("a", { href: row.href }, inside) : h("button", { type: "button", click: open }, inside),
          row.compare && h("p", {}, h("a", { href: row.compare, class: "gym-button" }, "Compare with the previous one")));
      })) : gym.empty(view));

  gym.ago = (seconds) => {
    const past = Math.max(0, Date.now() / 1000 - seconds);
    if (past < 60) return "just now";
    if (past < 3600) return Math.floor(past / 60) + " min ago";
    if (past < 86400) return Math.floor(past / 3600) + " h ago";
    const date = new Date(seconds * 1000), year = date.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
    return date.toLocaleDateString("en-GB", { day: "numeric", month: "short", year });
  };

  /* How long ago something was, with the moment itself, in the reader's time zone. */
  const moment = (seconds) => new Date(seconds * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  const time = (seconds) => h("time", { datetime: new Date(seconds * 1000).toISOString(), title: moment(seconds) }, gym.ago(seconds));

  gym.parts.gradebook = (view) =>
    h("div", { class: "gym-page" },
      h("div", { class: "gym-title" }, h("h1", {}, "Gradebook"),
        h("p", { class: "gym-sub gym-code-of-class" }, "Class code ", h("code", {}, view.code))),
      view.notice && h("p", { class: "gym-notice", role: "status" }, view.notice),
      h("div", { class: "gym-tools" },
        h("span", { class: "gym-sub" }, view.text),
        h("div", { class: "gym-tool-buttons" },
          h("a", { href: "/teach/class", class: "gym-button" }, "Class and members"),
          h("a", { href: "/teach/?list=all", class: "gym-button" }, "Submissions"),
          h("a", { href: "/teach/?flag=any", class: "gym-button" }, "Worth a look"),
          h("a", { href: "/teach/export.csv", class: "gym-button", download: "gradebook.csv" }, "Export CSV"))),
      gym.picker([{ name: "", choices: view.tracks }], "Track"),
      view.rows.length ? h("div", { class: "gym-grades" }, gym.table(view)) : null,
      view.mistakes.rows.length ? h("section", { class: "gym-block" },
        h("h2", {}, "Most common mistakes"),
        h("p", { class: "gym-sub" }, "Mistakes found in graded attempts, most frequent first in each exercise. Select a number of attempts to see them."),
        gym.table(view.mistakes)) : null);

  /* Whose attempt is shown, above its code and its report. */
  gym.parts.attempt = (view) =>
    h("div", { class: "gym-page" },
      back(view),
      h("div", { class: "gym-title" },
        h("div", {}, h("h1", {}, view.title),
          h("p", { class: "gym-sub" }, view.text, ", ", time(view.created), `, ${moment(view.created)}`)),
        h("nav", { class: "gym-way", "aria-label": "Attempts" },
          view.previous && h("a", { href: view.previous, rel: "prev" }, "‹ Previous attempt"),
          view.next && h("a", { href: view.next, rel: "next" }, "Next attempt ›"))));
})();
