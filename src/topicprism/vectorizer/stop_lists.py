"""Words to leave out, by the name of a list.

``"english"`` is scikit-learn's list.  It was made for search and drops "not", "never", "very" and
"but", which change what a sentence says of its subject, and nouns such as "bill" and "system".
``"english-neutral"`` is that list less the words of :data:`COUNTED_STOP_WORDS`, by kind; what stays
are articles, prepositions, auxiliary verbs, pronouns, numbers and adverbs of place and time.  What
each kind does to predictions is in docs/real-text.md.
"""

from __future__ import annotations

from typing import Any

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from topicprism.defaults import STOP_LISTS
from topicprism.vectorizer.columns import are_strings

COUNTED_STOP_WORDS = {
    "negations": (
        "against cannot cant couldnt except hasnt neither never no nobody none noone nor not "
        "nothing nowhere without"
    ),
    "degrees": (
        "again almost always enough even ever every everyone everything few least less many more "
        "most mostly much only rather several still too very well"
    ),
    "contrasts and moods": (
        "although but could however might must nevertheless otherwise perhaps should though "
        "whereas would yet"
    ),
    "nouns, verbs and adjectives": (
        "alone amount back bill bottom call cry describe detail empty fill find fire first found "
        "front full interest keep last mill mine move name next part please serious show side "
        "sincere system thick thin together top"
    ),
}


def stop_words(words: Any) -> frozenset[str]:
    """The words that the parameter ``stop_words`` stands for."""
    if words is None:
        return frozenset()
    if isinstance(words, str) and words in STOP_LISTS:
        kept = " ".join(COUNTED_STOP_WORDS.values()).split() if words == "english-neutral" else []
        return frozenset(ENGLISH_STOP_WORDS.difference(kept))
    if not are_strings(words):
        names = ", ".join(map(repr, STOP_LISTS))
        raise ValueError(
            f"stop_words={words!r:.60}, expected {names}, a collection of strings or None; pass "
            "a list of the words to leave out"
        )
    return frozenset(words)
