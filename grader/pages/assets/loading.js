/* Scripts that few pages need, each fetched when it is first needed; and the microscopes of a statement. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;

  const AGAIN = 3000; // milliseconds
  const AWAY = "The server cannot be reached. This part comes when it is back.";
  const loading = {}, waiting = new Set(); // the places of what could not be fetched yet say so
  const fetched = (name) => new Promise((done) => {
    const ask = () => document.head.append(h("script", { src: document.querySelector(`meta[name="gym-${name}"]`).content, load: done, error: (event) => {
      event.target.remove();
      for (const place of waiting) place.textContent = AWAY;
      setTimeout(ask, AGAIN);
    } }));
    ask();
  });
  gym.load = (name, place = h("div")) => {
    waiting.add(place);
    loading[name] = loading[name] || fetched(name);
    return loading[name].then(() => { waiting.delete(place); if (place.textContent === AWAY) place.textContent = ""; });
  };

  /* A microscope is drawn once somebody comes near to its place, which has its height already. */
  const near = new IntersectionObserver((seen) => {
    for (const { target } of seen.filter((one) => one.isIntersecting)) {
      near.unobserve(target);
      gym.load("microscope", target).then(() => target.replaceChildren(gym.example(JSON.parse(target.dataset.scope))));
    }
  }, { rootMargin: "250px" });

  const statement = gym.parts.statement;
  gym.parts.statement = () => {
    const text = statement();
    for (const place of text ? text.querySelectorAll(".gym-scope") : []) near.observe(place);
    return text;
  };
})();
