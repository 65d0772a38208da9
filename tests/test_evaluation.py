import tracemalloc
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import norm

from topicprism.datasets import draw_corpus, draw_model, make_slda
from topicprism.evaluation import (
    completion_log_likelihood,
    halves,
    match,
    matched_topics,
    pr2,
    recovery_errors,
    word_log_likelihood,
)
from topicprism.inference import infer
from topicprism.model import Model
from topicprism.spectral.theory import diagnose


def test_pr2_uses_the_mean_of_the_test_responses():
    y, y_hat = np.array([1.0, 2.0, 6.0]), np.array([1.0, 3.0, 5.0])
    assert_allclose(pr2(y, y_hat), 1 - 2 / 14)
    assert_allclose(pr2(y, np.full(3, y.mean())), 0)


def test_word_log_likelihood_is_its_definition(rng):
    model = draw_model(20, 3, rng)
    X, _, h = draw_corpus(model, 5, 15, rng)
    total = 0.0
    for d, w in zip(*X.nonzero(), strict=True):
        total += X[d, w] * np.log(sum(model.mu[w, j] * h[d, j] for j in range(3)))
    assert_allclose(word_log_likelihood(model, X, h, smoothing=0), total / (5 * 15))


def test_a_word_without_probability_costs_a_finite_amount(rng):
    model = Model(np.ones(1), np.array([[1.0], [0.0]]), np.zeros(1), 0.1)
    X = csr_array(np.array([[1, 1]]))
    ll = word_log_likelihood(model, X, np.ones((1, 1)))
    assert_allclose(ll, (np.log(1 - 1e-3 / 2) + np.log(1e-3 / 2)) / 2)


def test_halves_deal_out_every_word_once(rng):
    X = csr_array(rng.poisson(1.5, size=(40, 12)))
    first, second = halves(X, rng)
    assert_array_equal((first + second).toarray(), X.toarray())
    sizes = [np.asarray(half.sum(axis=1)).ravel() for half in (first, second)]
    assert_array_equal(sizes[0], (X.sum(axis=1) + 1) // 2)
    assert (first.data >= 0).all()
    assert (second.data >= 0).all()


def test_a_large_count_is_halved_without_a_list_of_its_words(rng):
    X = csr_array(np.array([[10**9, 3]]))
    halves(X, rng)  # compiled now
    tracemalloc.start()
    first, second = halves(X, rng)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert_array_equal((first + second).toarray(), X.toarray())
    assert (first.sum(), second.sum()) == (500_000_002, 500_000_001)
    # hypergeometric: of three other words half on average, so next to none of the large count
    assert abs(first.toarray()[0, 0] - 5 * 10**8) <= 3
    assert peak < 1e6


def test_halves_are_random(rng):
    X = csr_array(np.array([[50, 50]]))
    firsts = [halves(X, rng)[0].toarray()[0, 0] for _ in range(400)]
    # hypergeometric: mean 25, sd 2.5; the mean of 400 is within 5 of its standard errors
    assert abs(np.mean(firsts) - 25) < 5 * 2.5 / 20
    assert abs(np.std(firsts) - 2.5) < 0.5


def test_completion_rewards_the_true_model_over_a_wrong_one(rng):
    truth, wrong = draw_model(60, 4, rng), draw_model(60, 4, rng)
    X, _, h = draw_corpus(truth, 400, 60, rng)
    held_out = completion_log_likelihood(truth, X, rng)
    assert held_out > completion_log_likelihood(wrong, X, rng) + 0.05
    # scoring the words that h was inferred from is optimistic, held-out words are not
    assert held_out < word_log_likelihood(truth, X, infer(truth, X))
    assert abs(held_out - word_log_likelihood(truth, X, h)) < 0.1


def test_nothing_to_score_says_so(rng):
    model = draw_model(5, 2, rng)
    with pytest.raises(ValueError, match=r"all documents are empty.*check that the vocabulary"):
        word_log_likelihood(model, csr_array((3, 5), dtype=int), np.ones((3, 2)) / 2)


def test_topics_are_matched_one_to_one_by_the_bhattacharyya_coefficient(rng):
    a, b = draw_model(12, 4, rng).mu, draw_model(12, 4, rng).mu

    def coefficient(i, j):
        return sum(np.sqrt(a[w, i] * b[w, j]) for w in range(12))

    best = max(permutations(range(4)), key=lambda p: sum(map(coefficient, range(4), p)))
    order, similarity = matched_topics(a, b)
    assert_array_equal(order, best)
    assert_allclose(similarity, [coefficient(i, j) for i, j in enumerate(best)])


def test_matching_the_same_topics_finds_their_order(rng):
    a, shuffle = draw_model(30, 5, rng).mu, rng.permutation(5)
    order, similarity = matched_topics(a[:, shuffle], a)
    assert_array_equal(order, shuffle)
    assert_allclose(similarity, 1)
    assert (similarity <= 1).all()


def test_a_topic_without_a_counterpart_is_said_to_have_none(rng):
    a = draw_model(30, 5, rng).mu
    order, similarity = matched_topics(a, a[:, [3, 1]])
    assert_array_equal(order, [-1, 1, -1, 0, -1])
    assert_allclose(similarity, [0, 1, 0, 1, 0])
    order, similarity = matched_topics(a[:, [3, 1]], a)
    assert_array_equal(order, [3, 1])
    with pytest.raises(ValueError, match=r"over 30 words and over 29, but only.*same columns"):
        matched_topics(a, a[1:])


def test_match_undoes_a_permutation(rng):
    truth = draw_model(30, 5, rng)
    shuffled = truth.reordered(rng.permutation(5))
    assert_array_equal(shuffled.reordered(match(shuffled, truth)).mu, truth.mu)
    errors = recovery_errors(shuffled, truth)
    assert (errors.alpha, errors.mu, errors.eta) == (0, 0, 0)


def test_recovery_errors_are_means_over_topics(rng):
    truth = draw_model(30, 2, rng)
    off = Model(truth.alpha + [0.1, 0.3], truth.mu, truth.eta - [0, 1], truth.sigma)
    assert_allclose(recovery_errors(off, truth).alpha, 0.2)
    assert_allclose(recovery_errors(off, truth).eta, 0.5)


def test_diagnostics_by_hand():
    """Disjoint topics of one word each: O~ is diagonal."""
    alpha = np.array([1.0, 3.0])
    model = Model(alpha, np.eye(2), np.array([0.0, 2.0]), sigma=0.5)
    d = diagnose(model, n_documents=1000, epsilon=0.1, delta=0.05)
    assert_allclose([d.sigma_k, d.sigma_1], np.sqrt(alpha / 20))
    assert_allclose([d.lambda_max, d.lambda_min], 2 / 6 * np.sqrt(20 / alpha))
    assert_allclose(d.joint_sigma_1, np.sqrt(3 / 20 * (1 + 4)))
    assert_allclose(d.joint_sigma_k, np.sqrt(1 / 20))
    assert_allclose(d.two_stage[0], (1 + np.sqrt(np.log(6 / 0.05))) ** 2 * 400)
    assert_allclose(
        d.two_stage[2],
        (1 + np.sqrt(np.log(9 / 0.05))) ** 2 * 20**5 * max(100, 4 / d.lambda_min**2),
    )


@pytest.mark.parametrize(
    ("s", "sigma", "epsilon"), [(0, 0.0, 0.1), (1, 0.5, 0.1), (1, 0.5, 10.0), (1, 50.0, 0.1)]
)
def test_documents_asked_for_by_hand(s, sigma, epsilon):
    """Topics that share words, so that no sigma_k is that of alpha; n_1, n_2, ... written out."""
    alpha, eta, n, delta = np.array([1.0, 3.0]), s * np.array([1.0, -2.0]), 1000, 0.05
    model = Model(alpha, np.array([[0.5, 0.25], [0.5, 0.25], [0.0, 0.5]]), eta, sigma)
    d = diagnose(model, n, epsilon, delta)
    # 20 times the products of topics: [1/2, sqrt(3)/4; sqrt(3)/4, 9/8], and with eta too
    low, high = (np.array([-1, 1]) * np.sqrt(1.625**2 - 4 * 0.375) + 1.625) / 40
    joint = 1.625 + 13 * s - np.sqrt((1.625 + 13 * s) ** 2 - 4 * (0.375 + 10.125 * s))
    joint /= 40
    assert_allclose([d.sigma_k**2, d.sigma_1**2, d.joint_sigma_k**2], [low, high, joint])
    accuracy = max(1 / epsilon**2, 4 / (20 / 27))
    R = np.sqrt(5) * s - sigma * norm.ppf(delta / (60 * n))
    simple = [(1 + np.sqrt(np.log(x / delta))) ** 2 for x in (6, 30, 9)]
    needed = max(R, np.sqrt(20 * high)) ** 2 / epsilon**2
    assert_allclose(
        d.two_stage,
        [simple[0] / low**2, simple[1] * needed / low**2, simple[2] * accuracy / low**5],
    )
    few, many = (-sigma * norm.ppf(delta / (share * n)) for share in (36, 144))
    C2 = 1 + np.sqrt(5) * s + few + 10 * s + 2 * few**2
    C3 = 1 + (np.sqrt(5) + 10 + 4 * 5**1.5) * s + many + 2 * many**2 + 4 * many**3
    pairs, triples = (
        (C * (2 + np.sqrt(2 * np.log(x / delta)))) ** 2 for C, x in ((C2, 18), (C3, 72))
    )
    longest = max(0.5 + s, 0.375 + 4 * s) ** 3  # |v|^6
    third = accuracy * max(longest * pairs / joint**5, triples / joint**3)
    assert_allclose(d.joint, [pairs / joint**2, triples, third])
    assert (longest * pairs < triples * joint**2) == (sigma == 50)


def test_duplicate_topics_need_more_documents_than_there_are():
    mu = np.tile(np.full((4, 1), 0.25), (1, 2))
    d = diagnose(Model(np.ones(2), mu, np.zeros(2), 0.0), n_documents=1000)
    assert d.sigma_k < 1e-15
    assert d.two_stage[2] > 1e100
    assert d.joint[0] > 0


def test_models_of_two_sizes_are_not_matched(rng):
    with pytest.raises(ValueError, match=r"9 words and 2 topics and of 9 and 3, .* as many topics"):
        match(draw_model(9, 2, rng), draw_model(9, 3, rng))


def test_harder_models_ask_for_more_documents(rng):
    _, _, easy = make_slda(1, n_topics=5, random_state=0)
    _, _, hard = make_slda(1, n_topics=40, random_state=0)
    few, many = diagnose(easy, 1000), diagnose(hard, 1000)
    assert few.two_stage[2] < many.two_stage[2]
    assert few.joint[2] < many.joint[2]
    # the response can only help to tell topics apart (Weyl)
    assert few.joint_sigma_k >= few.sigma_k
