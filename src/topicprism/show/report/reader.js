"use strict";
/** Reads a document as Python does: its words, their topics, the response they let expect. */
const reader = (facts) => {
  const { words, alpha, eta, reading } = facts;
  const k = alpha.length;

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

  /** Counts as evidence, as in inference.weighed: a repetition says less than the first. */
  const weighed = (counts) =>
    counts.map(([w, n]) => [w, n / (1 + facts.burstiness * Math.max(n - 1, 0))]);

  /** The Dirichlet close to the posterior: its mean h and its sum. */
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
    return { h: Array.from(g, (x) => x / total), total };
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

  /** The standard deviation of y given the words: noise, and what they leave open about h. */
  function deviation({ h, total }, length) {
    const mean = sum(h.map((x, i) => x * eta[i]));
    const square = sum(h.map((x, i) => x * eta[i] * eta[i]));
    let variance = Math.max((square - mean * mean) / (total + 1), 0);
    if (facts.features === "assignments") {
      const m = Math.max(length, 1);
      variance *= ((sum(alpha) + m) / m) ** 2;
    }
    const [noise, share] = facts.spread;
    return Math.sqrt(noise + share * variance);
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
    const length = sum(counts.map(([, n]) => n));
    const posterior = propagate(weighed(counts)), { h } = posterior;
    const y = predict(h, length), std = deviation(posterior, length);
    return { found, counts, length, h, y, std, topics: tokenTopics(found, known, h) };
  }

  return { mu, tokens, read };
};
