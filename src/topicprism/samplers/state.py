"""What a sampler knows at each moment, where it starts, and how it ends as a Model.

==========  =======  ======================================================
code        paper    meaning
==========  =======  ======================================================
mu          mu, O    word probabilities of each topic                 (V, k)
shares      h        what the response depends on: h or zbar          (D, k)
z           z        topic of each word, when h is integrated out
eta         eta      effects; one column for each of L responses      (k, L)
noise       sigma^2  variance of the response
target      --       what the response asks eta . shares to be        (D, L)
precision   --       how firmly: 1 / sigma^2 for sLDA                 (D, L)
prior_shift --       counts added to those of words, or taken off     (V, k)
==========  =======  ======================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicprism._typing import Array, Counts, Doc, DocTopic, Ints, Topic, WordTopic
from topicprism.documents.corpus import Rows, document_keys, taken
from topicprism.evaluation import SMOOTHING
from topicprism.limits import fits
from topicprism.model import Model, ResponseScale

RESPONSES = ("mixture", "assignments")
MAX_REPEATS = 10**8  # of a word in one document: counts are int32, and each time is a draw
DocResponse = Annotated[Array, "D L"]
TopicResponse = Annotated[Array, "k L"]


@dataclass(frozen=True)
class SamplerDefaults:
    """For a response of variance 1; not tuned, unless a reason is given."""

    noise_shape: float = 1.0  # of the inverse gamma prior of sigma^2: worth two documents,
    noise_rate: float = 0.1  # with residuals whose mean square is 0.1
    eta_variance: float = 100.0  # of the prior of coefficients: next to no prior
    smoothing: float = SMOOTHING  # uniform words in topics a chain starts from: no word has 0
    shift_every: int = 10  # sweeps between shifts of the topics' prior, each a pass of its own
    window: int = 10  # sweeps over which the paper's rule averages; it names no number


SAMPLER = SamplerDefaults()


class Family(Protocol):
    """How the response depends on its fit, eta . shares."""

    def augment(
        self, Y: DocResponse, fit: DocResponse, noise: float, rng: np.random.Generator
    ) -> tuple[DocResponse, DocResponse]:
        """Target and precision of each response."""
        ...

    def draw_noise(self, Y: DocResponse, fit: DocResponse, rng: np.random.Generator) -> float: ...

    def log_likelihood(self, Y: DocResponse, fit: DocResponse, noise: float) -> float: ...


@dataclass(frozen=True)
class Gaussian:
    """y ~ Normal(fit, noise); its likelihood is raised to the power ``weight``."""

    weight: float = 1.0

    def augment(
        self, Y: DocResponse, fit: DocResponse, noise: float, rng: np.random.Generator
    ) -> tuple[DocResponse, DocResponse]:
        return Y, np.full(Y.shape, self.weight / noise)

    def draw_noise(self, Y: DocResponse, fit: DocResponse, rng: np.random.Generator) -> float:
        shape = SAMPLER.noise_shape + self.weight * Y.size / 2
        rate = SAMPLER.noise_rate + self.weight * float(((Y - fit) ** 2).sum()) / 2
        return rate / float(rng.standard_gamma(shape))

    def log_likelihood(self, Y: DocResponse, fit: DocResponse, noise: float) -> float:
        squares = float(((Y - fit) ** 2).sum())
        return -0.5 * (Y.size * float(np.log(2 * np.pi * noise)) + squares / noise)


@dataclass(frozen=True)
class Plan:
    """What is sampled, apart from the data."""

    response: str = "mixture"
    family: Family = Gaussian()
    beta: float = 0.1
    eta_variance: float = SAMPLER.eta_variance
    learn_alpha: bool = False
    frozen: tuple[int, ...] = ()  # topics that keep their words
    n_fixed_eta_sweeps: int = 0  # in which eta and noise stay as they began
    prior_shift: Callable[[State], WordTopic] | None = None  # a state's, from now on
    shift_every: int = SAMPLER.shift_every


@dataclass(frozen=True)
class Observed:
    """Counts as the kernels read them, and L responses for each document."""

    X: Counts
    Y: DocResponse

    @property
    def n_documents(self) -> int:
        return int(self.X.shape[0])

    @cached_property
    def n_words(self) -> int:
        return int(self.X.data.sum())


@dataclass(frozen=True)
class State:
    """Everything unknown, after ``sweep`` sweeps; with the seed, all a chain needs to go on."""

    seed: int
    sweep: int
    alpha: Topic
    mu: WordTopic
    eta: TopicResponse
    noise: float
    shares: DocTopic
    z: NDArray[np.int32]
    log_likelihood: float = float("nan")  # of words and responses, per word
    acceptance: float = float("nan")  # of the Metropolis steps
    prior_shift: WordTopic | None = None

    def of_documents(self, which: Ints, lengths: Ints) -> State:
        """The same with its documents, which have these lengths, in the order ``which``."""
        z = self.z
        if len(z):
            starts = np.concatenate([[0], np.cumsum(lengths)])
            z = taken(Rows(starts, z, z, (len(lengths), 1)), which).data
        return replace(self, shares=self.shares[which], z=z)


@dataclass(frozen=True)
class KeyOrder:
    """The order of keys, in which a chain has its documents: any order of rows is one chain.

    Documents alike are in the order of their responses; those with equal ones are exchangeable.
    """

    rows: Ints  # of the user, in the order of their keys
    keys: NDArray[np.uint64]  # in this order, and so are lengths
    lengths: Ints

    @classmethod
    def of(cls, counts: Counts, Y: DocResponse) -> KeyOrder:
        keys = document_keys(counts)
        rows = np.lexsort((*Y.T, keys))
        lengths = np.asarray(counts.sum(axis=1), dtype=np.intp).ravel()
        return cls(rows, keys[rows], lengths[rows])

    def to_rows(self, state: State) -> State:
        """A state of documents in this order, in that of the rows."""
        return state.of_documents(np.argsort(self.rows), self.lengths)

    def of_rows(self, state: State) -> State:
        """A state of the rows, in this order."""
        return state.of_documents(self.rows, self.lengths[np.argsort(self.rows)])


def check_room(counts: Counts, n_topics: int, response: str) -> None:
    """Refuse what no chain can hold: it has a row of topics for each word type and document,
    before and after a sweep, a covariance of topics, and a draw for every single word."""
    (D, V), most = counts.shape, float(counts.data.max(initial=0))
    need, n_words = 16 * n_topics * (V + D + n_topics), float(counts.data.sum(dtype=float))
    if most > MAX_REPEATS:
        raise ValueError(
            f"a word is counted {most:g} times in one document, but a sampler draws a topic for "
            f"each time and at most {MAX_REPEATS} were expected; check the counts, or use "
            "SpectralSLDA"
        )
    if not fits(need):
        raise ValueError(
            f"n_topics={n_topics} with {V} word types and {D} documents takes "
            f"{need / 2**30:.3g} GiB, which is more than the memory of this "
            "machine; try 10"
        )
    if response == "assignments" and not fits(16 * n_words):
        raise ValueError(
            f"{n_words:g} words with a topic each take {16 * n_words / 2**30:.3g} GiB, which is "
            "more than the memory of this machine; fit fewer documents, or use SpectralSLDA"
        )


def observe(counts: Counts, Y: DocResponse, response: str) -> Observed:
    """Word counts as they are for "mixture", one entry for each word for "assignments"."""
    n = counts.data.astype(np.int32)
    indptr, words = counts.indptr.astype(np.int64), counts.indices.astype(np.int32)
    if response == "assignments":
        indptr = np.concatenate([[0], np.cumsum(n, dtype=np.int64)])[indptr]
        words, n = np.repeat(words, n), np.ones(n.sum(), np.int32)
    return Observed(csr_array((n, words, indptr), shape=counts.shape), Y)


def init(data: Observed, start: Model, plan: Plan, seed: int, h: DocTopic | None = None) -> State:
    """A chain at the given model; without ``h``, the documents' proportions are the prior's."""
    k, L = start.n_topics, data.Y.shape[1]
    rng = np.random.default_rng(seed)
    if h is None:
        h = rng.dirichlet(start.alpha, size=data.n_documents)
    tokens = data.X.nnz if plan.response == "assignments" else 0
    return State(
        seed=seed,
        sweep=0,
        alpha=start.alpha.astype(float),
        mu=(1 - SAMPLER.smoothing) * start.mu + SAMPLER.smoothing / start.n_words,
        eta=np.repeat(start.eta.astype(float)[:, None], L, axis=1).reshape(k, L),
        noise=start.sigma**2,
        shares=h,
        z=np.full(tokens, -1, np.int32),
    )


def flat(n_words: int, alpha: Topic) -> Model:
    """Topics that are all alike, for a chain to start from nothing."""
    k = len(alpha)
    return Model(alpha, np.full((n_words, k), 1 / n_words), np.zeros(k), 1.0)


# --- from states to a model -----------------------------------------------------------


def standardise(y: Doc) -> tuple[Doc, ResponseScale]:
    """t of mean 0, variance 1 and its largest deviation above 0, and its scale.

    The sign makes the chain for -y the mirror image of the chain for y.
    """
    centre = float(y.mean())
    apart = y - centre
    scale = float(np.copysign(y.std(), apart[np.abs(apart).argmax()]))
    return apart / scale, ResponseScale(centre, scale)


@dataclass(frozen=True)
class Kept:
    """Sums over kept states; ``a + b`` is the sum over both."""

    n: int
    alpha: Topic
    mu: WordTopic
    eta: TopicResponse
    noise: float

    def __add__(self, other: Kept) -> Kept:
        return Kept(
            self.n + other.n, self.alpha + other.alpha, self.mu + other.mu,
            self.eta + other.eta, self.noise + other.noise,
        )  # fmt: skip


def keep(state: State) -> Kept:
    return Kept(1, state.alpha, state.mu, state.eta, state.noise)


def to_model(
    kept: Kept,
    scale: ResponseScale = ResponseScale(0.0, 1.0),  # noqa: B008 - frozen
) -> Model:
    """Means over the kept states; of several responses, eta is that of the first."""
    n, sigma = kept.n, float(np.sqrt(kept.noise / kept.n))
    return Model(kept.alpha / n, kept.mu / n, kept.eta[:, 0] / n, sigma).in_units(scale)


def mean_assignment(model: Model, h: DocTopic, lengths: Doc) -> DocTopic:
    """E[zbar | words] from E[h | words] = (alpha + m E[zbar]) / (alpha0 + m)."""
    m = lengths[:, None]
    z = ((model.alpha.sum() + m) * h - model.alpha) / np.maximum(m, 1)
    return np.where(m > 0, z, h)
