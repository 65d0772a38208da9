"use strict";
/** The posterior under a sparse prior, step by step as in kernels/faces.py and face_sampling.py. */
const faceSampling = (facts, mu) => {
  const { alpha, faces: set } = facts;
  const k = alpha.length;
  const sum = (x) => x.reduce((a, b) => a + b, 0);
  const logistic = (z) => -Math.abs(z) - 2 * Math.log1p(Math.exp(-Math.abs(z)));

  const apply = (length) =>
    1 < k && k <= set.max_topics && 1 < length && length <= set.max_words && sum(alpha) <= set.max_alpha0;

  // ---- a distribution for each face ----

  function fit(counts) {
    const found = [], pull = [];
    for (let bits = 1; bits < 1 << k; bits++) {
      pull[bits] = null;
      if (!hasItsOwnMode(bits, pull)) continue;
      const face = fitOne(counts, alpha.map((_, i) => ((bits >> i) & 1) === 1));
      pull[bits] = face.pull;
      if (face.log > -Infinity) found.push(face);
    }
    return found;
  }

  function hasItsOwnMode(bits, pull) {
    if ((bits & (bits - 1)) === 0) return true;
    let some = false;
    for (let i = 0; i < k; i++) {
      const rest = bits ^ (1 << i);
      if (!((bits >> i) & 1) || pull[rest] === null) continue;
      some = true;
      if (pull[rest][i] <= 0) return false;
    }
    return some;
  }

  function fitOne(counts, inside) {
    let at = slopes(counts, inside, new Float64Array(k));
    if (at.value === -Infinity) return { log: -Infinity, pull: alpha.map(() => Infinity) };
    let step = ascent(inside, at), share = 1;
    for (let i = 0; i < set.scoring_steps && step.gain >= set.scoring_tolerance; i++) {
      const trial = slopes(counts, inside, at.x.map((x, j) => x + share * step.move[j]));
      if (trial.value >= at.value) {
        at = trial;
        share = 1;
        step = ascent(inside, at);
      } else share *= 0.3;
    }
    const { factor, ref } = step, { x, h } = at;
    const { log: logs, centre, pull } = scales(counts, inside, ref, h);
    let log = logs;
    for (let i = 0; i < k; i++) {
      if (!inside[i]) continue;
      centre[i] = x[i] - x[ref];
      log += alpha[i] * Math.log(h[i]);
      if (i !== ref) log -= Math.log(factor[i][i] / (4 * set.scale));
    }
    return { log, inside, ref, centre, factor, pull };
  }

  /** log p on a face at h ~ exp(x), its slope and about its curvature. */
  function slopes(counts, inside, x) {
    const { h } = proportions(inside, x);
    const a = alpha.map((value, i) => (inside[i] ? value + 1 : 0)), a0 = sum(a);
    let value = 0;
    for (let i = 0; i < k; i++) if (inside[i]) value += a[i] * Math.log(h[i]);
    const slope = a.map((ai, i) => (inside[i] ? ai - a0 * h[i] : 0));
    const H = a.map((_, i) => Float64Array.from(h, (hj) => -a0 * h[i] * hj));
    for (let i = 0; i < k; i++) H[i][i] += a0 * h[i] + Math.max(slope[i], 0);
    const r = new Float64Array(k);
    for (const [w, n] of counts) {
      let norm = 0, some = 0;
      for (let i = 0; i < k; i++) {
        r[i] = mu[w * k + i] * h[i];
        norm += r[i];
        some += mu[w * k + i];
      }
      if (norm <= 0 && some * n > 0) return { value: -Infinity };
      if (norm <= 0) continue;
      value += n * Math.log(norm);
      for (let i = 0; i < k; i++) {
        r[i] = r[i] / norm - h[i];
        slope[i] += n * r[i];
        for (let j = 0; j <= i; j++) H[i][j] += n * r[i] * r[j];
      }
    }
    return { x, h, value, slope, H };
  }

  function proportions(inside, x) {
    const top = Math.max(...x.filter((_, i) => inside[i]));
    const h = x.map((value, i) => (inside[i] ? Math.exp(value - top) : 0)), total = sum(h);
    return { h: h.map((value) => value / total), size: top + Math.log(total) };
  }

  /** The step of scoring, among log ratios to the largest h. */
  function ascent(inside, { h, slope, H }) {
    const ref = h.indexOf(Math.max(...h)), move = new Float64Array(k);
    const factor = alpha.map(() => new Float64Array(k));
    let gain = 0;
    for (let i = 0; i < k; i++) {
      const stays = !inside[i] || i === ref;
      for (let j = 0; j <= i; j++) {
        let value = !stays && inside[j] && j !== ref ? H[i][j] : i === j ? 1 : 0;
        for (let l = 0; l < j; l++) value -= factor[i][l] * factor[j][l];
        factor[i][j] = i === j ? Math.sqrt(Math.max(value, 1e-12)) : value / factor[j][j];
      }
      let value = stays ? 0 : slope[i];
      for (let l = 0; l < i; l++) value -= factor[i][l] * move[l];
      move[i] = value / factor[i][i];
      gain += move[i] ** 2;
    }
    solveBack(factor, move);
    const far = Math.max(...move.map(Math.abs));
    return { ref, gain, factor, move: far > set.max_move ? move.map((m) => (m * set.max_move) / far) : move };
  }

  function solveBack(factor, x) {
    for (let i = k - 1; i >= 0; i--) {
      for (let l = i + 1; l < k; l++) x[i] -= factor[l][i] * x[l];
      x[i] /= factor[i][i];
    }
  }

  function scales(counts, inside, ref, h) {
    const pull = new Float64Array(k), second = new Float64Array(k), centre = new Float64Array(k);
    let log = logLikelihood(counts, h);
    for (const [w, n] of counts) {
      const norm = probability(w, h);
      if (norm <= 0) continue;
      for (let i = 0; i < k; i++) {
        const u = mu[w * k + i] / norm - 1;
        pull[i] += n * u;
        second[i] += n * u * u;
      }
    }
    for (let i = 0; i < k; i++) {
      if (inside[i]) continue;
      const reach = -Math.log(Math.max(Math.abs(pull[i]), Math.sqrt(second[i]), 1));
      centre[i] = reach - Math.log(h[ref]);
      log += alpha[i] * reach - Math.log(alpha[i]);
    }
    return { log, centre, pull };
  }

  // ---- importance sampling ----

  function probability(w, h) {
    let norm = 0;
    for (let i = 0; i < k; i++) norm += mu[w * k + i] * h[i];
    return norm;
  }

  function logLikelihood(counts, h) {
    let log = 0;
    for (const [w, n] of counts) {
      const norm = probability(w, h);
      if (norm > 0) log += n * Math.log(norm);
    }
    return log;
  }

  /** Leaves g as it is where the integrals agree with it, or puts theirs there; is it found? */
  function check(counts, converged, g) {
    const order = alpha.map((_, i) => i).sort((a, b) => g[b] - g[a]);
    const size = sum(g), known = order.map((i) => (converged ? g[i] / size : NaN));
    const own = counts.flatMap(([w]) => order.map((i) => mu[w * k + i]));
    const ordered = faceSampling({ ...facts, alpha: order.map((i) => alpha[i]) }, own);
    const { found: inOrder, error } = ordered.integrate(counts.map(([, n], t) => [t, n]), known);
    if (!Number.isFinite(error)) return converged;
    const found = new Float64Array(k);
    order.forEach((topic, i) => (found[topic] = inOrder[i]));
    const totals = [sum(g), sum(found)];
    const apart = sum(found.map((x, i) => Math.abs(g[i] / totals[0] - x / totals[1])));
    if (!converged || !(apart < set.max_apart) || error >= set.max_error) g.set(found);
    return error < set.max_error;
  }

  function integrate(counts, known) {
    const fitted = fit(counts), best = Math.max(...fitted.map(({ log }) => log));
    if (!fitted.length) return { error: Infinity };
    const kept = fitted.filter(({ log }) => log > best - set.max_log_ratio);
    const share = kept.map(({ log }) => Math.exp(log - best)), total = sum(share);
    const each = share.map((s) => Math.ceil(set.points * (0.5 / kept.length + (0.5 * s) / total)));
    const { mean, pairs, error } = sample(counts, kept, each, best, known);
    const size = totalOf(pairs, mean, sum(alpha) + sum(counts.map(([, n]) => n)));
    return { found: mean.map((x) => x * size), error };
  }

  function sample(counts, kept, each, best, known) {
    const batches = [], everywhere = alpha.map(() => true), roots = steps();
    const enough = set.errors_per_tolerance * facts.tolerance;
    const most = Math.max(
      set.min_batches, Math.min(Math.floor(facts.max_sweeps / set.sweeps_per_batch), set.max_batches));
    let found = { error: Infinity };
    while (batches.length < most && found.error > enough) {
      const sums = new Float64Array(k + 2);
      kept.forEach((face, f) => {
        for (let point = 0; point < each[f]; point++) {
          const x = draw(face, batches.length * each[f] + point + 1, roots);
          const { h, size } = proportions(everywhere, x);
          let value = logLikelihood(counts, h) - best - logMixture(kept, each, x);
          for (let i = 0; i < k; i++) value += alpha[i] * (x[i] - size);
          const weight = Math.exp(value);
          for (let i = 0; i < k; i++) sums[i] += weight * h[i];
          sums[k] += weight;
          sums[k + 1] += weight * pairsOf(h);
        }
      });
      batches.push(sums);
      if (batches.length < set.min_batches) continue;
      found = meanAndError(batches);
      const apart = sum(found.mean.map((x, i) => Math.abs(x - known[i])));
      if (apart + 2 * found.error < set.max_apart && found.error < set.max_error) break; // confirmed
    }
    return found;
  }

  function pairsOf(h) {
    let total = 0, pairs = 0;
    for (let i = 0; i < k; i++) {
      pairs += h[i] * total;
      total += h[i];
    }
    return pairs;
  }

  /** The sum of g, by the variance; where one topic has all there is none, and it is most. */
  function totalOf(pairs, mean, most) {
    const own = pairsOf(mean);
    if (own <= set.min_variance || pairs <= 0) return most;
    return pairs / Math.max(own - pairs, set.min_variance * own);
  }

  /** Square roots of the first primes. */
  function steps() {
    const primes = [];
    for (let n = 2; primes.length < k; n++) if (primes.every((p) => n % p)) primes.push(n);
    return primes.map(Math.sqrt);
  }

  function draw({ inside, ref, centre, factor }, point, roots) {
    const x = new Float64Array(k);
    let at = 0;
    for (let i = 0; i < k; i++) {
      if (i === ref) continue;
      const u = Math.min(Math.max((0.5 + point * roots[at++]) % 1, 1e-12), 1 - 1e-12);
      const fall = -Math.log(u) / alpha[i];
      x[i] = inside[i] ? set.scale * Math.log(u / (1 - u)) : -fall - Math.log(-Math.expm1(-fall));
    }
    solveBack(factor, x);
    return x.map((value, i) => value + centre[i]);
  }

  function logMixture(kept, each, x) {
    const logs = kept.map((face, f) => Math.log(each[f]) + logDensity(face, x));
    const top = Math.max(...logs);
    return top + Math.log(sum(logs.map((log) => Math.exp(log - top))) / sum(each));
  }

  function logDensity({ inside, ref, centre, factor }, x) {
    let log = 0;
    for (let i = 0; i < k; i++) {
      if (i === ref) continue;
      if (inside[i]) {
        let z = 0;
        for (let l = i; l < k; l++)
          if (inside[l] && l !== ref) z += factor[l][i] * (x[l] - x[ref] - centre[l]);
        log += Math.log(factor[i][i] / set.scale) + logistic(z / set.scale);
      } else {
        const y = x[i] - x[ref] - centre[i], bend = Math.log1p(Math.exp(-Math.abs(y)));
        log += Math.log(alpha[i]) - (y > 0 ? y : -alpha[i] * y) - (alpha[i] + 1) * bend;
      }
    }
    return log;
  }

  function meanAndError(batches) {
    const n = batches.length, total = (i) => sum(batches.map((b) => b[i])), weight = total(k);
    const mean = alpha.map((_, i) => total(i) / weight);
    const errors = mean.map((m, i) => {
      const square = sum(batches.map((b) => (b[i] - m * b[k]) ** 2));
      return Math.sqrt((square * n) / (n - 1)) / weight;
    });
    return { mean, pairs: total(k + 1) / weight, error: sum(errors) };
  }

  return { apply, check, integrate, totalOf };
};
