/* Tabs over parts of a page: one of them is shown, chosen by a click or by the arrow keys. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;
  const STEPS = { ArrowLeft: -1, ArrowRight: 1 };
  const places = {}; // where each part of the page is
  let tabs = {}, chosen = "";

  const settle = (name) => {
    const place = places[name], tab = tabs[name];
    if (!place || !tab) return;
    place.setAttribute("role", "tabpanel");
    place.setAttribute("aria-label", tab.textContent);
    place.hidden = name !== chosen;
  };

  const choose = (name) => {
    chosen = name;
    for (const [other, tab] of Object.entries(tabs)) {
      tab.setAttribute("aria-selected", String(other === chosen));
      tab.tabIndex = other === chosen ? 0 : -1;
      settle(other);
    }
  };

  gym.place = (name, element) => { places[name] = element; settle(name); };

  const move = (event) => {
    const names = Object.keys(tabs), step = STEPS[event.key];
    const to = { Home: names[0], End: names.at(-1) }[event.key] ?? (step && names.at((names.indexOf(chosen) + step) % names.length));
    if (!to) return;
    event.preventDefault();
    choose(to);
    tabs[to].focus();
  };

  /* `view` has the title of each part that is a tab. */
  gym.parts.tabs = (view) => {
    const names = Object.keys(view);
    tabs = Object.fromEntries(names.map((name) => [name, h("button", { type: "button", role: "tab", click: () => choose(name) }, view[name])]));
    choose(names[0]);
    return h("div", { class: "gym-tabs", role: "tablist", "aria-label": "What to read", keydown: move }, Object.values(tabs));
  };
})();
