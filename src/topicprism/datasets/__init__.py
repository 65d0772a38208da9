"""Corpora drawn from the model, so that the truth is known: counts, and reviews to read."""

from topicprism.datasets.reviews import ASPECTS, REVIEW_WORDS, make_reviews
from topicprism.datasets.slda import draw_corpus, draw_model, make_slda

__all__ = [
    "ASPECTS",
    "REVIEW_WORDS",
    "draw_corpus",
    "draw_model",
    "make_reviews",
    "make_slda",
]
