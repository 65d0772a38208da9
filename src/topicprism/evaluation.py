"""How close is the model to the data, and to the truth when it is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.metrics import r2_score

from topicprism._typing import Array, Counts, Doc, DocTopic, Ints, Topic, WordTopic
from topicprism.documents.corpus import Rows, as_csr, cut, document_keys, take_rows
from topicprism.documents.sums import RunningMoments
from topicprism.inference import infer
from topicprism.kernels import keys as kernels
from topicprism.model import Model
from topicprism.validation import check_counts

SMOOTHING = 1e-3  # uniform words in a predictive distribution: no held-out word is impossible
BLOCK = 1_000_000  # probabilities of words by topic that are held at once
N_TOP_WORDS = 10  # of a topic, as in published measures of coherence
# Least similarity of a topic found again.  On three corpora of reviews (experiments/stability.py)
# 95 % of the pairs of different topics, of 20, are below 0.43 to 0.70.  Counterparts with 0.6 to
# 0.7 have 9 % of their top words in common, with 0.7 to 0.8 22 %, above 0.9 70 %.
SAME_TOPIC = 0.7


Z95 = 1.96  # standard errors on either side of a 95 % interval
LEAST_R2 = 0.05  # in the formula of its standard error, which is nothing at an R2 of 0


@dataclass(frozen=True)
class RecoveryErrors:
    """Mean over topics of the L1 distance to the truth, topics matched."""

    alpha: float
    mu: float
    eta: float


def pr2(y: Doc, y_hat: Doc, weights: Doc | None = None) -> float:
    """Predictive R^2: 1 - sum (y - y_hat)^2 / sum (y - mean y)^2, the mean over the same y."""
    return float(r2_score(y, y_hat, sample_weight=weights))


def r2_std(r2: float, n: int) -> float:
    """Standard error of an R2 of n documents held out: 2 R (1 - R2) / sqrt(n)."""
    return float(2 * np.sqrt(max(r2, LEAST_R2)) * (1 - r2) / np.sqrt(max(n, 1)))


class RunningPR2:
    """``pr2`` of documents that come some at a time; None while their responses do not vary."""

    def __init__(self) -> None:
        self.n, self._y, self._errors = 0, RunningMoments(0, 0.0, 0.0), 0.0

    def add(self, y: Doc, y_hat: Doc) -> None:
        self.n += len(y)
        self._y += RunningMoments.of(y, np.ones(len(y)))
        self._errors += float(((y - y_hat) ** 2).sum())

    def __add__(self, other: RunningPR2) -> RunningPR2:
        """Of the documents of both."""
        both = RunningPR2()
        both.n, both._y = self.n + other.n, self._y + other._y
        both._errors = self._errors + other._errors
        return both

    @property
    def value(self) -> float | None:
        return 1 - self._errors / self._y.squares if self._y.squares > 0 else None


def match(model: Model, truth: Model) -> Ints:
    """The topic of ``model`` that stands for each topic of ``truth`` (least total L1)."""
    if (model.n_words, model.n_topics) != (truth.n_words, truth.n_topics):
        raise ValueError(
            f"got models of {model.n_words} words and {model.n_topics} topics and of "
            f"{truth.n_words} and {truth.n_topics}, but only models of one size can be matched; "
            "learn as many topics as the truth has"
        )
    cost = cdist(truth.mu.T, model.mu.T, "cityblock")
    return np.asarray(linear_sum_assignment(cost)[1])


def bhattacharyya(a: WordTopic, b: WordTopic) -> Array:
    """sum_w sqrt(a[w, i] b[w, j]) of topics over the same words, one column each.

    It is 1 for the same word distribution and 0 for two without a word in common.
    """
    if a.shape[0] != b.shape[0]:
        raise ValueError(
            f"got topics over {a.shape[0]} words and over {b.shape[0]}, but only topics over one "
            "vocabulary can be matched; fit both to counts with the same columns"
        )
    found: Array = np.sqrt(np.maximum(a, 0)).T @ np.sqrt(np.maximum(b, 0))
    return np.minimum(found, 1.0)  # a rounding error above


def matched_topics(a: WordTopic, b: WordTopic) -> tuple[Ints, Topic]:
    """For each topic of ``a`` the topic of ``b`` that stands for it, and how similar they are.

    Topics are word distributions, one column each over the same words.  Pairs are one to one, with
    the largest sum of the Bhattacharyya coefficient, which is the similarity returned.  A topic of
    ``a`` that is left over because ``b`` has fewer gets -1 and similarity 0.
    """
    similarity = bhattacharyya(a, b)
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    order, found = np.full(a.shape[1], -1, np.intp), np.zeros(a.shape[1])
    order[rows], found[rows] = columns, similarity[rows, columns]
    return order, found


def recovery_errors(model: Model, truth: Model) -> RecoveryErrors:
    same = model.reordered(match(model, truth))
    return RecoveryErrors(
        alpha=float(np.abs(same.alpha - truth.alpha).mean()),
        mu=float(np.abs(same.mu - truth.mu).sum(axis=0).mean()),
        eta=float(np.abs(same.eta - truth.eta).mean()),
    )


def word_log_likelihood(
    model: Model, counts: Counts, h: DocTopic, smoothing: float = SMOOTHING
) -> float:
    """The paper's: mean over words of log sum_j mu[w, j] h_j, h inferred from the same words.

    ``smoothing`` mixes a uniform distribution in, so that a word no topic has
    costs a finite amount.
    """
    total = float(counts.data.sum())
    if total == 0:
        raise ValueError(
            "all documents are empty, so there is no word to score; check that the vocabulary is "
            "the one used in training"
        )
    logs = 0.0
    for start, stop in cut(counts, 1 + counts.nnz * model.n_topics // BLOCK):
        X = take_rows(counts, start, stop)
        rows = np.repeat(np.arange(start, stop), np.diff(X.indptr))
        p = np.einsum("jk,jk->j", model.mu[X.indices], h[rows])
        logs += float(X.data @ np.log((1 - smoothing) * p + smoothing / model.n_words))
    return logs / total


def completion_log_likelihood(
    model: Model,
    counts: Counts,
    rng: np.random.Generator,
    smoothing: float = SMOOTHING,
    n_threads: int = 1,
) -> float:
    """Held-out, per word: h from one half of each document's words scores the other half."""
    first_half, second_half = halves(counts, rng)
    h = infer(model, first_half, n_threads=n_threads)
    return word_log_likelihood(model, second_half, h, smoothing)


def halves(counts: Counts, rng: np.random.Generator) -> tuple[Counts, Counts]:
    """A random half of each document's words, and the other, which is no larger."""
    return split_words(counts, document_keys(counts), int(rng.integers(2**63)))


def split_words(
    counts: Counts | Rows, keys: NDArray[np.uint64], seed: int
) -> tuple[Counts, Counts]:
    """The same by the key of a document and a seed, wherever the document is."""
    n = counts.data.astype(np.int64)
    first = np.empty_like(n)
    kernels.split_words(counts.indptr, n, keys, seed, first)
    sides = []
    for side in (first, n - first):
        X = csr_array((side, counts.indices, counts.indptr), counts.shape, copy=True)
        X.eliminate_zeros()
        sides.append(X)
    return sides[0], sides[1]


def npmi(top_word_ids: Iterable[Sequence[int] | Ints], counts: Counts) -> Topic:
    """Coherence of each topic: mean over pairs of its top words of their NPMI in ``counts``.

    With p the share of documents that have a word, or both::

        NPMI = log(p_ij / (p_i p_j)) / -log(p_ij) = log(p_i p_j) / log(p_ij) - 1

    It is 1 for words that are always together and -1 for words that never are, a word of no
    document included.  A word of all documents is independent of any other: 0.  A word given
    twice counts once; a topic of one word has no pair and gets nan.
    """
    X = check_counts(counts)
    topics = [_word_ids(ids, X.shape[1]) for ids in top_word_ids]
    words = np.unique(np.concatenate([np.empty(0, np.intp), *topics]))
    return npmi_of(topics, words, together(X, words), X.shape[0])


def together(counts: Counts | Rows, words: Ints) -> Ints:
    """In how many documents each two of these words are; on the diagonal, each of them."""
    present = (as_csr(counts)[:, words] > 0).astype(np.int64)
    return np.asarray((present.T @ present).toarray())


def npmi_of(topics: Sequence[Ints], words: Ints, both: Ints, n_documents: int) -> Topic:
    """``npmi`` from what is ``together``, of sorted words that every topic's are among."""
    at = [np.searchsorted(words, ids) for ids in topics]
    return np.array([_mean_npmi(both[np.ix_(i, i)], n_documents) for i in at])


def _mean_npmi(both: Ints, n_documents: int) -> float:
    i, j = np.triu_indices(len(both), 1)
    if len(i) == 0:
        return float("nan")
    p, each = both[i, j] / n_documents, np.diag(both) / n_documents
    value = np.where(p == 1, 0.0, -1.0)
    known = (p > 0) & (p < 1)
    apart = np.log(each[i[known]]) + np.log(each[j[known]])
    value[known] = apart / np.log(p[known]) - 1
    return float(value.mean())


def exclusivity(top_word_ids: Iterable[Sequence[int] | Ints], mu: WordTopic) -> Topic:
    """How much each topic's top words are its own: mean over them of ``own_shares``.

    It is 1 for words that no other topic has, and 1 / k for words that all have alike.  A topic of
    no words gets nan.
    """
    shares, topics = own_shares(mu), [_word_ids(ids, len(mu)) for ids in top_word_ids]
    means = [shares[ids, i].mean() if len(ids) else np.nan for i, ids in enumerate(topics)]
    return np.array(means)


def own_shares(mu: WordTopic) -> WordTopic:
    """mu[w, i] / sum_j mu[w, j], the exclusivity of a word to a topic; 0 for a word of none."""
    total = mu.sum(axis=1, keepdims=True)
    shares: WordTopic = np.divide(mu, total, out=np.zeros_like(mu), where=total > 0)
    return shares


def _word_ids(ids: Sequence[int] | Ints, n_words: int) -> Ints:
    """Each once; refused unless they are columns."""
    given = np.asarray(ids)
    whole = given.ndim == 1 and (given.dtype.kind in "iu" or given.size == 0)
    if not whole or np.any((given < 0) | (given >= n_words)):
        raise ValueError(
            f"got {given.tolist()!r:.60} as the words of a topic, but expected columns from 0 to "
            f"{n_words - 1}; pass what top_ids gives"
        )
    return np.unique(given).astype(np.intp)
