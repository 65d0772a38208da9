"""Fitted vectorisers as plain values, and back once they are what they must be."""

from __future__ import annotations

from typing import Any

import numpy as np

from topicprism.io.files.container import wrong
from topicprism.io.files.rules import check_threads, names, parameter, whole
from topicprism.io.files.values import Writer
from topicprism.validation import NATIVE
from topicprism.vectorizer import FastCountVectorizer, PrecomputedCounts, stop_words

DTYPES = {t.name: t.type for t in sorted(NATIVE, key=str)}


def describe_counts(counts: FastCountVectorizer, writer: Writer) -> dict[str, Any]:
    """Vocabulary and settings of a fitted vectoriser as plain values."""
    settings = counts.get_params(deep=False)
    stop = settings["stop_words"]  # the words themselves: another scikit-learn has others
    return {
        "words": writer.strings(counts.get_feature_names_out(), "O"),
        "lowercase": bool(settings["lowercase"]),
        "stop_words": None if stop is None else sorted(stop_words(stop)),
        "ngram_range": [int(n) for n in settings["ngram_range"]],
        "max_df": parameter(settings["max_df"]),
        "min_df": parameter(settings["min_df"]),
        "max_features": parameter(settings["max_features"]),
        "vocabulary": settings["vocabulary"] is not None,
        "dtype": np.dtype(settings["dtype"]).name,
        "n_jobs": None,
    }


def describe_given(counts: PrecomputedCounts, writer: Writer) -> dict[str, Any]:
    """Counts that came as counts: the words of their columns, if these have any."""
    named = counts.vocabulary is not None
    return {"given": writer.strings(counts.get_feature_names_out(), "O") if named else None}


def restore_given(words: Any, n_words: int) -> PrecomputedCounts:
    if words is not None and (not names(words, {"V": n_words}) or len(set(words)) < n_words):
        raise wrong(f"its vocabulary is not of {n_words} words")
    counts = PrecomputedCounts(vocabulary=None if words is None else list(words))
    counts.n_features_in_ = n_words
    return counts


def restore_counts(plain: Any, n_words: int) -> FastCountVectorizer:
    """A vectoriser with this vocabulary, refused unless it has ``n_words`` words."""
    params = dict(plain) if isinstance(plain, dict) else {}
    words = params.pop("words", None)
    if set(params) != set(FastCountVectorizer().get_params()) or not _sound(params):
        raise wrong(f"its text settings are {params!r:.60}")
    if not names(words, {"V": n_words}) or len(set(words)) < n_words:
        raise wrong(f"its vocabulary is not of {n_words} words")
    check_threads(params["n_jobs"])
    params["n_jobs"] = None
    params["vocabulary"] = list(words) if params["vocabulary"] else None
    params["dtype"] = DTYPES[params["dtype"]]
    params["ngram_range"] = tuple(params["ngram_range"])
    try:
        return FastCountVectorizer.from_vocabulary(list(words), **params)
    except ValueError as error:
        raise wrong(f"its text settings cannot be ({error!s:.60})") from None


def _sound(params: dict[str, Any]) -> bool:
    """What ``FastCountVectorizer`` does not check of its parameters itself."""
    stop, n_grams = params["stop_words"], params["ngram_range"]
    listed = isinstance(stop, list) and all(isinstance(word, str) for word in stop)
    return (
        type(params["lowercase"]) is type(params["vocabulary"]) is bool
        and (stop in (None, "english") or (listed and stop == sorted(set(stop))))
        and isinstance(n_grams, list)
        and all(whole(n, {}) for n in n_grams)
        and isinstance(params["dtype"], str)
        and params["dtype"] in DTYPES
    )
