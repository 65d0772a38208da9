"""Word counts and responses drawn from the model."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal, cast

import numpy as np
from scipy.sparse import csr_array, vstack

from topicprism._typing import Array, Counts, Doc, DocTopic, Ints
from topicprism.model import Model
from topicprism.validation import check_whole, generator

BLOCK = 20_000  # documents drawn at once


def make_slda(
    n_documents: int,
    n_words: int = 500,
    n_topics: int = 20,
    doc_length: int | tuple[int, int] = 250,
    *,
    alpha: float | Array | None = None,
    noise: float = 0.1,
    words: Literal["uniform", "zipf"] = "uniform",
    random_state: int | np.random.Generator | None = None,
) -> tuple[Counts, Doc, Model]:
    """Counts, responses and the model they were drawn from.

    ``alpha=None`` is 1/k for each topic; a number is used for each topic.
    ``doc_length`` is a length or a range (low, high), both included.
    """
    rng = generator(random_state)
    truth = draw_model(n_words, n_topics, rng, alpha=alpha, noise=noise, words=words)
    X, y, _ = draw_corpus(truth, n_documents, doc_length, rng)
    return X, y, truth


def draw_model(
    n_words: int,
    n_topics: int,
    rng: np.random.Generator,
    *,
    alpha: float | Array | None = None,
    noise: float = 0.1,
    words: str = "uniform",
) -> Model:
    """Topics with uniform weights, on Zipf's frequencies if asked; eta standard normal."""
    if words not in ("uniform", "zipf"):
        raise ValueError(f"words={words!r}, but expected 'uniform' or 'zipf'")
    check_whole("n_words", n_words, "try 500")
    check_whole("n_topics", n_topics, "try 20")
    mu = rng.random((n_words, n_topics))
    if words == "zipf":
        mu /= np.arange(1, n_words + 1)[:, None]
    each = np.asarray(1 / n_topics if alpha is None else alpha, float)
    if each.shape not in ((), (n_topics,)) or not (each > 0).all() or not noise >= 0:
        raise ValueError(
            f"alpha={alpha} and noise={noise}, but expected one positive alpha or {n_topics}, and "
            "noise from 0 up"
        )
    return Model(
        alpha=np.broadcast_to(each, (n_topics,)).copy(),
        mu=mu / mu.sum(axis=0),
        eta=rng.standard_normal(n_topics),
        sigma=float(noise),
    )


def draw_corpus(
    model: Model,
    n_documents: int,
    doc_length: int | tuple[int, int],
    rng: np.random.Generator,
) -> tuple[Counts, Doc, DocTopic]:
    """Counts, responses and topic proportions of new documents."""
    check_whole("n_documents", n_documents, "try 1000")
    low, high = _range(doc_length)
    lengths = rng.integers(low, high, endpoint=True, size=n_documents)
    h = rng.dirichlet(model.alpha, size=n_documents)
    y = h @ model.eta + model.sigma * rng.standard_normal(n_documents)
    blocks = [
        _draw_words(model, h[i : i + BLOCK], lengths[i : i + BLOCK], rng)
        for i in range(0, n_documents, BLOCK)
    ]
    return vstack(blocks, format="csr"), y, h


def _range(doc_length: Any) -> tuple[int, int]:
    ends = (doc_length, doc_length) if isinstance(doc_length, Integral) else doc_length
    match ends:
        case (Integral() as low, Integral() as high) if 0 <= int(low) <= int(high):
            return int(low), int(high)
    raise ValueError(
        f"doc_length={doc_length!r}, but expected a whole number of words from 0 up, or a range "
        "(low, high) of them, both included; try 250"
    )


def _draw_words(model: Model, h: DocTopic, lengths: Ints, rng: np.random.Generator) -> Counts:
    """A topic for each word of each document, then a word from each topic."""
    per_topic = rng.multinomial(lengths, h)  # (D, k)
    docs, words = [], []
    for i, mu in enumerate(model.mu.T):
        n = int(per_topic[:, i].sum())
        docs.append(np.repeat(np.arange(len(h)), per_topic[:, i]))
        cdf = np.cumsum(mu)
        words.append(np.searchsorted(cdf, rng.random(n) * cdf[-1], side="right"))
    d, w = np.concatenate(docs), np.concatenate(words)
    X = csr_array((np.ones(len(d), np.int32), (d, w)), shape=(len(h), model.n_words))
    X.sum_duplicates()
    return cast(Counts, X)
