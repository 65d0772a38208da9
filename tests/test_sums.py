"""``a + b`` is new: it writes into neither of them, so that a sum that is made again is the same.

Sums that learning takes over documents are in ``test_cuts.py``.
"""

import ast
import pickle
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from varied_texts import varied_texts

import topicprism
from topicprism import Corpus
from topicprism.cli.commands import predict
from topicprism.documents.corpus import as_csr
from topicprism.evaluation import RunningPR2
from topicprism.io.files.sketches import TextSketch
from topicprism.pipeline import collections, drawing, provenance, scoring, streaming
from topicprism.pipeline.inputs import kept
from topicprism.relatives import anchors
from topicprism.samplers import state
from topicprism.spectral.moments import word_sums
from topicprism.spectral.sketch import Sketch, sketch_of, sketch_over
from topicprism.vectorizer import FastCountVectorizer

N = 40
TEXTS, Y = varied_texts(2 * N)
TEXTS[3] = TEXTS[N + 3] = None
IN_TEST_CUTS = {  # all of which are sums of a pass
    "documents.subsets": {"KeyCounts", "SelectedDocuments", "Sums"},
    "documents.sums": {"Additive", "Extent", "RunningMoments"},
    "learn.proportions": {"Inferred"},
    "spectral.moments": {"WordSums"},
}
IN_TEST_SPARK = {"pipeline.spark": {"Summary"}}


@cache
def halves():
    """Texts and responses in two parts."""
    return [kept(TEXTS[:N], Y[:N]), kept(TEXTS[N:], Y[N:])]


@cache
def counted():
    vectorizer = FastCountVectorizer().fit([text for half in halves() for text in half.docs])
    return [Corpus(vectorizer.transform(half.docs), half.y) for half in halves()]


def ledger(batch):
    return provenance.Ledger().add(batch).add_responses(["label"])


def thinned(n):
    found = provenance.Thinned()
    found.add(np.arange(float(n)))
    return found


def drawn(batch):
    return drawing.Drawing(3) + drawing.Drawing(
        3, len(batch.docs), drawing.text_keys(batch.docs, 3)
    )


def agreement(corpus):
    found = predict.Agreement(None)
    found.pr2.add(corpus.y, corpus.y + 1)
    found.fingerprint.update(corpus.counts, corpus.y)
    return found


def read(batch):
    return collections.read(batch.docs, batch.y.tolist(), 0, FastCountVectorizer())


def documents(corpus):
    return scoring.Kept(as_csr(corpus.counts), corpus.y, ["text"] * len(corpus))


@cache
def sketches():
    first, second = counted()
    sums = first.total(word_sums)
    one = sketch_of(first, sums, 6, np.random.default_rng(0))
    return [one, sketch_over(second, one.basis)]


def text_sketch(i):
    return TextSketch(**vars(sketches()[i]), info={"name": i})


def draws(corpus):
    return state.Kept(1, *(np.full(shape, corpus.y[0]) for shape in (2, (5, 2), (2, 1))), 0.5)


EXAMPLES = {
    predict.Agreement: lambda: map(agreement, counted()),
    predict.Found: lambda: (predict.Found([[1.0]], len(c), 1, 0, agreement(c)) for c in counted()),
    RunningPR2: lambda: (agreement(c).pr2 for c in counted()),
    TextSketch: lambda: map(text_sketch, range(2)),
    collections.Aside: lambda: (
        collections.Aside(documents(c), documents(c.take(c.y > 3))) for c in counted()
    ),
    collections.Summary: lambda: (collections.summary(read(half)) for half in halves()),
    drawing.Drawing: lambda: map(drawn, halves()),
    provenance.Fingerprint: lambda: (ledger(half).fingerprint for half in halves()),
    provenance.Ledger: lambda: map(ledger, halves()),
    provenance.Thinned: lambda: map(thinned, (50_000, 30)),
    scoring.Kept: lambda: map(documents, counted()),
    streaming.Texts: lambda: (streaming.Texts(half.docs, 2000) for half in halves()),
    Sketch: sketches,
    state.Kept: lambda: map(draws, counted()),
    topicprism.vectorizer.Tally: lambda: (
        FastCountVectorizer().tally(half.docs) for half in halves()
    ),
    anchors.Sums: lambda: (anchors.sums(c.counts, c.y) for c in counted()),
}


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_a_sum_writes_into_nothing_that_is_added(kind):
    one, other = EXAMPLES[kind]()
    assert type(one) is type(other) is kind
    before = pickle.dumps((one, other))
    first, again = pickle.dumps(one + other), pickle.dumps(one + other)
    assert pickle.dumps((one, other)) == before
    assert first == again
    assert first != pickle.dumps(one)


def adding():
    """Every class that says what ``+`` is, by module."""
    root = Path(topicprism.__file__).parent
    for path in root.rglob("*.py"):
        for kind in ast.walk(ast.parse(path.read_text())):
            if isinstance(kind, ast.ClassDef) and any(
                isinstance(line, ast.FunctionDef) and line.name == "__add__" for line in kind.body
            ):
                yield ".".join(path.relative_to(root).with_suffix("").parts), kind.name


def test_every_class_that_adds_is_tried():
    elsewhere = IN_TEST_CUTS | IN_TEST_SPARK
    left = {(module, name) for module, name in adding() if name not in elsewhere.get(module, ())}
    assert len(left) > 10
    found = {getattr(import_module(f"topicprism.{module}"), name) for module, name in left}
    assert found <= set(EXAMPLES)
