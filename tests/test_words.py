"""The words of a topic, and how well they go together."""

import ast
import inspect
import itertools
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from topicprism.datasets import draw_corpus, draw_model
from topicprism.evaluation import exclusivity, npmi, npmi_of, together
from topicprism.model import Model
from topicprism.show import plots
from topicprism.show.words import (
    COMMON,
    common_probability,
    frex,
    relevance,
    top_ids,
    top_words,
    vocabulary,
    word_probabilities,
)

MU = np.array([[0.5, 0.5], [0.3, 0.0], [0.2, 0.1], [0.0, 0.4]])
MODEL = Model(np.array([1.0, 3.0]), MU, np.array([-1.0, 1.0]), 0.1)
NAMES = ["the", "bad", "room", "good"]


# --- top words ------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.6, 1.0])
def test_relevance_is_the_weighted_sum_of_log_probability_and_log_lift(rng, weight):
    mu, p = rng.random((6, 3)), rng.random(6)
    expected = weight * np.log(mu) + (1 - weight) * np.log(mu / p[:, None])
    assert_allclose(relevance(mu, p, weight), expected)


@pytest.mark.parametrize("weight", [0.0, 0.6, 1.0])
def test_relevance_of_a_word_that_is_not_said_is_minus_infinity(weight):
    mu = np.array([[0.0, 0.5], [0.0, 0.0], [1.0, 0.5]])
    value = relevance(mu, np.array([0.4, 0.0, 0.6]), weight)
    assert_array_equal(np.isneginf(value), mu == 0)


def test_a_word_the_corpus_never_has_is_last_unless_only_probability_counts():
    mu, p = np.array([[0.5], [0.5]]), np.array([0.0, 1.0])
    assert relevance(mu, p, 0.99)[0, 0] == -np.inf
    assert_allclose(relevance(mu, p, 1.0), np.log(mu))


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_frequency_counts_up_to_a_bound_by_the_share_of_the_topic(rng, weight):
    mu, share = rng.dirichlet(np.ones(50), size=3).T, np.array([0.7, 0.29, 0.01])
    p = mu @ share
    bound = common_probability(p) / share
    expected = weight * np.log(np.minimum(mu, bound)) + (1 - weight) * np.log(mu / p[:, None])
    assert_allclose(relevance(mu, p, weight, share), expected, atol=1e-9)
    small = mu[:, 2] < bound[2]
    assert small.all()  # the small topic is ranked as without a bound
    assert (mu[:, 0] > bound[0]).any()


def test_common_words_are_those_that_make_up_their_share_of_the_corpus():
    assert common_probability(np.array([0.1, 0.5, 0.15, 0.25])) == 0.25  # 0.5 + 0.25 >= 0.6
    assert common_probability(np.array([0.7, 0.3])) == 0.7
    p = np.random.default_rng(0).dirichlet(np.full(1000, 0.1))
    common = common_probability(p)
    assert p[p > common].sum() < COMMON <= p[p >= common].sum()


def test_a_large_topic_is_shown_by_its_own_words_though_others_are_more_frequent():
    """Five function words are most of both topics; each has ten words of its own."""
    mu = np.zeros((25, 2))
    mu[:5] = [[0.13, 0.11]] * 5
    mu[5:15, 0], mu[15:, 1] = 0.35 / 10, 0.45 / 10
    mu[5:15, 1] = mu[15:, 0] = 1e-3
    model = Model(np.ones(2), mu / mu.sum(axis=0), np.zeros(2), 0.0)
    for ids, own in zip(top_ids(model, 10, weight=0.6), (range(5, 15), range(15, 25)), strict=True):
        assert set(ids) == set(own)
    for order in (top_ids(model, 25, weight=1.0), top_ids(model, 25, by="probability")):
        assert_array_equal(order[0][:5], range(5))  # at weight 1 by probability, whatever the bound


def test_words_that_differ_by_rounding_tie():
    mu = np.array([[0.1], [0.3], [0.2], [0.4]])
    p = mu[:, 0] * (1 + 1e-15 * np.arange(4))
    ids = top_ids(Model(np.ones(1), mu, np.zeros(1), 0.0), weight=0.0, p=p)[0]
    assert_array_equal(ids, [3, 1, 2, 0])  # the more probable first


def test_frex_is_the_harmonic_mean_of_two_ranks():
    often = np.array([[4, 4], [3, 1], [2, 2], [1, 3]]) / 4
    only = np.array([[2, 3], [4, 1], [3, 2], [1, 4]]) / 4  # shares 1/2, 1, 2/3, 0 | 1/2, 0, 1/3, 1
    assert_allclose(frex(MU, 0.5), 2 * often * only / (often + only))
    assert_allclose(frex(MU, 1.0), often)
    assert_allclose(frex(MU, 0.0), only)


def test_top_words_by_each_order():
    assert top_words(MODEL, NAMES, by="probability") == [
        ["the", "bad", "room"],
        ["the", "good", "room"],
    ]
    assert top_words(MODEL, NAMES, by="relevance", weight=0.0)[0][0] == "bad"
    assert top_words(MODEL, NAMES, by="frex", weight=0.2)[1][0] == "good"
    assert top_words(MODEL, NAMES, by="relevance", weight=1.0) == top_words(
        MODEL, NAMES, by="probability"
    )


def test_the_corpus_may_say_how_common_words_are():
    rare_the = np.array([0.01, 0.5, 0.4, 0.09])
    assert top_words(MODEL, NAMES, 1, weight=0.3, p=rare_the) == [["the"], ["the"]]
    assert top_words(MODEL, NAMES, 1, weight=0.0) == [["bad"], ["good"]]
    assert_allclose(word_probabilities(MODEL), MU @ [0.25, 0.75])


def test_words_that_tie_come_in_the_order_of_their_columns():
    flat = Model(np.ones(1), np.full((5, 1), 0.2), np.zeros(1), 0.0)
    for by in ("relevance", "probability", "frex"):
        assert_array_equal(top_ids(flat, 3, by)[0], [0, 1, 2])


def test_words_without_names_are_numbered():
    assert top_words(MODEL, None, 1, "probability") == [["word 0"], ["word 0"]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: relevance(MU, np.ones(4), 1.5), r"weight=1.5, but expected a number from 0 to 1"),
        (lambda: frex(MU, float("nan")), r"weight=nan, but expected"),
        (lambda: top_ids(MODEL, 0), r"n=0, but expected a whole number from 1 up"),
        (lambda: top_ids(MODEL, by="lift"), r"by='lift', but expected one of 'relevance'"),
        (lambda: top_ids(MODEL, p=np.ones(3)), r"p of shape \(3,\), but expected 4 prob"),
        (lambda: top_ids(MODEL, p=-np.ones(4)), r"from 0 up"),
        (lambda: vocabulary(["a"], 4), r"words of shape \(1,\), but the model was learnt on 4"),
    ],
)
def test_mistakes_get_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- coherence ------------------------------------------------------------------------


def by_enumeration(ids, X):
    """NPMI from its definition, pair by pair."""
    has = X > 0
    values = []
    for i, j in itertools.combinations(sorted(set(ids)), 2):
        p_i, p_j, p = has[:, i].mean(), has[:, j].mean(), (has[:, i] & has[:, j]).mean()
        if p == 0:
            values.append(-1.0)
        elif p == 1:
            values.append(0.0)
        else:
            values.append(np.log(p / (p_i * p_j)) / -np.log(p))
    return np.mean(values)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, float])
def test_npmi_is_its_definition(seed, dtype):
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.random(12), size=(30, 12))
    X[:, 3], X[:, 4] = 0, 1 + X[:, 4]
    topics = [rng.choice(12, size=n, replace=False) for n in (2, 5, 12)]
    found = npmi(topics, csr_array(X.astype(dtype)))
    assert_allclose(found, [by_enumeration(t, X) for t in topics], atol=1e-14)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ((0, 1), 1.0),  # always together
        ((0, 2), -1.0),  # never together
        ((0, 3), -1.0),  # a word of no document
        ((3, 4), -1.0),  # two of them
        ((0, 5), 0.0),  # a word of all documents
        ((5, 6), 0.0),  # two of them
        ((3, 5), -1.0),  # one of all, one of none
    ],
)
def test_npmi_at_the_edges_is_exact(pair, expected):
    X = np.array([[2, 1, 0, 0, 0, 1, 3], [1, 7, 0, 0, 0, 1, 1], [0, 0, 4, 0, 0, 2, 1]])
    assert npmi([pair], csr_array(X))[0] == expected


def test_npmi_of_a_topic_without_pairs_is_nan():
    X = csr_array(np.eye(3))
    assert np.isnan(npmi([[0], [1, 1], []], X)).all()


def test_a_word_given_twice_counts_once():
    X = csr_array(np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]]))
    assert npmi([[0, 1, 2, 1]], X)[0] == npmi([[0, 1, 2]], X)[0]


def test_stored_zeros_are_not_words():
    stored = csr_array((np.array([1, 0, 1]), np.array([0, 1, 1]), np.array([0, 2, 3])), (2, 2))
    assert npmi([[0, 1]], stored)[0] == -1


def test_words_of_one_topic_go_together_better_than_words_of_several(rng):
    truth = draw_model(60, 3, rng, alpha=0.05)
    mu = np.kron(np.eye(3), np.full((20, 1), 1 / 20))
    X, _, _ = draw_corpus(Model(truth.alpha, mu, truth.eta, 0.1), 300, 10, rng)
    same, mixed = npmi([[0, 1, 2, 3, 4, 5], [0, 1, 20, 21, 40, 41]], X)
    assert same > mixed + 0.3


def test_npmi_is_the_same_from_counts_of_parts(rng):
    """Documents in two places: how often words are together is added up."""
    X = csr_array(rng.poisson(0.5, size=(40, 9)))
    topics = [np.array([0, 3, 5]), np.array([1, 3, 8])]
    words = np.array([0, 1, 3, 5, 7, 8])
    both = together(X[:15], words) + together(X[15:], words)
    assert_allclose(npmi_of(topics, words, both, 40), npmi(topics, X), rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_exclusivity_is_its_definition(seed):
    """Draw one of a topic's top words at random, and one of the topics that might have said it."""
    rng = np.random.default_rng(seed)
    mu = rng.dirichlet(np.full(8, 0.3), size=4).T
    topics = [rng.choice(8, size=n, replace=False) for n in (1, 3, 8, 5)]
    expected = []
    for i, ids in enumerate(topics):
        said_by = [[mu[w, j] / sum(mu[w]) for j in range(4)] for w in ids]
        expected.append(sum(shares[i] for shares in said_by) / len(ids))
    assert_allclose(exclusivity(topics, mu), expected, rtol=1e-12)


def test_exclusivity_at_the_edges():
    apart = np.kron(np.eye(3), np.full((2, 1), 0.5))
    assert exclusivity([[0, 1], [2, 3], [4, 5]], apart).tolist() == [1, 1, 1]
    assert exclusivity([[0, 1], [0, 1], [0, 1]], apart).tolist() == [1, 0, 0]  # another's words
    assert_allclose(exclusivity([[0], [1]], np.full((4, 2), 0.25)), 0.5)  # all alike: 1 / k
    assert exclusivity([[0], []], np.array([[0.0, 0.0], [1.0, 1.0]]))[0] == 0  # a word of none
    assert np.isnan(exclusivity([[0], []], np.ones((1, 2)))[1])
    with pytest.raises(ValueError, match="expected columns from 0 to 3"):
        exclusivity([[4]], np.full((4, 1), 0.25))


@pytest.mark.parametrize("ids", [[0, 3], [-1, 0], [0.5, 1.0], [[0, 1], [1, 2]], ["a", "b"]])
def test_words_that_are_not_columns_get_a_sentence(ids):
    with pytest.raises(ValueError, match="expected columns from 0 to 2"):
        npmi([ids], csr_array(np.eye(3)))


@pytest.mark.parametrize("function", [top_words, plots.plot_effects, plots.plot_topics])
def test_defaults_are_documented_as_they_are(function):
    documented = re.findall(r"^    (\w+) : .*default=(\S+)$", function.__doc__, re.M)
    assert documented
    for name, value in documented:
        assert ast.literal_eval(value) == inspect.signature(function).parameters[name].default
