/* Two attempts side by side: what went, what came, which points, which lines, which maps. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;

  /* What was solved long ago. */
  gym.again = (list) =>
    h("section", { class: "gym-card-box gym-again", "aria-labelledby": "gym-again" },
      h("h2", { id: "gym-again" }, "Practise again"),
      h("ul", {}, list.map((one) => h("li", {}, h("a", { href: one.href }, one.text), h("span", { class: "gym-sub" },
        "full marks on ", h("time", { datetime: new Date(one.last * 1000).toISOString() }, gym.ago(one.last)))))),
      h("p", { class: "gym-sub" }, "Press Reset to starter there, and write it from memory."));

  const side = (one) =>
    h("a", { href: one.href, class: "gym-card-box gym-side" },
      h("span", { class: "gym-pill gym-" + one.tone }, one.score),
      h("span", { class: "gym-attempt-text" }, h("strong", {}, one.title), h("small", {}, gym.words(one.text))),
      h("time", { datetime: new Date(one.created * 1000).toISOString() }, gym.ago(one.created)));

  const TONES = { gone: "good", new: "poor", "still there": "none" };
  const mistake = (one) =>
    h("li", {}, h("span", { class: "gym-badge gym-" + TONES[one.what] }, one.what), h("span", {}, gym.words(one.title)));

  const SIGNS = { "-": ["gym-minus", "removed"], "+": ["gym-plus", "added"], " ": ["", ""] };
  const line = ([sign, before, after, text]) =>
    h("tr", { class: SIGNS[sign][0] || null },
      h("td", {}, before ?? ""), h("td", {}, after ?? ""),
      h("td", { class: "gym-sign" }, sign === " " ? "" : h("span", { role: "img", "aria-label": SIGNS[sign][1] }, sign === "-" ? "\u2212" : "+")),
      h("td", {}, h("code", {}, text)));

  const code = (view) =>
    view.blocks.length ? h("div", { class: "gym-diff", tabindex: "0", role: "region", "aria-label": "Lines that have changed" },
      h("table", {},
        h("thead", {}, h("tr", {}, ["before", "after", "", "code"].map((name) => (name ? h("th", { scope: "col" }, name) : h("td"))))),
        view.blocks.map((block) => h("tbody", {}, block.map(line))))) : null;

  const section = (title, ...inside) => h("section", { class: "gym-block" }, h("h2", {}, title), inside.flat());

  const NO_MAP = "This attempt has no such picture.";
  const maps = (view) =>
    h("div", { class: "gym-sides" }, view.map((map) => (map ? gym.heatmap(map) : h("p", { class: "gym-card-box gym-sub" }, NO_MAP))));

  gym.parts.comparison = (view) => {
    if (!view.sides.length) return h("div", { class: "gym-page" }, h("h1", {}, view.title), gym.empty(view));
    return h("div", { class: "gym-page" },
      h("p", { class: "gym-back" }, h("a", { href: view.back.href }, "‹ " + view.back.text)),
      h("h1", {}, view.title),
      gym.picker(view.choices, "Compare the later one with"),
      h("div", { class: "gym-sides" }, view.sides.map(side)),
      view.mistakes.length ? section("Mistakes", h("ul", { class: "gym-changes" }, view.mistakes.map(mistake))) : null,
      section("Code", code(view.code), view.code.text && h("p", { class: "gym-sub" }, view.code.text)),
      view.maps.length ? section("Pictures", view.maps.map(maps), h("p", { class: "gym-sub" }, "Each attempt was checked with random numbers of its own.")) : null,
      section("Points", view.points.rows.length ? gym.table(view.points) : null, h("p", { class: "gym-sub" }, view.points.text)));
  };
})();
