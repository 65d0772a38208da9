"""Terms with how often they occur, wherever the texts are; and which of them to keep.

A tally adds up over texts, so that these may be anywhere, and is exact: min_df, max_df and the
limit apply to all texts, never to a part of them.  Where no machine can hold all terms, each splits
its tally by a hash of the terms; buckets are added up, each on some machine, and passes on what may
be kept::

    tallies = [vectorizer.tally(texts) for texts in shards]              one for each shard
    buckets = [sum of tally.split(n)[i] over tallies, for i in range(n)]  one for each machine
    vectorizer.learn(joined(b.frequent(min_df, max_df, limit) for b in buckets))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from topicprism.defaults import RARE_TERMS
from topicprism.documents.sums import Sized
from topicprism.vectorizer.counting import alphabetical, merge, names_of
from topicprism.vectorizer.lexicon import GOLDEN, Ints, Lexicon, empty, insert, take


@dataclass(frozen=True)
class Limits:
    """What the terms of a tally that lacks some were kept by."""

    low: float  # documents that a term is in
    high: float
    n: int | None  # the most frequent terms of each bucket, or None where all are kept

    def check(self, low: float, high: float, limit: int | None) -> None:
        """Refuse what terms that were left out might be needed for."""
        within = self.low <= low and high <= self.high
        same = (self.low, self.high) == (low, high) and limit is not None
        if within and (self.n is None or (same and limit is not None and limit <= self.n)):
            return
        most = "" if self.n is None else f", the {self.n} most frequent of each bucket"
        raise ValueError(
            f"the tally has terms of {self.low:g} to {self.high:g} documents{most}, but min_df, "
            f"max_df and max_features ask for {'all' if limit is None else limit} of {low:g} to "
            f"{high:g} documents; give frequent() the limits of the vectorizer"
        )


@dataclass(frozen=True, eq=False)
class Tally(Sized):
    """Terms of some documents: how often they occur (tf) and in how many documents (df)."""

    lexicon: Lexicon  # frequencies are in ``lexicon.terms``
    n_docs: int
    pruned: Limits | None = None  # if it has some of the terms only

    def __len__(self) -> int:
        return int(self.lexicon.size[0])

    @property
    def n_entries(self) -> int:
        """Of a matrix of the documents with a column for each term."""
        return int(self.lexicon.terms["df"][: len(self)].sum(dtype=np.int64))

    def __add__(self, other: Tally) -> Tally:
        """Of the documents of both."""
        if self.pruned or other.pruned:
            raise ValueError(
                "got tallies of which one lacks rare terms, but these may not be rare in both "
                "together; add the tallies first, and then use frequent()"
            )
        lexicon, _ = merge([self.lexicon, other.lexicon])
        return Tally(lexicon, self.n_docs + other.n_docs)

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has the terms, and not the room for more."""
        return _tally, (self._terms(np.arange(len(self))), self.n_docs, self.pruned)

    def to_dict(self) -> dict[str, tuple[int, int]]:
        """(tf, df) of each term, in alphabetical order."""
        names, terms = names_of(self.lexicon, np.arange(len(self))), self.lexicon.terms
        known = zip(names, terms["tf"].tolist(), terms["df"].tolist(), strict=False)
        return {name: (tf, df) for name, tf, df in sorted(known)}

    def split(self, n: int) -> list[Tally]:
        """Its terms in ``n`` buckets, by a hash: a term is in the same bucket of any tally."""
        check_positive("n", n)
        cells, cuts = take(self.lexicon, np.arange(len(self)))
        bucket = _hashes(cells, cuts) % np.uint64(n)
        return [self._some(np.flatnonzero(bucket == i)) for i in range(n)]

    def frequent(self, min_df: float, max_df: float, limit: int) -> Tally:
        """Of a bucket of all documents, what may be among the ``limit`` terms that are kept."""
        check_positive("limit", limit)
        _refuse_chosen(min_df)
        terms = self.lexicon.terms[: len(self)]
        low, high = (_documents(x, self.n_docs) for x in (min_df, max_df))
        if self.pruned:
            self.pruned.check(low, high, limit)
        keep = np.flatnonzero((low <= terms["df"]) & (terms["df"] <= high))
        cut = limit < len(keep)
        if cut:
            tf = terms["tf"][keep]
            keep = keep[tf >= np.partition(tf, len(tf) - limit)[len(tf) - limit]]  # and its equals
        return replace(self._some(keep), pruned=Limits(low, high, limit if cut else None))

    def _some(self, numbers: Ints) -> Tally:
        return _tally(self._terms(numbers), self.n_docs, self.pruned)

    def _terms(self, numbers: Ints) -> tuple[Ints, ...]:
        tf, df = (np.ascontiguousarray(self.lexicon.terms[f][numbers]) for f in ("tf", "df"))
        return (*take(self.lexicon, numbers), tf, df)


def joined(buckets: Iterable[Tally]) -> Tally:
    """All terms of buckets of the same documents, of which no two have a term in common."""
    found = list(buckets)
    limits = [b.pruned or Limits(0, np.inf, None) for b in found]
    if len({(b.n_docs, one.low, one.high) for b, one in zip(found, limits, strict=True)}) != 1:
        raise ValueError(
            "buckets are of different documents or were kept by different min_df and max_df; give "
            "those of the same documents, each by the same frequent(), and at least one"
        )
    whole = Tally(merge([b.lexicon for b in found])[0], found[0].n_docs)
    if len(whole) != sum(map(len, found)):
        raise ValueError(
            f"buckets have {sum(map(len, found))} terms, but only {len(whole)} different ones; "
            "give buckets that split() made, one for each of its numbers"
        )
    if all(b.pruned is None for b in found):
        return whole
    n = min((one.n for one in limits if one.n is not None), default=None)
    return replace(whole, pruned=replace(limits[0], n=n))


def _tally(terms: tuple[Ints, ...], n_docs: int, pruned: Limits | None) -> Tally:
    return Tally(insert(empty(), *terms)[0], n_docs, pruned)


def _hashes(cells: Ints, cuts: Ints) -> Any:
    """A hash of each term: of its cells, each multiplied by its place."""
    place = np.arange(len(cells)) - np.repeat(cuts[:-1], np.diff(cuts))
    mixed = cells.view(np.uint64) * np.uint64(GOLDEN % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * (2 * place.astype(np.uint64) + np.uint64(1))
    total = np.add.reduceat(mixed, cuts[:-1]) if len(cuts) > 1 else mixed[:0]
    return (total * np.uint64(GOLDEN % 2**64)) >> np.uint64(32)


# --- which terms to keep --------------------------------------------------------------------


def rarest(s: Tally, min_df: float | str, max_df: float) -> float:
    """Documents, or their share, that a term is in at least: as given, or by what it leaves."""
    if not isinstance(min_df, str):
        return min_df
    if s.pruned:
        _refuse_chosen(min_df)
    terms = s.lexicon.terms[: s.lexicon.size[0]]
    usual = RARE_TERMS.min_df
    kept = (terms["df"] >= usual) & (terms["df"] <= _documents(max_df, s.n_docs))
    left = float(terms["tf"][kept].sum(dtype=float))
    few_left = left < RARE_TERMS.short_document * s.n_docs
    return RARE_TERMS.min_df_of_short if few_left and s.n_docs >= RARE_TERMS.documents else usual


def _refuse_chosen(min_df: float | str) -> None:
    if isinstance(min_df, str):
        raise ValueError(
            f"min_df={min_df!r} with some of the terms, but it is chosen by all of them; pass a "
            "number, such as 5"
        )


def choose(s: Tally, min_df: float | str, max_df: float, limit: int | None) -> Ints:
    """Numbers of the terms to keep, in alphabetical order.

    Which of equally frequent terms the limit cuts off is left to ``argsort`` on the terms in
    alphabetical order, because scikit-learn leaves it to the same; of a tally that has the most
    frequent only, those that come first in the alphabet stay.
    """
    n, min_df = s.lexicon.size[0], rarest(s, min_df, max_df)
    df = s.lexicon.terms["df"][:n]
    low, high = (_documents(x, s.n_docs) for x in (min_df, max_df))
    if s.pruned:
        s.pruned.check(low, high, limit)
    if s.n_docs == 0:
        raise ValueError(
            "got no documents, but at least one was expected to learn words from; give some, and "
            "none that are left out because they lack a text or a response"
        )
    if n == 0:
        raise ValueError(
            f"no term in {s.n_docs} documents, expected words of two characters or more; give "
            "other documents, fewer stop_words or a smaller ngram_range"
        )
    if isinstance(min_df, Integral) and low > high and not isinstance(max_df, Integral):
        few = "1 document is" if s.n_docs == 1 else f"{s.n_docs} documents are"
        raise ValueError(
            f"{few} too few for min_df={min_df!r} and max_df={max_df!r}: expected terms that are "
            f"in {low:g} or more of them and in {high:g} or fewer; add documents, lower min_df or "
            "raise max_df"
        )
    if low > high:
        raise ValueError(
            f"min_df={min_df!r} keeps terms of {low:g} documents or more and max_df={max_df!r} of "
            f"{high:g} or fewer, expected min_df <= max_df; lower min_df or raise max_df"
        )
    keep = np.flatnonzero((low <= df) & (df <= high))
    if len(keep) == 0:
        raise ValueError(
            f"none of {n} terms is in {low:g} to {high:g} of {s.n_docs} documents, expected one "
            "at least; add documents, lower min_df or raise max_df"
        )
    keep = alphabetical(s.lexicon, keep)
    if limit is not None and limit < len(keep):
        by_use = np.argsort(-s.lexicon.terms["tf"][keep], kind="stable" if s.pruned else None)
        keep = keep[np.sort(by_use[:limit])]
    return keep


def too_common(s: Tally, max_df: float, most: int) -> list[str]:
    """Terms that ``choose`` leaves out for the documents they are in, the most common first."""
    df = s.lexicon.terms["df"][: s.lexicon.size[0]]
    above = np.flatnonzero(df > _documents(max_df, s.n_docs))
    return names_of(s.lexicon, above[np.argsort(-df[above], kind="stable")][:most])


def _documents(df: float, n_docs: int) -> float:
    """A whole number counts documents, any other is a share of them."""
    return float(df if isinstance(df, Integral) else df * n_docs)


def check_positive(name: str, value: object) -> None:
    if not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name}={value!r}, but a whole number from 1 up was expected")
