"use strict";
(() => {
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const { words, alpha, eta, share, classes, names, response, reading } = facts;
  const k = alpha.length;
  const byId = (id) => document.getElementById(id);

  // ---- numbers ----

  function bytes(text) {
    const raw = atob(text);
    const out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out;
  }

  /** A packed array: bits say which entries are not zero. */
  function unpack({ shape, mask, values }) {
    const bits = bytes(mask);
    const given = new Float64Array(bytes(values).buffer);
    const out = new Float64Array(shape.reduce((a, b) => a * b, 1));
    for (let i = 0, j = 0; i < out.length; i++) if ((bits[i >> 3] >> (i & 7)) & 1) out[i] = given[j++];
    return out;
  }

  const mu = unpack(facts.mu);
  const sum = (x) => x.reduce((a, b) => a + b, 0);

  // ---- words of a text, as Python cuts them ----

  const WORD = 1, CASED = 2, IGNORABLE = 4, SIGMA = 0x3a3, FINAL_SIGMA = 0x3c2;
  const kinds = new Uint8Array(0x110000);
  const lowerOf = new Map();
  const columns = new Map(words.map((word, i) => [word, i]));
  const stop = new Set(reading ? reading.stop_words : []);

  function learnCharacters({ word, cased, ignorable, lower, longer }) {
    for (const [runs, kind] of [[word, WORD], [cased, CASED], [ignorable, IGNORABLE]]) {
      let at = 0, inside = false;
      for (const run of runs.split(" ")) {
        const end = at + parseInt(run, 36);
        if (inside) for (let c = at; c < end; c++) kinds[c] |= kind;
        at = end;
        inside = !inside;
      }
    }
    for (const [first, step, n, shift] of lower)
      for (let i = 0; i < n; i++) lowerOf.set(first + i * step, [first + i * step + shift]);
    for (const [from, to] of Object.entries(longer))
      lowerOf.set(from.codePointAt(0), Array.from(to, (c) => c.codePointAt(0)));
  }
  if (reading) learnCharacters(facts.characters);

  /** Is the sigma at i the last letter of a word: a letter before it and none after? */
  function isFinal(points, i) {
    let j = i - 1;
    while (j >= 0 && kinds[points[j]] & IGNORABLE) j--;
    if (j < 0 || !(kinds[points[j]] & CASED)) return false;
    j = i + 1;
    while (j < points.length && kinds[points[j]] & IGNORABLE) j++;
    return j === points.length || !(kinds[points[j]] & CASED);
  }

  function lowered(points, i) {
    if (!reading.lowercase) return [points[i]];
    if (points[i] === SIGMA && isFinal(points, i)) return [FINAL_SIGMA];
    return lowerOf.get(points[i]) || [points[i]];
  }

  /** Tokens of two characters or more, stop words left out: where they are, how they are spelt. */
  function tokens(text) {
    const points = Array.from(text, (c) => c.codePointAt(0));
    const found = [];
    let spelt = [], start = 0, at = 0;
    const end = (stopAt) => {
      if (spelt.length > 1) {
        const token = spelt.map((c) => String.fromCodePoint(c)).join("");
        if (!stop.has(token)) found.push({ start, stop: stopAt, token });
      }
      spelt = [];
    };
    points.forEach((point, i) => {
      const next = at + (point > 0xffff ? 2 : 1);
      let before = at; // where a token that ends here ends in the text
      for (const c of lowered(points, i)) {
        if (kinds[c] & WORD) {
          if (!spelt.length) start = at;
          spelt.push(c);
        } else end(before);
        before = next;
      }
      at = next;
    });
    end(at);
    return found;
  }

  /** The n-grams that the model knows: first token, how many, column. */
  function terms(found) {
    const [low, high] = reading.ngram_range;
    const known = [];
    for (let n = low; n <= Math.min(high, found.length); n++)
      for (let i = 0; i + n <= found.length; i++) {
        const term = found.slice(i, i + n).map((t) => t.token).join(" ");
        if (columns.has(term)) known.push([i, n, columns.get(term)]);
      }
    return known;
  }

  /** Counts of the words, by rising column: inference goes by their order. */
  function count(known) {
    const counts = new Map();
    for (const [, , column] of known) counts.set(column, (counts.get(column) || 0) + 1);
    return [...counts].sort((a, b) => a[0] - b[0]);
  }

  // ---- expectation propagation, step by step as in fold_in.propagate ----

  function propagate(counts) {
    const sites = counts.map(() => new Float64Array(k));
    const g = Float64Array.from(alpha), c = new Float64Array(k), r = new Float64Array(k);
    for (let sweep = 0; sweep < facts.max_sweeps; sweep++) {
      const late = sweep >= facts.patience;
      const step = late ? (facts.damping * facts.patience) / sweep : facts.damping;
      let moved = 0;
      counts.forEach(([w, n], j) => {
        moved = Math.max(moved, visit(w * k, n, step, sites[j], g, c, r));
      });
      if (moved < facts.tolerance) break;
    }
    const total = sum(g);
    return Array.from(g, (x) => x / total);
  }

  function visit(row, n, step, site, g, c, r) {
    let c0 = 0, norm = 0, least = 0;
    for (let i = 0; i < k; i++) {
      c[i] = g[i] - site[i];
      r[i] = mu[row + i] * c[i];
      c0 += c[i];
      norm += r[i];
      least = Math.min(least, c[i]);
    }
    if (least < 0 || norm <= 0 || n <= 0) return 0;
    const scale = 1 / norm;
    let squares = 0, means = 0;
    for (let i = 0; i < k; i++) {
      r[i] = c[i] + r[i] * scale;
      squares += (c[i] + 1) * (2 * r[i] - c[i]);
      means += r[i] * r[i];
    }
    squares /= (c0 + 1) * (c0 + 2);
    const excess = squares - means / ((c0 + 1) * (c0 + 1));
    if (excess <= 0) return 0;
    const f = (1 - squares) / (excess * (c0 + 1));
    let whole = step * n;
    for (let i = 0; i < k; i++) {
      c[i] = f * r[i] - g[i];
      if (whole * c[i] < -0.8 * g[i]) whole = (-0.8 * g[i]) / c[i];
    }
    const part = whole / n;
    let moved = 0;
    for (let i = 0; i < k; i++) {
      site[i] += part * c[i];
      g[i] += whole * c[i];
      moved = Math.max(moved, Math.abs(whole * c[i]));
    }
    return moved / (c0 + 1);
  }

  /** E[y]: eta times h, or times the mean assignment of the words that h stands for. */
  function predict(h, length) {
    let z = h;
    if (facts.features === "assignments" && length > 0) {
      const alpha0 = sum(alpha);
      z = h.map((x, i) => ((alpha0 + length) * x - alpha[i]) / length);
    }
    return sum(z.map((x, i) => x * eta[i]));
  }

  /** Topic probabilities of each token: the mean over the terms that it is part of. */
  function tokenTopics(found, known, h) {
    const r = found.map(() => new Float64Array(k));
    const parts = found.map(() => 0);
    for (const [first, n, column] of known) {
      const weights = h.map((x, i) => mu[column * k + i] * x);
      const total = sum(weights);
      if (!(total > 0)) continue;
      for (let t = first; t < first + n; t++) {
        parts[t] += 1;
        for (let i = 0; i < k; i++) r[t][i] += weights[i] / total;
      }
    }
    return r.map((p, t) => p.map((x) => x / Math.max(parts[t], 1)));
  }

  /** Everything about a document. */
  function read(text) {
    const found = tokens(text), known = terms(found), counts = count(known);
    const h = propagate(counts);
    const length = sum(counts.map(([, n]) => n));
    return { found, counts, length, h, y: predict(h, length), topics: tokenTopics(found, known, h) };
  }

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
  const overall = Float64Array.from(words, (_, w) => {
    let p = 0;
    for (let i = 0; i < k; i++) p += mu[w * k + i] * share[i];
    return p;
  });
  let chosen = share.indexOf(Math.max(...share));

  /** Columns of the most relevant words; of words that tie, the more probable first. */
  function relevant(topic, weight, n = SHOWN) {
    const listed = [];
    for (let w = 0; w < words.length; w++) {
      const p = mu[w * k + topic];
      if (p > 0) listed.push([Math.log(p) - (1 - weight) * Math.log(overall[w]), p, w]);
    }
    listed.sort((a, b) => b[0] - a[0] || b[1] - a[1] || a[2] - b[2]);
    return listed.slice(0, n).map(([, , w]) => w);
  }

  function showWords() {
    const weight = Number(byId("weight").value);
    document.querySelector("output[for=weight]").textContent = weight.toFixed(2);
    const top = relevant(chosen, weight);
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
    const effect = response === null ? "" : `: ${response} ${fixed(eta[topic])}`;
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

  const strength = (p) => 1 + (p >= 0.5) + (p >= 0.8);

  function coloured(text, { found, topics }) {
    const parts = [];
    let at = 0;
    found.forEach(({ start, stop }, t) => {
      const best = topics[t].indexOf(Math.max(...topics[t])), p = topics[t][best];
      const word = visible(text.slice(start, stop));
      parts.push(visible(text.slice(at, start)));
      if (p > 0) {
        const look = { class: `w ${classes[best]} c${strength(p)}`, title: `topic ${best + 1}, ${percent(p)}` };
        parts.push(make("span", look, word));
      } else parts.push(make("span", { class: "unknown", title: "not known to the model" }, word));
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
    const unknown = result.topics.filter((p) => !(Math.max(...p) > 0)).length;
    const count = unknown === 0 ? "all known to the model" : `${unknown} of them unknown to the model`;
    const words = `${result.found.length} words read, ${count}.`;
    if (response !== null) {
      const error = facts.rmse === null ? "" : ` give or take ${fixed(facts.rmse)}`;
      const parts = ["Expected ", bdi(response), " ", make("strong", {}, fixed(result.y)), error];
      byId("prediction").replaceChildren(...parts);
    }
    byId("answer").replaceChildren(make("p", { class: "facts" }, words), mixture(result.h));
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
