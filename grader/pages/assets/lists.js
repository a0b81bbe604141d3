/* Lists and tables, which come as HTML from the server: choices that lead on, tables that are sorted and searched, times. */
(() => {
  "use strict";
  const gym = window.gym;

  /* Choosing one leads there. Whoever steps through them by keys is led there by Enter, or by going on to something else. */
  const lead = (select) => {
    const here = select.value;
    let byKey = false;
    const go = () => { if (select.value !== here) location.href = select.value; };
    select.addEventListener("pointerdown", () => { byKey = false; });
    select.addEventListener("keydown", (event) => {
      byKey = event.key !== "Enter"; // which also ends an open list
      if (event.key !== "Enter" || select.value === here) return;
      event.preventDefault();
      go();
    });
    select.addEventListener("change", () => { if (!byKey) go(); });
    select.addEventListener("blur", go);
  };

  const ago = (moment) => {
    const past = Math.max(0, (Date.now() - moment) / 1000);
    if (past < 60) return "just now";
    if (past < 3600) return Math.floor(past / 60) + " min ago";
    if (past < 86400) return Math.floor(past / 3600) + " h ago";
    const year = moment.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
    return moment.toLocaleDateString("en-GB", { day: "numeric", month: "short", year });
  };
  const words = (moment) => moment.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

  /* A text as it is searched: capitals and accents make no difference. */
  const bare = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

  // A browser takes a control of which 32 pixels are in view for visible; whoever uses keys sees the whole of it.
  const whole = ({ target }) => { if (target.matches(":focus-visible")) target.scrollIntoView({ block: "nearest", inline: "nearest" }); };

  /* Numbers, and what is missing, are not what somebody looks for by a name. */
  const isText = (cell) => !cell.classList.contains("gym-number");
  const keyOf = (cell) => (isText(cell) ? cell.firstChild?.textContent ?? "" : cell.dataset.key === undefined ? null : Number(cell.dataset.key));
  const compare = (x, y) => (typeof x === "number" ? x - y : x.localeCompare(y, "en", { numeric: true }));

  /* A click on a head sorts, the search box keeps what matches; lines that are there are moved, never made anew. */
  const tabulate = (table) => {
    const body = table.querySelector("tbody"), all = [...body.rows], heads = [...table.querySelectorAll("th[aria-sort]")];
    const search = table.querySelector(".gym-search"), none = table.querySelector("[data-none]"), texts = new Map();
    let rows = all;
    const textOf = (row) => {
      if (!texts.has(row)) texts.set(row, [...row.cells].filter(isText).map((cell) => bare(cell.firstChild?.textContent ?? "")));
      return texts.get(row);
    };
    const show = () => {
      const wanted = search ? bare(search.value.trim()) : "", shown = rows.filter((row) => textOf(row).some((text) => text.includes(wanted)));
      if (none) none.textContent = shown.length ? "" : none.dataset.none;
      body.replaceChildren(...shown);
    };
    const sort = (index) => {
      const down = heads[index].getAttribute("aria-sort") === "ascending";
      for (const head of heads) head.setAttribute("aria-sort", "none");
      heads[index].setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = all.map((row) => [keyOf(row.cells[index]), row]);
      keyed.sort(([x], [y]) => (x === y ? 0 : x === null ? 1 : y === null ? -1 : compare(x, y) * (down ? -1 : 1)));
      rows = keyed.map(([, row]) => row);
      show();
    };
    heads.forEach((head, index) => head.firstChild.addEventListener("click", () => sort(index)));
    search?.addEventListener("input", show);
    table.querySelector(".gym-scroll").addEventListener("focusin", whole);
  };

  /* Lets a piece of HTML from the server do what it is for; `trigger` tells the page that an attempt was chosen. */
  gym.enliven = (place, trigger) => {
    place.querySelectorAll("select[data-go]").forEach(lead);
    place.querySelectorAll(".gym-table").forEach(tabulate);
    for (const time of place.querySelectorAll("time")) {
      const moment = new Date(time.dateTime);
      time.title = words(moment);
      time.textContent = ago(moment);
    }
    for (const one of place.querySelectorAll("[data-moment]")) one.textContent = words(new Date(one.dataset.moment));
    for (const button of place.querySelectorAll("[data-flip]")) button.addEventListener("click", gym.flip);
    for (const link of place.querySelectorAll("[data-skip]")) link.addEventListener("click", (event) => gym.skip(event, link.dataset.skip));
    for (const button of place.querySelectorAll("[data-attempt]")) button.addEventListener("click", async () => {
      if (gym.edited() && !(await gym.ask(button.dataset.question, "Open this attempt"))) return;
      gym.chosen = button.dataset.attempt;
      trigger("select");
    });
    return place;
  };

  /* A piece of the page that the server has written, with every stranger's text escaped. */
  const piece = (gym.piece = (view, trigger) => {
    const template = document.createElement("template");
    template.innerHTML = view.html;
    return gym.enliven(template.content.firstElementChild, trigger);
  });
  gym.parts.title = gym.parts.attempts = gym.parts.board = piece;
  gym.parts.header = (view) => {
    document.title = view.title;
    return piece(view);
  };
  /* Whoever runs something for the first time is known from then on, and may keep what they did. */
  gym.visitorBegan = () => { for (const link of document.querySelectorAll("[data-begun]")) link.hidden = false; };

  /* On a wide screen all tracks are open; on a small one forty cards are a wall. */
  document.addEventListener("DOMContentLoaded", () => {
    gym.enliven(document.body);
    if (innerWidth >= 768) for (const track of document.querySelectorAll(".gym-track")) track.open = true;
    for (const place of document.querySelectorAll("[data-part]")) place.append(gym.parts[place.dataset.part](JSON.parse(place.dataset.view)));
  });
})();
