(() => {
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const { words, eta, effects, share, classes, names, response, reading } = facts;
  const { mu, overall, tokens, read, relevant } = reader(facts);
  const k = eta.length;
  const byId = (id) => document.getElementById(id);

  // ---- elements ----

  const SVG = "http://www.w3.org/2000/svg";
  const HIDDEN = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
  const visible = (text) => text.replace(/[\t\r\n]/g, " ").replace(HIDDEN, "\ufffd");

  function make(name, attributes = {}, ...inside) {
    const svg = name === "svg" || name === "rect";
    const element = svg ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...inside);
    return element;
  }

  const badge = (i) => make("span", { class: `badge ${classes[i]}` }, String(i + 1));
  const bdi = (text) => make("bdi", {}, visible(text));
  const listed = (texts) => texts.flatMap((text, i) => (i ? [", ", bdi(text)] : [bdi(text)]));

  /** A response, with as many decimals as everywhere on the page. */
  function fixed(value) {
    const digits = { minimumFractionDigits: facts.decimals, maximumFractionDigits: facts.decimals, signDisplay: "negative" };
    const large = Math.abs(value) >= 1e12;
    return (large ? value.toPrecision(3) : value.toLocaleString("en", digits)).replace("-", "\u2212");
  }

  function percent(x) {
    const text = x >= 0.095 || x === 0 ? (100 * x).toFixed(0) : (100 * x).toFixed(1);
    return (text === "0.0" ? "<\u202f0.1" : text) + "\u00a0%";
  }

  function bars(...parts) {
    const rects = parts.map(([width, kind]) =>
      make("rect", { class: kind, width: `${(100 * width).toFixed(2)}%`, height: "100%", rx: 2 }));
    return make("svg", { class: "bar", "aria-hidden": "true" }, ...rects);
  }

  // ---- the topics and their words ----

  const SHOWN = 20;
  let chosen = share.indexOf(Math.max(...share));

  function showWords() {
    const weight = Number(byId("weight").value);
    document.querySelector("output[for=weight]").textContent = weight.toFixed(2);
    const top = relevant(chosen, weight, SHOWN);
    const most = Math.max(...top.map((w) => overall[w]));
    const rows = top.map((w) => {
      const p = mu[w * k + chosen], part = p * share[chosen];
      return make("tr", {},
        make("th", { scope: "row" }, bdi(words[w])),
        make("td", { class: "stretch" }, bars([overall[w] / most, "overall"], [part / most, "part"])),
        make("td", { class: "number" }, percent(p)));
    });
    const head = make("tr", {},
      make("th", { scope: "col" }, "Word"),
      make("th", { scope: "col" }, "How often"),
      make("th", { scope: "col", class: "number" }, "In topic"));
    const caption = byId("words").querySelector("caption");
    byId("words").replaceChildren(caption, make("thead", {}, head), make("tbody", {}, ...rows));
  }

  function choose(topic) {
    chosen = topic;
    const effect = response === null ? "" : `: ${response} ${fixed(effects[topic])}`;
    byId("chosen").replaceChildren(badge(topic), ` Topic ${topic + 1}${visible(effect)}`);
    for (const button of document.querySelectorAll("[data-topic][aria-pressed]"))
      button.setAttribute("aria-pressed", String(Number(button.dataset.topic) === topic + 1));
    showWords();
  }

  for (const element of document.querySelectorAll("[data-topic]")) {
    const pick = () => choose(Number(element.dataset.topic) - 1);
    element.addEventListener("click", pick);
    if (element.tagName === "g")
      element.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        pick();
      });
  }
  byId("weight").addEventListener("input", showWords);
  choose(chosen);

  // ---- the box ----

  const NOTHING = "No word of this text is in the vocabulary: the prediction uses the prior only.";
  const NOT_CONVERGED = "The topic proportions of this text did not converge: topics and prediction may be wrong.";
  const tooCommon = new Set(reading ? reading.too_common : []);
  const strength = (p) => 1 + (p >= 0.5) + (p >= 0.8);

  function coloured(text, { found, topics }) {
    const parts = [];
    let at = 0;
    found.forEach(({ start, stop, token }, t) => {
      const best = topics[t].indexOf(Math.max(...topics[t])), p = topics[t][best];
      const word = visible(text.slice(start, stop));
      parts.push(visible(text.slice(at, start)));
      if (p > 0) {
        const look = { class: `w ${classes[best]} c${strength(p)}`, title: `topic ${best + 1}, ${percent(p)}` };
        parts.push(make("span", look, word));
      } else {
        const why = tooCommon.has(token) ? "too common to be counted" : "not in the vocabulary";
        parts.push(make("span", { class: "unknown", title: why }, word));
      }
      at = stop;
    });
    return [...parts, visible(text.slice(at))];
  }

  function mixture(h) {
    const order = h.map((_, i) => i).sort((a, b) => h[b] - h[a]).slice(0, 6);
    const rows = order.filter((i, n) => n === 0 || h[i] >= 0.01).map((i) =>
      make("tr", {},
        make("th", { scope: "row" }, badge(i), make("span", { class: "listed" }, ...listed(names[i]))),
        make("td", { class: "stretch" }, bars([1, "track"], [h[i], `share ${classes[i]}`])),
        make("td", { class: "number" }, percent(h[i]))));
    const caption = make("caption", { class: "hidden" }, "Topics of your document");
    return make("table", { class: "mixture-table" }, caption, make("tbody", {}, ...rows));
  }

  function answer() {
    const text = byId("document").value;
    for (const choice of document.querySelectorAll("#try .choice")) choice.hidden = !text.trim();
    if (!text.trim()) {
      for (const id of ["prediction", "answer", "read"]) byId(id).replaceChildren();
      return;
    }
    const result = read(text);
    const left = result.found.filter((_, t) => !(Math.max(...result.topics[t]) > 0));
    const common = left.filter(({ token }) => tooCommon.has(token)).length;
    const unknown = left.length - common;
    const counts = [`${result.found.length} words read`];
    if (common) counts.push(`${common} of them too common to be counted`);
    if (unknown) counts.push(`${unknown} of them not in the vocabulary`);
    if (!left.length) counts.push("all in the vocabulary");
    const words = make("p", { class: "facts" }, `${counts.join(", ")}.`);
    if (response !== null) {
      const expected = make("strong", {}, fixed(result.y));
      const meanOf = facts.mean_of[0].toUpperCase() + facts.mean_of.slice(1);
      const parts = [`${meanOf} `, bdi(response), " ", expected, `, standard deviation ${fixed(result.std)}`];
      byId("prediction").replaceChildren(...parts);
    }
    const nothing = left.length === result.found.length;
    const notes = [nothing && NOTHING, !result.converged && NOT_CONVERGED].filter(Boolean).map((note) => make("p", {}, note));
    byId("answer").replaceChildren(...notes, words, ...(nothing ? [] : [mixture(result.h)]));
    byId("read").replaceChildren(...coloured(text, result));
  }

  if (reading) {
    let waiting = 0;
    const box = byId("document");
    box.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(answer, 120);
    });
    const fill = (text) => {
      box.value = text;
      box.focus();
      answer();
    };
    byId("clear").addEventListener("click", () => fill(""));
    const examples = [...document.querySelectorAll(".example .text")];
    let turn = 0;
    byId("example").hidden = examples.length === 0;
    byId("example").addEventListener("click", () => fill(examples[turn++ % examples.length].textContent));
  }

  // ---- colours, theme, citations ----

  for (const choice of document.querySelectorAll("fieldset.choice")) {
    choice.hidden = choice.closest("#try") !== null;
    choice.addEventListener("change", (event) =>
      choice.closest("section").classList.toggle("by-effect", event.target.value === "effect"));
  }

  const theme = byId("theme"), root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const label = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Change to ${isDark() ? "light" : "dark"} colours`);
  };
  theme.hidden = false;
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  dark.addEventListener("change", label);
  label();

  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentElement.querySelector("pre").textContent);
      button.textContent = "Copied";
    });
  }

  window.topicprism = { tokens, read, relevant, mu };
})();
