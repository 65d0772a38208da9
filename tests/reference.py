"""A third backend, of the numpy line of each docstring, for documents that are nowhere else.

Its arrays are of a class of their own which, as those of a GPU, cannot be mixed with numpy's: what
does not go by ``backends.of`` fails.  ``FETCHED`` counts rows that came to the host.
"""

import sys
from types import SimpleNamespace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import digamma

from topicprism.backends import by_blocks, fallback
from topicprism.documents.corpus import Corpus, take_rows
from topicprism.documents.corpus import document_keys as host_keys
from topicprism.kernels.many import MAX_DECREASE
from topicprism.kernels.propagation import PROPAGATION

BLOCK = 700  # documents
FETCHED = []


class There(np.ndarray):
    """Numbers in another place."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        given = [here(x) for x in (*inputs, *out)]
        if out:
            options["out"] = tuple(given[len(inputs) :])
        made = getattr(ufunc, method)(*given[: len(inputs)], **options)
        return out[0] if out else there(made)

    def __array_function__(self, function, types, args, options):
        each = [*args, *options.values()]
        each += [x for one in each if isinstance(one, list | tuple) for x in one]
        for x in each:
            here(x)
        return there(super().__array_function__(function, types, args, options))


def here(x):
    if isinstance(x, There):
        return x.view(np.ndarray)
    if isinstance(x, np.ndarray) and x.ndim:
        raise TypeError("an array of numpy among those of another place")
    return x


def there(x):
    return x.view(There) if isinstance(x, np.ndarray) else x


def array(values):
    return there(np.array(values))


def numpy(values):
    assert isinstance(values, There)
    return np.array(values.view(np.ndarray))


def _placing(make):
    return lambda *args, **options: there(make(*args, **options))


xp = SimpleNamespace(
    zeros=_placing(np.zeros),
    vander=np.vander,
    stack=_placing(np.stack),
)


class RowsThere:
    """Rows of documents, of which nobody can see the entries without fetching them."""

    backend = sys.modules[__name__]
    store = None

    def __init__(self, X, weigh=None):
        self._X, self._weigh, self.shape = csr_array(X).astype(float), weigh, X.shape

    def between(self, start, stop):
        return RowsThere(self._X[start:stop], self._weigh)

    def taken(self, which):
        return RowsThere(self._X[which], self._weigh)

    def weighed(self, burstiness, burst_words, on_host):
        return RowsThere(self._X, on_host)

    def over(self, words):
        return RowsThere(self._X[:, words])

    @property
    def evidence(self):
        return self._X if self._weigh is None else self._weigh(self._X).to_csr()

    @property
    def on_host(self):
        FETCHED.append(self.shape[0])
        return take_rows(self.evidence, 0, self.shape[0])

    indptr = property(lambda self: self.on_host.indptr)
    indices = property(lambda self: self.on_host.indices)
    data = property(lambda self: self.on_host.data)
    nnz = property(lambda self: self._X.nnz)

    def to_csr(self):
        return self.on_host.to_csr()


def placed(X):
    return RowsThere(X.to_csr() if hasattr(X, "to_csr") else X)


def pieces(X, n_threads):
    return 2


def lengths(X):
    return X._X.sum(axis=1)


def occurrences(X):
    return X._X.sum(axis=0)


def document_keys(X):
    return host_keys(X._X.astype(np.uint32))


def _weights(X, half):
    m = X._X.sum(axis=1)
    long = m >= 3
    w = np.where(long, m / np.maximum(m + half, 1e-300), 0)
    c1 = np.divide(w, m, out=np.zeros_like(m), where=long)
    c2 = np.divide(c1, m - 1, out=np.zeros_like(m), where=long)
    return np.stack([w, c1, c2, np.divide(c2, m - 2, out=np.zeros_like(m), where=long)])


def word_sums(X, y, half):
    y, (w, c1, c2, _), counts = here(y), _weights(X, half), X._X
    again = counts.multiply(counts - csr_array((np.ones(counts.nnz), *_pattern(counts))))
    sums = [counts.T @ c1, counts.T @ (c1 * y), counts.T @ c2, again.T @ c2]
    return there(w), np.column_stack(sums)


def _pattern(X):
    return X.indices, X.indptr


def pair_products(X, S, half):
    return X._X.T @ (_weights(X, half)[2][:, None] * (X._X @ np.asarray(S, float)))


def sketch_sums(X, t, B, half):
    return by_blocks.sketch_sums(sys.modules[__name__], X, t, B, half)


def blocks(X):
    n = X.shape[0]
    return [(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK)]


def project(X, rows, t, B, half, Q, sums):
    own = X.between(*rows)
    counts, (w, c1, c2, c3), t = own._X, _weights(own, half), here(t)
    P = counts @ here(B)
    Q += there(counts.T @ (c3[:, None] * P))
    sums[:, :3] += there(np.column_stack([counts.T @ c2, counts.T @ (c2 * t), counts.T @ c3]))
    return there(P), there(np.column_stack([w, c1, c2, c3]))


def product(A, P):
    return A @ P


def add_triples(T, P, w):
    T += there(np.einsum("d,di,dj,dl->ijl", *map(here, (w, P, P, P)), optimize=True))


def propagate(X, mu, alpha, limits, h, totals, converged):
    fallback.propagate(X, mu, alpha, limits, (h, totals, converged), _sweep)


def _sweep(X, mu, alpha, limits, h, totals, converged):
    """Sweeps over all documents at once, a word of each at a time."""
    counts, k = X.evidence, len(alpha)
    size = np.diff(counts.indptr)
    longest, n_documents = size.max(initial=0), len(h)
    entry = counts.indptr[:-1, None] + np.arange(longest)
    inside = np.arange(longest) < size[:, None]
    words = np.where(inside, np.append(counts.indices, 0)[np.where(inside, entry, 0)], 0)
    n = np.where(inside, np.append(counts.data, 0)[np.where(inside, entry, 0)], 0)
    sites, g = np.zeros((longest, n_documents, k)), np.tile(alpha, (n_documents, 1))
    going, length = np.ones(n_documents, bool), n.sum(axis=1)
    converged[:] = False
    for sweep in range(min(limits[0], PROPAGATION.first_sweeps)):
        share = PROPAGATION.damping * min(1, PROPAGATION.full_step_sweeps / max(sweep, 1))
        moved, blocked = np.zeros(n_documents), np.zeros(n_documents)
        for j in range(longest):
            x, site = n[:, j], sites[j]
            step, far, stuck = _visit(mu[words[:, j]], x, share, site, g)
            step[~going] = 0
            sites[j] = site + step
            g = g + step * x[:, None]
            moved, blocked = np.maximum(moved, far), blocked + stuck * x
        few = blocked <= PROPAGATION.max_blocked_share * length
        ends = (moved < limits[1]) | (~few & (sweep >= 2 * PROPAGATION.full_step_sweeps))
        converged[going & ends] = few[going & ends]
        going &= ~ends
    totals[:] = g.sum(axis=1)
    h[:] = g / totals[:, None]


def _visit(mu_w, x, share, site, g):
    """The docstring of ``propagation.propagate``, for a word of each document."""
    c = g - site
    with np.errstate(all="ignore"):
        r = mu_w * c / (mu_w * c).sum(axis=1, keepdims=True)
        c0 = c.sum(axis=1, keepdims=True)
        mean = (c + r) / (c0 + 1)
        sq = (c + 1) * (c + 2 * r) / ((c0 + 1) * (c0 + 2))
        new = mean * ((mean - sq).sum(axis=1) / (sq - mean**2).sum(axis=1))[:, None] - c
        if len(g.T) == 1:
            new = r
        change = new - site
        limit = np.where(change < 0, -MAX_DECREASE * g / change, np.inf).min(axis=1)
        step = np.minimum(share, limit / x)
    stuck = (x > 0) & (c < 0).any(axis=1)
    moves = (x > 0) & ~stuck & ((mu_w * c).sum(axis=1) > 0)
    far = PROPAGATION.damping * x * np.abs(change).max(axis=1) / (c0[:, 0] + 1)
    return np.where(moves[:, None], step[:, None] * change, 0), np.where(moves, far, 0), stuck


def assign(X, mu, alpha, n_sweeps, expected, shares):
    for row in X.evidence:
        w, n = row.indices, row.data
        c, r = alpha, np.zeros((len(w), len(alpha)))
        for _ in range(n_sweeps):
            norm = (mu[w] * c).sum(axis=1, keepdims=True)
            r = np.divide(mu[w] * c, norm, out=np.zeros_like(r), where=norm > 0)
            z = n @ r
            c = np.exp(digamma(alpha + z))
        expected[w] += n[:, None] * r
        shares += (alpha + z) / (alpha + z).sum()


class DocumentsThere:
    """Documents of this backend, as an engine keeps them."""

    def __init__(self, corpus, n_threads=1):
        ordered = corpus.in_key_order()
        self.corpus = Corpus(placed(ordered.counts), ordered.y, by_key=True)
        self.n_words, self.n_threads = corpus.n_words, n_threads

    def total(self, part, *shared):
        return part(self.corpus, *shared)

    def in_key_order(self, n_documents):
        return self

    @property
    def mirrored(self):
        return DocumentsThere(Corpus(self.corpus.counts.on_host, -self.corpus.y))

    def kept(self, corpus):
        return DocumentsThere(corpus)

    def over(self, words):
        c = self.corpus
        return DocumentsThere(Corpus(take_rows(c.counts._X[:, words], 0, len(c)), c.y))
