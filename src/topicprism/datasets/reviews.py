"""Hotel reviews in readable words, drawn from a model that is known.

The words of a review are drawn first, as the model has it, each independently given the
proportions of the aspects; only then are they put in an order that reads like
sentences.  So the counts follow the model exactly, whatever the order.

A clause has a place for each part of speech::

    join  the  noun  verb  adverb  adjective  tail      and the bed was very soft again

Nouns and adjectives belong to an aspect and are paired within it; the other words are a
background that all aspects share, dealt out to the clauses of a review.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topicprism._typing import Array, Counts, Doc, Ints
from topicprism.datasets.slda import draw_corpus
from topicprism.model import Model
from topicprism.validation import generator

JOIN, THE, NOUN, VERB, ADVERB, ADJECTIVE, TAIL = range(7)  # in the order of a clause
LENGTHS = (25, 90)  # words of a review
SIGMA = 0.25  # stars
BACKGROUND = 0.5  # share of the words that no aspect owns


class Aspect(NamedTuple):
    name: str
    stars: float  # expected of a review about nothing else
    alpha: float
    nouns: str
    adjectives: str


REVIEWED = (
    Aspect(
        "dirt", 1.3, 0.16,
        "carpet stain mould dust sheet cockroach curtain drain towel mattress sink rug",
        "dirty filthy broken smelly damp disgusting stained greasy torn rusty mouldy sticky",
    ),
    Aspect(
        "noise", 1.8, 0.16,
        "noise traffic wall street club music neighbour lift door siren party pipe",
        "loud noisy hollow sleepless constant late shouting unbearable rattling banging awake",
    ),
    Aspect(
        "waiting", 2.4, 0.16,
        "queue check desk hour booking key refund manager computer mistake form phone",
        "slow lost wrong rude unhelpful confused missing chaotic understaffed careless delayed",
    ),
    Aspect(
        "price", 2.9, 0.2,
        "price invoice fee money charge tax parking deposit rate card wifi minibar",
        "expensive overpriced hidden extra unfair high steep additional double excessive",
    ),
    Aspect(
        "location", 3.7, 0.24,
        "location station museum metro walk centre beach bus park airport shop harbour",
        "close near central easy handy reachable short walkable sunny convenient scenic",
    ),
    Aspect(
        "food", 4.1, 0.22,
        "breakfast restaurant coffee dinner buffet bread chef fruit menu wine egg dessert",
        "delicious fresh tasty hot varied generous homemade local ripe crisp rich",
    ),
    Aspect(
        "rooms", 4.5, 0.24,
        "room bed bathroom view balcony shower pillow suite window kitchen lamp sofa",
        "comfortable clean spacious quiet bright modern soft large cosy spotless elegant",
    ),
    Aspect(
        "staff", 4.8, 0.22,
        "staff receptionist concierge service host waiter welcome porter team owner smile maid",
        "friendly helpful kind polite attentive warm lovely patient cheerful wonderful caring",
    ),
)  # fmt: skip
SHARED = {  # words of each place of a clause, and the share of the background they make up
    JOIN: ("and but also while then", 0.13),
    THE: ("the our this that their", 0.34),
    NOUN: ("hotel stay night visit trip", 0.07),
    VERB: ("was is felt seemed looked", 0.28),
    ADVERB: ("very really quite so rather just", 0.10),
    ADJECTIVE: ("usual typical ordinary", 0.04),
    TAIL: ("again overall here everywhere throughout", 0.04),
}
ASPECTS = tuple(aspect.name for aspect in REVIEWED)  # in the order of the truth's topics


class Lexicon(NamedTuple):
    """What is known of each word, in alphabetical order."""

    words: NDArray[np.object_]
    place: Ints  # in a clause
    owner: Ints  # the aspect it belongs to; one more than the last for none
    p: Array  # of the word in each topic                         (V, k)


def _lexicon() -> Lexicon:
    k, entries = len(REVIEWED), []
    for i, aspect in enumerate(REVIEWED):
        for place, words in ((NOUN, aspect.nouns), (ADJECTIVE, aspect.adjectives)):
            share = np.eye(k)[i] * (1 - BACKGROUND) / 2
            entries += [(w, place, i, f * share) for w, f in _falling(words)]
    for place, (words, part) in SHARED.items():
        share = np.full(k, BACKGROUND * part)
        entries += [(w, place, k, f * share) for w, f in _falling(words)]
    names, places, owners, p = zip(*sorted(entries, key=lambda entry: entry[0]), strict=True)
    return Lexicon(np.array(names, object), np.array(places), np.array(owners), np.array(p))


def _falling(words: str) -> list[tuple[str, float]]:
    """Frequencies that fall slowly and add up to 1."""
    listed = words.split()
    weights = 1 / np.arange(3, 3 + len(listed))
    return list(zip(listed, (weights / weights.sum()).tolist(), strict=True))


LEXICON = _lexicon()
REVIEW_WORDS = tuple(LEXICON.words.tolist())  # in the order of the rows of the truth's mu


def make_reviews(
    n_documents: int = 5_000, *, random_state: int | np.random.Generator | None = None
) -> tuple[list[str], Doc, Model]:
    """Reviews, their stars and the model that they were drawn from.

    Row v of the model's ``mu`` is the word ``REVIEW_WORDS[v]`` and topic i the aspect
    ``ASPECTS[i]``.  Stars are rounded to a tenth and kept from 1 to 5, which moves few.
    """
    rng = generator(random_state)
    truth = Model(
        alpha=np.array([aspect.alpha for aspect in REVIEWED]),
        mu=LEXICON.p.copy(),
        eta=np.array([aspect.stars for aspect in REVIEWED]),
        sigma=SIGMA,
    )
    X, y, _ = draw_corpus(truth, n_documents, LENGTHS, rng)
    return _written(X, rng), np.round(y.clip(1, 5), 1), truth


def _written(X: Counts, rng: np.random.Generator) -> list[str]:
    """The words of each document in the order of clauses, with stops and capitals."""
    d = np.repeat(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.data)
    w = np.repeat(X.indices.astype(int), X.data)
    clause = _clauses(d, w, rng)
    order = np.lexsort((LEXICON.place[w], clause, d))
    d, w, clause = d[order], w[order], clause[order]

    new_document = np.diff(d, prepend=-1) != 0
    new_clause = (np.diff(clause, prepend=-1) != 0) & (LEXICON.place[w] != JOIN)
    words = LEXICON.words
    capitals = np.array([word.capitalize() for word in words], object)
    pieces = np.stack([" " + words, ", " + words, ". " + capitals, capitals])
    kind = np.where(new_clause, rng.integers(1, 3, len(w)), 0)
    kind[new_document] = 3
    written = pieces[kind, w].tolist()
    edges = np.append(np.flatnonzero(new_document), len(w)).tolist()
    return ["".join(written[a:b]) + "." for a, b in pairwise(edges)]


def _clauses(d: Ints, w: Ints, rng: np.random.Generator) -> Ints:
    """The clause of its document that each word goes to.

    1. the first noun and the first adjective of an aspect make a clause, the second the
       next, and so on; the aspects of a review come in a random order;
    2. each other word goes to a clause that has none of its kind yet, those with both a
       noun and an adjective first.
    """
    place, owner = LEXICON.place[w], LEXICON.owner[w]
    content = (place == NOUN) | (place == ADJECTIVE)
    turn = rng.random((d.max(initial=0) + 1, len(ASPECTS) + 1)).argsort(axis=1)[d, owner]
    nth = _rank(rng, d, turn, place)
    keys = np.stack([d, turn, nth])[:, content]
    found, at, size = np.unique(keys, axis=1, return_inverse=True, return_counts=True)  # 1
    of = found[0]
    clause = np.empty(len(d), int)
    starts = np.searchsorted(of, np.arange(d.max(initial=0) + 2))
    clause[content] = (np.arange(len(of)) - starts[of])[at]
    preferred = np.lexsort((rng.random(len(of)), -size, of)) - starts[of]
    n_clauses = np.diff(starts)[d]
    turns = _rank(rng, d, np.zeros_like(d), place) % n_clauses.clip(1)
    fill = ~content & (n_clauses > 0)
    clause[fill] = preferred[(starts[d] + turns)[fill]]  # 2
    clause[~content & (n_clauses == 0)] = 0
    return clause


def _rank(rng: np.random.Generator, *keys: Ints) -> Ints:
    """Place of each entry among those with the same keys, in a random order."""
    order = np.lexsort((rng.random(len(keys[0])), *keys[::-1]))
    same = np.stack([key[order] for key in keys])
    new = np.append(True, (np.diff(same, axis=1) != 0).any(axis=0))
    first = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    rank = np.empty(len(order), int)
    rank[order] = np.arange(len(order)) - first
    return rank
