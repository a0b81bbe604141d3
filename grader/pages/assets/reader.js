/* Code that is only read: coloured, numbered, with a note below each line that its report names. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;

  const line = (pieces, number, note) =>
    h("li", { id: "line-" + number, class: note ? "gym-noted" : null },
      h("code", {}, pieces.map(([text, names]) => (names ? h("span", { class: names }, text) : text))),
      note && h("p", { class: "gym-line-note" }, gym.rich(note)));

  gym.parts.source = (view) => {
    const notes = new Map(view.marks.map((one) => [one.line, one.message]));
    const list = h("ol", { class: "gym-source", tabindex: "0", "aria-label": "The submitted code" },
      gym.highlight(view.code).map((pieces, index) => line(pieces, index + 1, notes.get(index + 1))));
    setTimeout(() => show(list.querySelector(".gym-noted")));
    return list;
  };

  /* Scrolls within the list, so that the report beside it stays where its reader is. */
  const show = (item) => {
    if (!item) return;
    const room = item.parentElement;
    const top = item.getBoundingClientRect().top - room.getBoundingClientRect().top;
    if (top < 0 || top + item.offsetHeight > room.clientHeight) room.scrollTop += top - room.clientHeight / 3;
  };

  gym.goTo = (number) => {
    const item = document.getElementById("line-" + number);
    if (!item) return;
    show(item);
    item.parentElement.scrollIntoView({ block: "nearest" });
    for (const other of document.querySelectorAll(".gym-here")) other.classList.remove("gym-here");
    item.classList.add("gym-here");
  };
  dispatchEvent(new Event("gym:more"));
})();
