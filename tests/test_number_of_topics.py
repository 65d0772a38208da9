"""How many topics text is given: what is told of each number, and when more are tried."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from topicprism import AutoSLDA, Corpus, Model
from topicprism.datasets import draw_corpus
from topicprism.documents import Threaded
from topicprism.documents.subsets import ALL, KeyCounts
from topicprism.evaluation import exclusivity, npmi, split_words, word_log_likelihood
from topicprism.inference import infer
from topicprism.io.files import from_bytes, to_bytes
from topicprism.learn import Trial, auto, sampled_text
from topicprism.learn.judging import describe, judged, more_topics, with_common


def separate(n_topics, words_each=10, common=0.1):
    """Topics of words of their own, and a share of every word."""
    mu = np.kron(np.eye(n_topics), np.full((words_each, 1), (1 - common) / words_each))
    return mu + common / len(mu)


def a_corpus(n_topics=30, n=1500, length=40, seed=0):
    rng = np.random.default_rng(seed)
    eta = rng.permutation(np.linspace(-2, 2, n_topics))
    truth = Model(np.full(n_topics, 1 / n_topics), separate(n_topics), eta, 0.3)
    X, y, _ = draw_corpus(truth, n, length, rng)
    return X, y, truth


# --- what is told ---------------------------------------------------------------------------


def test_likelihood_coherence_and_exclusivity_are_their_definitions():
    X, y, truth = a_corpus(6, 400)
    rng = np.random.default_rng(1)
    models = [replace(truth, mu=rng.dirichlet(np.ones(60), 6).T, burstiness=0.5), truth]
    docs = Threaded(Corpus(X, y), 2)
    keys = KeyCounts.of(docs.corpus)
    halves = list(zip(keys.cut(2), models, strict=True))
    got = judged(Trial(6, 1.0, 0.1, 0.5, 0.1), docs, halves, keys, ALL)
    likelihoods, coherences, own = [], [], []
    for half, model in halves:
        there = half.has(docs.corpus.keys)
        seen, others = split_words(X[there], docs.corpus.keys[there], 0)
        tried = [replace(model.with_alpha0(a), burstiness=0.0) for a in (1.0, 3.0, 10.0)]
        likelihoods.append(max(word_log_likelihood(m, others, infer(m, seen)) for m in tried))
        ids = np.argsort(-model.mu, axis=0, kind="stable")[:10].T
        coherences.append(npmi(ids, X).mean())
        own.append(exclusivity(ids, model.mu).mean())
    assert_allclose(got.log_likelihood, np.mean(likelihoods), rtol=1e-9)
    assert_allclose(got.coherence, np.mean(coherences), rtol=1e-9)
    assert_allclose(got.exclusivity, np.mean(own), rtol=1e-9)
    assert likelihoods[1] > likelihoods[0] + 0.5  # the truth is likelier, and coherent
    assert coherences[1] > coherences[0] + 0.3


@pytest.mark.parametrize(
    ("change", "in_common", "large"),
    [
        (lambda mu: mu[:, ::-1], 6, 6),  # the order does not matter
        (lambda mu: np.hstack([mu[:, :5], np.full((60, 1), 1 / 60)]), 5, 6),  # one is another
        (lambda mu: np.hstack([mu[:, :5], mu[:, :1]]), 5, 6),  # one is there twice
    ],
)
def test_topics_in_common_are_those_that_both_halves_have(change, in_common, large):
    X, y, truth = a_corpus(6, 400)
    docs = Threaded(Corpus(X, y), 1)
    keys = KeyCounts.of(docs.corpus)
    other = replace(truth, mu=change(truth.mu))
    halves = list(zip(keys.cut(2), (truth, other), strict=True))
    got = with_common(Trial(6, 1.0, 0.1, 0.5, 0.1), docs, halves, keys)
    assert (got.n_in_common, got.n_large) == (in_common, large)
    same = list(zip(keys.cut(2), (other, other), strict=True))
    alike = with_common(Trial(6, 1.0, 0.1, 0.5, 0.1), docs, same, keys)
    assert alike.n_large == np.linalg.matrix_rank(other.mu)  # of topics that are alike, one


# --- whether more are tried and taken -------------------------------------------------------


def told(k, in_common, large, likelihood=-7.0, pr2=0.5):
    return Trial(k, 3.0, 0.1, pr2, 0.01, likelihood, 0.1, 0.3, in_common, large)


TWENTY = told(20, 16, 20)


@pytest.mark.parametrize(
    ("first", "others", "tried", "taken"),
    [
        (told(20, 17, 17), [], [20], 20),  # three are small: documents do not support 20
        (TWENTY, [told(30, 28, 30, -6.9), told(50, 46, 48, -6.8)], [20, 30, 50], 50),
        (TWENTY, [told(30, 28, 30, -6.9), told(50, 44, 50, -6.8)], [20, 30, 50], 30),  # not nearly
        (TWENTY, [told(30, 26, 26, -6.9)], [20, 30], 20),  # all in common
        (TWENTY, [told(30, 16, 30, -6.9)], [20, 30], 20),  # no more in common
        (TWENTY, [told(30, 28, 30, -7.1)], [20, 30], 20),  # words are less likely
        (TWENTY, [told(30, 28, 30, -6.9, 0.49)], [20, 30], 20),  # predicts less
        (Trial(20, 3.0, 0.1, 0.5, 0.01), [], [20], 20),  # without halves
    ],
)
def test_more_topics_are_taken_where_documents_support_more(first, others, tried, taken):
    known = {t.n_topics: t for t in others}
    best, trials = more_topics((first, 20), lambda k: (known[k], k), 10_000)
    assert ([t.n_topics for t in trials], best) == (tried, taken)
    said = describe(trials, taken)
    assert all(f"{t.n_in_common} of {t.n_topics}" in said for t in trials if t.n_in_common)
    assert ("no better than" in said) == (tried[-1] != taken)


def test_more_topics_need_documents():
    best, trials = more_topics((TWENTY, 20), lambda k: (told(k, k, k, -6.9), k), 700)
    assert ([t.n_topics for t in trials], best) == ([20, 30], 30)


# --- the default ----------------------------------------------------------------------------


@pytest.fixture
def sampling(monkeypatch):
    """Documents are sampled although they are few, with few sweeps."""
    few = {"min_documents": 100, "min_words": 100, "sweeps": (20, 20), "half_sweeps": (20, 20)}
    for module in (auto, sampled_text):
        monkeypatch.setattr(module, "SAMPLED", replace(sampled_text.SAMPLED, **few))


def test_the_default_finds_thirty_topics_where_there_are_thirty(sampling):
    X, y, truth = a_corpus()
    fitted = AutoSLDA(random_state=0).fit(X, y)
    chosen = fitted.selection_
    assert len(fitted.coef_) == chosen.n_topics == chosen.n_tried == 30
    assert [t.n_topics for t in chosen.trials] == [20, 30, 50]
    assert [t.n_in_common for t in chosen.trials][1:] == [30, 30]
    similar = np.sqrt(fitted.components_) @ np.sqrt(truth.mu)
    assert similar.max(axis=0).min() > 0.9  # each of the truth's is there
    assert (
        "of 30, 30 of 50 topics in common; 50 are no better than 30" in chosen.reasons["n_topics"]
    )
    assert from_bytes(to_bytes(fitted)).selection_.trials == chosen.trials


def test_the_default_does_not_try_more_than_twenty_of_twelve(sampling, monkeypatch):
    """Twelve topics, and no spectrum that shows them: of twenty, some are small or alike."""
    monkeypatch.setattr(auto.model_regime, "from_sketch", lambda *given: None)
    X, y, _ = a_corpus(12, 800)
    fitted = AutoSLDA(random_state=0).fit(X, y)
    (trial,) = fitted.selection_.trials
    assert (trial.n_topics, fitted.selection_.n_tried) == (20, 20)
    assert 12 <= trial.n_large < 18
    assert 12 <= len(fitted.coef_) <= 14
