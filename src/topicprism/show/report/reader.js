"use strict";
/** As Python does: the words of a topic; of a document its words, their topics, the response. */
const reader = (facts) => {
  const { words, alpha, eta, share, common, relevance_decimals, reading } = facts;
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
  const faces = faceSampling(facts, mu);

  // ---- words of a topic, as topicprism.show.words ranks them ----

  const overall = Float64Array.from(words, (_, w) => {
    let p = 0;
    for (let i = 0; i < k; i++) p += mu[w * k + i] * share[i];
    return p;
  });

  /** Columns of the most relevant words; of words that tie, the more probable first. */
  function relevant(topic, weight, n) {
    const listed = [];
    for (let w = 0; w < words.length; w++) {
      const p = mu[w * k + topic];
      if (p === 0) continue;
      const often = Math.log(Math.min(p, common / share[topic])), lift = Math.log(p / overall[w]);
      const value = weight * often + (1 - weight) * lift;
      listed.push([Math.round(value * 10 ** relevance_decimals), p, w]);
    }
    listed.sort((a, b) => b[0] - a[0] || b[1] - a[1] || a[2] - b[2]);
    return listed.slice(0, n).map(([, , w]) => w);
  }

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

  // ---- expectation propagation, step by step as in propagation.propagate ----

  /** Counts as evidence, as in inference.weighed: a repetition says less than the first. */
  function weighed(counts) {
    const joined = Math.max(sum(counts.map(([, n]) => n)) / facts.burst_words, 1);
    return counts.map(([w, n]) => [w, n / (1 + facts.burstiness * Math.max(n / joined - 1, 0))]);
  }

  /** The Dirichlet close to the posterior: its mean h, its sum, and whether it was found. */
  function propagate(counts) {
    const g = Float64Array.from(alpha);
    const sites = counts.map(() => new Float64Array(k));
    const length = sum(counts.map(([, n]) => n));
    let converged;
    if (length > facts.long_document_words) {
      climb(counts, sites, g);
      converged = settle(counts, sites, g, length);
    } else {
      converged = sweepAll(counts, sites, g, length);
      const sparse = sum(alpha) <= facts.max_sparse_alpha0;
      const words = sparse ? facts.min_known_words_sparse : facts.min_known_words;
      if (k > 1 && (!converged || sum(g) < sum(alpha) + words)) {
        filterParts(counts, g);
        converged = true;
      }
    }
    if (faces.apply(length)) converged = faces.check(counts, converged, g);
    const total = sum(g);
    return { h: Array.from(g, (x) => x / total), total, converged };
  }

  const stepOf = (sweep) =>
    sweep < facts.full_step_sweeps ? facts.damping : (facts.damping * facts.full_step_sweeps) / sweep;

  function sweepAll(counts, sites, g, length) {
    for (let sweep = 0; sweep < Math.min(facts.max_sweeps, facts.first_sweeps); sweep++) {
      let moved = 0, blocked = 0;
      counts.forEach(([w, n], j) => {
        const far = visit(w * k, n, stepOf(sweep), sites[j], g);
        if (far === Infinity) blocked += n;
        else moved = Math.max(moved, far);
      });
      const few = blocked <= facts.max_blocked_share * length;
      if (moved < facts.tolerance || (!few && sweep >= 2 * facts.full_step_sweeps)) return few;
    }
    return false;
  }

  function climb(counts, sites, g) {
    g.set(alpha);
    for (let step = 0; step < facts.em_steps; step++) {
      const h = Float64Array.from(g);
      g.set(alpha);
      counts.forEach(([w, n], j) => {
        let norm = 0;
        for (let i = 0; i < k; i++) {
          sites[j][i] = mu[w * k + i] * h[i];
          norm += sites[j][i];
        }
        const scale = norm > 0 ? 1 / norm : 0;
        for (let i = 0; i < k; i++) {
          sites[j][i] *= scale;
          g[i] += n * sites[j][i];
        }
      });
    }
  }

  function settle(counts, sites, g, length) {
    let before = Infinity, variance = halfVariance(g), step = facts.damping;
    for (let sweep = 0; sweep < facts.max_sweeps; sweep++) {
      const whole = facts.damping / step, was = sum(g), h = g.map((x) => x / was);
      let blocked = 0, moved = 0;
      counts.forEach(([w, n], j) => {
        if (visit(w * k, n, step, sites[j], g) === Infinity) blocked += n;
      });
      const total = sum(g), now = halfVariance(g);
      for (let i = 0; i < k; i++) moved = Math.max(moved, Math.abs(g[i] / total - h[i]));
      moved *= whole;
      const ahead =
        moved < before && before < Infinity ? (moved * before) / (before - moved) : Infinity;
      const slow = facts.slow_factor * moved < facts.tolerance;
      const near =
        facts.still_factor * moved < facts.tolerance ||
        (slow && ahead < facts.ahead_factor * facts.tolerance);
      const calm = whole * Math.abs(now - variance) <= facts.variance_tolerance * now;
      if (near && calm && blocked <= facts.max_blocked_share * length) return true;
      if (moved >= before && sweep >= facts.full_step_sweeps) step *= facts.damping;
      [before, variance] = [moved, now];
    }
    return false;
  }

  /** The sum of g, and of its products over pairs. */
  function totalAndPairs(g) {
    let total = 0, pairs = 0;
    for (let i = 0; i < k; i++) {
      pairs += g[i] * total;
      total += g[i];
    }
    return [total, pairs];
  }

  /** Half the summed variances of a Dirichlet(g). */
  function halfVariance(g) {
    const [total, pairs] = totalAndPairs(g);
    return pairs / (total * total * (total + 1));
  }

  function filterParts(counts, g) {
    const mean = new Float64Array(k);
    let best = -Infinity, weights = 0, pairs = 0;
    for (let part = 0; part < k; part++) {
      g.set(alpha);
      g[part] += 1;
      let log = Math.log(alpha[part]);
      log += filter(counts, best - log - facts.negligible_log_ratio, g);
      if (log === -Infinity) continue;
      if (log > best) {
        const scale = Math.exp(best - log);
        for (let i = 0; i < k; i++) mean[i] *= scale;
        [best, weights, pairs] = [log, weights * scale, pairs * scale];
      }
      const weight = Math.exp(log - best), [total, own] = totalAndPairs(g);
      weights += weight;
      pairs += (weight * own) / (total * (total + 1));
      for (let i = 0; i < k; i++) mean[i] += (weight * g[i]) / total;
    }
    for (let i = 0; i < k; i++) mean[i] /= weights;
    pairs /= weights;
    const total = faces.totalOf(pairs, mean, sum(alpha) + sum(counts.map(([, n]) => n)));
    for (let i = 0; i < k; i++) g[i] = mean[i] * total;
  }

  function filter(counts, least, g) {
    let log = 0;
    for (let copy = 0, left = true; left; copy++) {
      left = false;
      for (const [w, n] of counts) {
        const part = Math.min(n - copy, 1);
        if (part <= 0) continue;
        left = true;
        const total = sum(g), less = topicsAndLoss(w * k, g);
        if (less < 0) continue;
        log += part * Math.log(norm / total);
        if (log < least) return -Infinity;
        for (let i = 0; i < k; i++) g[i] += part * (r[i] - less * (g[i] + r[i]));
      }
    }
    return log;
  }

  const c = new Float64Array(k), r = new Float64Array(k); // of the word being visited
  let norm = 0; // its probability times the sum of c

  function topicsAndLoss(row, c) {
    let u0 = 0, r0 = 0, P = 0, Q = 0;
    norm = 0;
    for (let i = 0; i < k; i++) {
      r[i] = mu[row + i] * c[i];
      norm += r[i];
    }
    if (norm <= 0) return -1;
    const scale = 1 / norm;
    for (let i = 0; i < k; i++) {
      r[i] *= scale;
      const u = c[i] + r[i];
      P += u * u0;
      Q += r[i] * r0;
      u0 += u;
      r0 += r[i];
    }
    return Q > 0 ? ((u0 + 1) * Q) / (P + u0 * Q) : 0;
  }

  function visit(row, n, share, site, g) {
    let c0 = 1, least = 0;
    for (let i = 0; i < k; i++) {
      c[i] = g[i] - site[i];
      c0 += c[i];
      least = Math.min(least, c[i]);
    }
    if (n <= 0) return 0;
    if (least < 0) return Infinity;
    const less = topicsAndLoss(row, c);
    if (less < 0) return 0;
    let step = share * n, far = 0;
    for (let i = 0; i < k; i++) {
      c[i] = r[i] - less * (c[i] + r[i]) - site[i];
      far = Math.max(far, Math.abs(c[i]));
      if (step * c[i] < -facts.max_decrease * g[i]) step = (-facts.max_decrease * g[i]) / c[i];
    }
    const part = step / n;
    for (let i = 0; i < k; i++) {
      site[i] += part * c[i];
      g[i] += step * c[i];
    }
    return (facts.damping * n * far) / c0;
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
    const [noise, share] = facts.predictive_variance;
    return Math.sqrt(noise + share * variance);
  }

  /** From the scale that was fitted to the response's own: its logarithm is normal, or itself. */
  function unscaled(z) {
    if (facts.scale === null) return z;
    return facts.scale === "log" ? Math.exp(z) : Math.expm1(Math.max(z, 0));
  }

  function unscaledDeviation(z, s) {
    return facts.scale === null ? s : Math.exp(z + (s * s) / 2) * Math.sqrt(Math.expm1(s * s));
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
    const posterior = propagate(weighed(counts)), { h, converged } = posterior;
    const z = predict(h, length), s = deviation(posterior, length);
    const y = unscaled(z), std = unscaledDeviation(z, s);
    return { found, counts, length, h, y, std, converged, topics: tokenTopics(found, known, h) };
  }

  return { mu, overall, tokens, read, relevant };
};
