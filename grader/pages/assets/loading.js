/* Scripts that few pages need, each fetched when it is first needed; and the microscopes of a statement. */
(() => {
  "use strict";
  const gym = window.gym;
  const h = gym.h;

  const loading = {};
  gym.load = (name) => (loading[name] = loading[name] || new Promise((done) => {
    document.head.append(h("script", { src: document.querySelector(`meta[name="gym-${name}"]`).content, load: done }));
  }));

  /* A microscope is drawn once somebody comes near to its place, which has its height already. */
  const near = new IntersectionObserver((seen) => {
    for (const { target } of seen.filter((one) => one.isIntersecting)) {
      near.unobserve(target);
      gym.load("microscope").then(() => target.replaceChildren(gym.example(JSON.parse(target.dataset.scope))));
    }
  }, { rootMargin: "250px" });

  const statement = gym.parts.statement;
  gym.parts.statement = () => {
    const text = statement();
    for (const place of text ? text.querySelectorAll(".gym-scope") : []) near.observe(place);
    return text;
  };
})();
