"""In whatever order rows are, a fit is the same, and so is what is said of each document."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, vstack
from sklearn.base import clone, is_classifier
from varied_texts import varied_texts

from topicprism import (
    AnchorLDA,
    AnchorSLDA,
    AutoSLDA,
    DiscLDA,
    GibbsSLDA,
    HybridSLDA,
    MedLDA,
    MedLDAClassifier,
    Model,
    SpectralLDA,
    SpectralSLDA,
    VariationalSLDA,
    VariationalSLDAClassifier,
)
from topicprism.inference import EPInference, GibbsInference, infer
from topicprism.vectorizer import FastCountVectorizer

ONE = {"random_state": 0}
CHAIN = ONE | {"burn_in": 4, "n_kept": 3}
EM = ONE | {"n_iterations": 15}
ESTIMATORS = {
    "GibbsSLDA": GibbsSLDA(5, **CHAIN),
    "GibbsSLDA, assignments": GibbsSLDA(5, response="assignments", learn_alpha=True, **CHAIN),
    "GibbsSLDA, draws": GibbsSLDA(5, cross_fit=False, **CHAIN),
    "MedLDA": MedLDA(5, **CHAIN),
    "MedLDA, refit": MedLDA(5, refit=True, **CHAIN),
    "MedLDAClassifier": MedLDAClassifier(5, **CHAIN),
    "HybridSLDA": HybridSLDA(5, **CHAIN),
    "HybridSLDA, steered": HybridSLDA(5, **CHAIN),
    "HybridSLDA, paper": HybridSLDA(5, regime="paper", alpha0=1.0, **CHAIN),
    "AutoSLDA": AutoSLDA(5, **ONE),
    "SpectralSLDA": SpectralSLDA(5, **ONE),
    "SpectralSLDA, paper": SpectralSLDA(5, regime="paper", alpha0=1.0, **ONE),
    "SpectralLDA": SpectralLDA(5, **ONE),
    "AnchorSLDA": AnchorSLDA(5, **ONE),
    "AnchorLDA": AnchorLDA(5, **ONE),
    "VariationalSLDA": VariationalSLDA(5, **EM),
    "VariationalSLDAClassifier": VariationalSLDAClassifier(5, **EM),
    "DiscLDA": DiscLDA(5, **EM),
}
TO_THE_BIT = ("GibbsSLDA", "MedLDA", "HybridSLDA", "AutoSLDA", "Spectral")
CHAINS = (GibbsSLDA, MedLDA, MedLDAClassifier, HybridSLDA)

pytestmark = [
    pytest.mark.filterwarnings("ignore::topicprism.NothingPredictedWarning"),
    pytest.mark.filterwarnings("ignore::topicprism.ShortDocumentsWarning"),
    pytest.mark.filterwarnings("ignore::topicprism.CopiesWarning"),
]


@pytest.fixture(scope="module")
def table():
    """Counts, numbers and labels; some documents are there twice, with one response and with two,
    and some have no words."""
    texts, y = varied_texts(500)
    X = FastCountVectorizer(min_df=2, max_df=0.5).fit_transform(texts)
    X = csr_array(vstack([X, X[:30], csr_array((3, X.shape[1]), dtype=X.dtype)]))
    y = np.array([*y, *y[:20], *np.add(y[20:30], 1), 2.0, 3.0, 4.0])
    return X, y, np.array(["bad", "fair", "good"])[np.digitize(y, [2.5, 3.5])]


def response(estimator, table):
    _, y, labels = table
    return labels if is_classifier(estimator) else y


def answers(estimator, X):
    """All that is not of single documents, and what is said of those of X."""
    names = ("components_", "alpha_", "coef_", "coef_std_", "replication_", "noise_variance_")
    names += ("predictive_variance_", "coef_draws_", "transformations_", "class_prior_")
    found = {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}
    found["topics of documents"] = estimator.transform(X)
    for name in ("decision_function", "predict_proba"):
        if hasattr(estimator, name):
            found[name] = getattr(estimator, name)(X)
    if hasattr(estimator, "predict") and not is_classifier(estimator):
        found["predict"] = estimator.predict(X)
    return found


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_permutation_of_rows_changes_nothing(table, short_chains, name, monkeypatch):
    if name == "HybridSLDA, steered":
        monkeypatch.setattr(HybridSLDA, "_few", False)
    X, y, t = table[0], table[1], response(ESTIMATORS[name], table)
    fitted = clone(ESTIMATORS[name]).fit(X, t)
    if name == "AutoSLDA":
        assert "Gibbs chain" in fitted.selection_.reasons["method"]
    known = answers(fitted, X)
    for order in (np.random.default_rng(1).permutation(len(y)), np.argsort(y, kind="stable")):
        other = answers(clone(ESTIMATORS[name]).fit(X[order], t[order]), X)
        assert other.keys() == known.keys()
        for what, value in known.items():
            atol = 0 if name.startswith(TO_THE_BIT) and not what.startswith("pre") else 1e-9
            assert_allclose(other[what], value, rtol=0, atol=atol, err_msg=what)


@pytest.mark.parametrize("name", [n for n, e in ESTIMATORS.items() if isinstance(e, CHAINS)])
def test_a_chain_goes_on_from_the_same_documents_in_another_order(table, name):
    """Its states are those of the rows that were given last."""
    X, t = table[0], response(ESTIMATORS[name], table)
    parts, order = clone(ESTIMATORS[name]).set_params(burn_in=3), np.arange(len(t))[::-1]
    parts.fit(X, t).set_params(warm_start=True, burn_in=0, n_kept=2).fit(X[order], t[order])
    whole = clone(parts).set_params(warm_start=False, burn_in=6).fit(X, t)
    assert parts.n_sweeps_ == whole.n_sweeps_ == 8
    assert_array_equal(parts.components_, whole.components_)
    assert_array_equal(parts.state_.mu, whole.state_.mu)
    once = slice(30, 500)  # others are exchangeable
    assert_array_equal(parts.state_.shares[order][once], whole.state_.shares[once])
    assert np.ptp(whole.state_.shares[once], axis=0).min() > 0.1
    if len(whole.state_.z):
        starts = np.concatenate([[0], np.cumsum(np.asarray(X.sum(axis=1)))]).astype(int)
        turned = np.concatenate([whole.state_.z[i:j][::-1] for i, j in pairwise(starts)])
        words = slice(starts[once.start], starts[once.stop])
        assert_array_equal(parts.state_.z[::-1][words], turned[words])


def test_other_documents_of_the_same_number_are_refused(table):
    X, y, _ = table
    model = GibbsSLDA(5, warm_start=True, **CHAIN | {"cross_fit": False}).fit(X, y)
    with pytest.raises(ValueError, match=r"the chain so far is of 533 others; fit the same"):
        model.fit(X[:, ::-1], y)
    model.fit(X, y[::-1])  # corrected responses, say


def test_a_callback_sees_the_documents_in_the_order_of_the_rows(table):
    X, y, _ = table
    seen = []
    model = GibbsSLDA(5, callback=lambda progress: seen.append(progress.state), **CHAIN)
    model.set_params(cross_fit=False).fit(X, y)
    assert_array_equal(seen[-1].shares, model.state_.shares)


@pytest.mark.parametrize("how", [EPInference(), GibbsInference(burn_in=3, n_sweeps=5)])
@pytest.mark.parametrize(("n_topics", "alpha0"), [(2, 0.1), (4, 0.3), (4, 3.0), (12, 0.1)])
def test_inference_of_a_document_does_not_depend_on_its_row(rng, how, n_topics, alpha0):
    """Documents of 1 to 3,000 words, by sweeps, filtered and checked by importance sampling."""
    mu = rng.dirichlet(np.full(50, 0.5), n_topics).T
    lengths = np.repeat([1, 3, 10, 40, 3000], 8)
    h = rng.dirichlet(np.full(n_topics, alpha0 / n_topics), len(lengths))
    X = csr_array(np.array([rng.multinomial(m, mu @ p) for m, p in zip(lengths, h, strict=True)]))
    model = Model(np.full(n_topics, alpha0 / n_topics), mu, np.zeros(n_topics), 1.0)
    order = rng.permutation(len(lengths))
    found = infer(model, X, how)
    assert_array_equal(infer(model, X[order], how, n_threads=2), found[order])
    assert_array_equal(infer(model, X[order[:7]], how), found[order[:7]])
