"""Which topic each word of a document came from, where it stands in the text.

Given the proportions h of the document, word w is of topic i with probability
r_i = mu[w, i] h_i / sum_j mu[w, j] h_j.  A token that is part of several terms (itself, and
n-grams) has the mean of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from topicprism._typing import Array, Topic, WordTopic
from topicprism.show.report.facts import Piece, Reading
from topicprism.vectorizer.counting import TOKEN

Span = tuple[int, int]


@dataclass(frozen=True)
class Colouring:
    reading: Reading
    columns: dict[str, int]  # of the words
    mu: WordTopic

    def pieces(self, text: str, h: Topic) -> tuple[Piece, ...]:
        """The text in pieces, each word with the topic it most probably came from."""
        found = tokens(text, self.reading)
        r = self.probabilities([token for _, token in found], h)
        pieces, at = [], 0
        for ((start, stop), _), p in zip(found, r, strict=True):
            best, word = int(p.argmax()), text[start:stop]
            known = p[best] > 0
            pieces.append(Piece(text[at:start]))
            pieces.append(Piece(word, best + 1, float(p[best])) if known else Piece(word))
            at = stop
        return tuple(piece for piece in [*pieces, Piece(text[at:])] if piece.text)

    def probabilities(self, spelt: list[str], h: Topic) -> Array:
        """Topic probabilities of each token; zeros where no topic has it."""
        sums, n = np.zeros((len(spelt), len(h))), np.zeros(len(spelt))
        for (first, stop), term in terms(spelt, self.reading):
            column = self.columns.get(term)
            r = np.zeros(len(h)) if column is None else self.mu[column] * h
            if r.sum() > 0:
                sums[first:stop] += r / r.sum()
                n[first:stop] += 1
        return np.asarray(sums / np.maximum(n, 1)[:, None])


def tokens(text: str, reading: Reading) -> list[tuple[Span, str]]:
    """Where each token is in the text, and how it is spelt; stop words are left out."""
    if reading.lowercase:  # which is longer for some characters
        origin = [i for i, c in enumerate(text) for _ in c.lower()]
        lowered = text.lower()
    else:
        origin, lowered = list(range(len(text))), text
    stop = set(reading.stop_words)
    found = (m for m in TOKEN.finditer(lowered) if m.group() not in stop)
    return [((origin[m.start()], origin[m.end() - 1] + 1), m.group()) for m in found]


def terms(spelt: list[str], reading: Reading) -> Iterator[tuple[Span, str]]:
    """The n-grams of the tokens: which tokens, and how the term is spelt."""
    low, high = reading.ngram_range
    for n in range(low, min(high, len(spelt)) + 1):
        for i in range(len(spelt) - n + 1):
            yield (i, i + n), " ".join(spelt[i : i + n])


def beginning(text: str, longest: int) -> str:
    """At most so many characters of a text, cut after a word."""
    if len(text) <= longest:
        return text
    cut = text.rfind(" ", 0, longest + 1)
    return text[: cut if cut > 0 else longest].rstrip()
