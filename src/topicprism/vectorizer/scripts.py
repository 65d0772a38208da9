"""Texts whose words no space sets apart, so that whole clauses would be counted as words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

# Thai, Lao, Burmese, Khmer, kana, Chinese characters
LETTER = re.compile(
    r"[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufaff\U00020000-\U0003ffff]"
)
SAMPLE_TEXTS = 1_000  # texts
MAX_MEAN_LETTERS = 8  # between spaces, on average: twice those of a word in these scripts


class UnspacedWarning(UserWarning):
    """Most texts are in a script without spaces between words."""


def unspaced(texts: Sequence[str]) -> str | None:
    """What to say of texts of which most run on without spaces; None of others."""
    sample = [text for text in islice(texts, SAMPLE_TEXTS) if isinstance(text, str)]
    found = [(text, n) for text in sample if 2 * (n := _letters(text)) > len(text)]
    between = sum(len(text.split()) for text, _ in found)
    if 2 * len(found) <= len(sample) or sum(n for _, n in found) <= MAX_MEAN_LETTERS * between:
        return None
    return (
        f"most texts are in a script without spaces between words (one begins {found[0][0][:9]!r}),"
        " but words are what spaces and punctuation set apart; put spaces between the words first, "
        "with a segmenter such as jieba, MeCab or PyThaiNLP"
    )


def _letters(text: str) -> int:
    return 0 if text.isascii() else len(LETTER.findall(text))
