"""From a fitted pipeline, and documents if there are any, to the facts of the page."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

import numpy as np

from topicprism._typing import Array, Ints, WordTopic
from topicprism._typing import Topic as PerTopic
from topicprism.inference import EPInference
from topicprism.show.effects import WORDS, Effects
from topicprism.show.report.documents import Seen, examples, fit_of, look
from topicprism.show.report.facts import Choice, Parameters, Reason, Summary, Topic, Trial, Word
from topicprism.show.report.fitted import Fitted, fitted
from topicprism.show.report.packing import pack
from topicprism.show.report.prose import about, sentences
from topicprism.show.words import common_probability

N_WORDS, N_NAME = 15, 3  # words listed of a topic, and in its name
N_EIGENVALUES = 60
SCORE_NAMES = {"held_out_pr2": "topicprism, held out"}  # by their keys in info["scores"]


def summarise(
    pipeline: Any,
    texts: Any = None,
    y: Any = None,
    *,
    counts: Any = None,
    title: str | None = None,
    response: str = "response",
    held_out: bool | None = None,
) -> Summary:
    """The facts of a fitted pipeline of a vectoriser and a topic model.

    Parameters
    ----------
    pipeline : Pipeline
        ``FastCountVectorizer`` and an estimator of topicprism, fitted.
    texts : iterable of str or None, default=None
        Documents, for examples and for how large the topics are.
    y : array-like or None, default=None
        Their responses, for predictions beside observations.
    counts : sparse matrix or None, default=None
        Their word counts, if they are at hand or the texts are not.
    title, response : str
        The heading, and what the number is called, such as "stars".
    held_out : bool or None, default=None
        Whether the model did not see these documents when it was fitted.

    Notes
    -----
    Of more than 20,000 documents, 20,000 evenly spaced ones are used.
    """
    what = fitted(pipeline)
    seen = look(what, texts, y, counts)
    shown = _shown(what, seen)
    places, mapped = topic_map(what.model.mu, what.model.eta if shown.coef is None else shown.coef)
    facts = Summary(
        title=title or _title(what, response),
        sentences=(),
        response=response if what.supervised else None,
        n_documents=what.info.get("n_documents"),
        left_out=_numbered(what.info.get("n_left_out")),
        topics=_topics(what, shown, places),
        order=tuple(int(i) + 1 for i in shown.order),
        share_of=shown.share_of,
        common=common_probability(shown.word_probabilities),
        mapped=mapped,
        expected=shown.average if what.supervised else None,
        scale=shown.scale,
        left=shown.left,
        decimals=shown.decimals,
        predicts=shown.predicts,
        examples=() if seen is None else examples(what, seen),
        fit=None if seen is None else fit_of(seen, held_out, shown.scale),
        scores=_scores(what),
        choice=_choice(what),
        reading=what.reading,
        parameters=_parameters(what),
        about=about(what),
        sources=what.sources,
    )
    return replace(facts, sentences=sentences(facts))


def _title(what: Fitted, response: str) -> str:
    return f"Topics and {response}" if what.supervised else "Topics of the documents"


def _shown(what: Fitted, seen: Seen | None) -> Effects:
    """Shares as the pipeline has measured them, so that all show the same; else of what is seen."""
    if what.shown.share_of == WORDS or seen is None or not seen.lengths.sum() > 0:
        return what.shown
    wrote = seen.lengths @ seen.h
    return replace(what.shown, share=np.asarray(wrote / wrote.sum()), share_of=WORDS)


def _topics(what: Fitted, shown: Effects, places: Array) -> tuple[Topic, ...]:
    model = what.model
    p = shown.word_probabilities
    relevant, probable = (shown.top_ids(N_WORDS, by) for by in ("relevance", "probability"))

    def listed(ids: Ints, i: int) -> tuple[Word, ...]:
        return tuple(Word(what.words[w], float(model.mu[w, i]), float(p[w])) for w in ids.tolist())

    topics = []
    for i in range(model.n_topics):
        low, high = shown.ends(i) or (None, None)
        topics.append(
            Topic(
                number=i + 1,
                name=tuple(what.words[w] for w in relevant[i][:N_NAME].tolist()),
                share=float(shown.share[i]),
                effect=None if shown.coef is None else float(shown.coef[i]),
                low=low,
                high=high,
                found_again=shown.found_again(i),
                place=(float(places[i, 0]), float(places[i, 1])),
                probable=listed(probable[i], i),
                relevant=listed(relevant[i], i),
            )
        )
    return tuple(topics)


def topic_map(mu: WordTopic, eta: PerTopic) -> tuple[Array, float]:
    """Places in the plane, as far apart as the topics are, and the share of that they show.

    Classical scaling of the square root of the Jensen-Shannon divergence, which is a Euclidean
    distance.  The first axis points towards larger effects.
    """
    k = mu.shape[1]
    entropy = -_plogp(mu).sum(axis=0)
    squared = np.array(
        [-_plogp((mu + mu[:, [i]]) / 2).sum(axis=0) - (entropy + entropy[i]) / 2 for i in range(k)]
    )
    centre = np.eye(k) - 1 / k
    values, vectors = np.linalg.eigh(-centre @ np.maximum(squared, 0) @ centre / 2)
    values = np.maximum(values[::-1], 0)
    if k == 1 or not values.sum() > 1e-12:
        return np.zeros((k, 2)), 1.0
    axes = (vectors[:, ::-1] * np.sqrt(values))[:, :2]
    axes *= np.where(axes[0] < 0, -1, 1)
    if (eta - eta.mean()) @ axes[:, 0] < 0:
        axes[:, 0] *= -1
    return axes, float(values[:2].sum() / values.sum())


def _plogp(p: Array) -> Array:
    return np.asarray(p * np.log(np.where(p > 0, p, 1.0)))


def _scores(what: Fitted) -> tuple[tuple[str, float], ...]:
    """pR2 of each method, best first; standard errors among them are left out."""
    listed = _numbered(what.info.get("scores"))
    kept = [
        (SCORE_NAMES.get(name, name), value) for name, value in listed if not name.endswith("_std")
    ]
    return tuple(sorted(kept, key=lambda pair: -pair[1]))


def _numbered(values: Any) -> tuple[tuple[str, Any], ...]:
    """Names with finite numbers, of a mapping that may hold anything."""
    items = values.items() if isinstance(values, dict) else ()
    return tuple(
        (str(name), value if isinstance(value, int) else float(value))
        for name, value in items
        if isinstance(value, (int, float, np.number)) and math.isfinite(value)
    )


def _choice(what: Fitted) -> Choice:
    chosen = what.selection
    spectrum = getattr(chosen, "spectrum", what.spectrum)
    values = np.asarray([] if spectrum is None else spectrum, float)[:N_EIGENVALUES]
    threshold = getattr(chosen, "threshold", None)
    reasons = getattr(chosen, "reasons", {})
    hidden = {"method"} if what.supervised else {"method", "noise_variance"}
    shown_reasons = [name for name in reasons if name not in hidden]
    return Choice(
        n_topics=what.model.n_topics,
        n_tried=getattr(chosen, "n_tried", what.model.n_topics),
        spectrum=tuple(values[np.isfinite(values)].tolist()),
        threshold=None if threshold is None else float(threshold),
        trials=tuple(
            Trial(**{f.name: getattr(t, f.name) for f in fields(Trial)})
            for t in getattr(chosen, "trials", ())
        ),
        method=reasons.get("method", ""),
        reasons=tuple(
            Reason(name, float(getattr(chosen, name)), reasons[name]) for name in shown_reasons
        ),
    )


def _parameters(what: Fitted) -> Parameters:
    model, how = what.model, EPInference()
    return Parameters(
        words=what.words,
        mu=pack(model.mu),
        alpha=tuple(model.alpha.tolist()),
        eta=tuple(model.eta.tolist()),
        noise_variance=float(model.sigma**2),
        burstiness=float(model.burstiness),
        predictive_variance=what.predictive_variance,
        features=what.features,
        max_sweeps=how.max_sweeps,
        tolerance=how.tolerance,
    )
