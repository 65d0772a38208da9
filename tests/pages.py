"""Pipelines to make pages of: readable, hostile and large; none of them takes time to fit."""

import numpy as np
from sklearn.pipeline import Pipeline

from topicprism import Model, SpectralSLDA
from topicprism.learn import Selection, Trial
from topicprism.vectorizer import FastCountVectorizer

ASPECTS = {
    "staff friendly helpful smile kind welcome": 4.8,
    "breakfast coffee fresh bread fruit tasty": 4.1,
    "room bed view balcony shower quiet": 4.4,
    "noise street traffic loud sleepless wall": 1.9,
    "dirty carpet stain smell dust broken": 1.2,
}
# Tags, quotes, entities, templates, other directions, joined emoji, nothing at all, half a pair.
HOSTILE = [
    "<script>window.pwned=1</script>",
    "</script><img src=x onerror=window.pwned=1>",
    "<!--<script>",
    "\"quoted\" 'too' `this`",
    "&lt;b&gt; &amp;",
    "{{facts}} ${1}",
    "javascript:window.pwned=1",
    "\u202eright to left",
    "שלום",
    "مرحبا",
    "👩‍👩‍👧",
    "nul\0nul",
    "half \ud83d",
    "two\u2028lines",
    "w" * 300,
    "]]>",
    "__proto__",
    "constructor",
]
# Sigmas with and without a final form, letters whose lower case is longer or ASCII, marks, digits
# and letters of other scripts and planes, a lone surrogate, NUL, and every kind of separator.
HARD = (
    "aAbz09_ΣσςİıIKÅßẞﬁ\u0301\u0345\u0307\u00ad٣۴५ªº²½Ⅷ漢あ𝔸𝟙𐐀😀\ud800\0\n\t \u00a0\u2028'-.\x1c·’"
)


def pipeline(words, mu, eta, alpha=None, burstiness=0.0, **text):
    """A fitted pipeline with these numbers in it."""
    k = len(eta)
    topics = SpectralSLDA(n_topics=k)
    given = np.full(k, 1 / k) if alpha is None else np.asarray(alpha, float)
    topics.model_ = Model(given, mu / mu.sum(axis=0), np.asarray(eta, float), 0.4, burstiness)
    topics.coef_ = topics.model_.eta
    topics.n_features_in_ = len(words)
    return Pipeline([("counts", FastCountVectorizer(vocabulary=words, **text)), ("topics", topics)])


def reviews(seed=0, **text):
    """Topics with words of their own and some that all share; one word no topic has."""
    rng = np.random.default_rng(seed)
    shared = ["hotel", "night", "stay", "the"]
    words = [*(w for aspect in ASPECTS for w in aspect.split()), *shared, "unheard"]
    words += [
        f"{a} {b}" for a, b in [("friendly", "staff"), ("dirty", "carpet"), ("hotel", "room")]
    ]
    mu = rng.random((len(words), len(ASPECTS))) * 0.02
    for i, aspect in enumerate(ASPECTS):
        for w in aspect.split():
            mu[words.index(w), i] += rng.uniform(0.5, 1.5)
    mu[[words.index(w) for w in shared]] += 0.5
    mu[rng.random(mu.shape) < 0.3] = 0.0
    mu[words.index("unheard")] = 0.0
    made = pipeline(words, mu, list(ASPECTS.values()), **text)
    made["topics"].coef_std_ = rng.uniform(0.02, 0.3, len(ASPECTS))
    made["topics"].predictive_variance_ = np.array([0.3, 0.7])
    made["topics"].selection_ = selection(len(ASPECTS))
    made.info = {
        "n_documents": 1234,
        "n_left_out": {"no_text": 3},
        "scores": {
            "topicprism": 0.71,
            "TF-IDF + ridge": 0.74,
            "mean": 0.0,
            "a_std": 0.1,
            "b": None,
        },
        "created": "a Tuesday",
        "estimator": "said already",
    }
    return made


def selection(k):
    trials = (
        Trial(2, 3.0, 0.5, 0.4, 0.03),
        Trial(k, 30.0, 0.2, 0.7, 0.02),
        Trial(9, 30.0, 0.2, 0.69, 0.02),
    )
    reasons = {"n_topics": f"{k} predict documents held out best", "alpha0": "as asked"}
    return Selection(k, 1.0, 0.16, trials, 0.1 * 0.5 ** np.arange(12.0), 0.002, reasons)


def documents(made, n, seed=0):
    """Texts drawn from the model, with responses."""
    rng = np.random.default_rng(seed)
    model, words = made["topics"].model_, made["counts"].get_feature_names_out()
    h = rng.dirichlet(model.alpha, n)
    texts = [" ".join(rng.choice(words, 30, p=model.mu @ mix)) + "." for mix in h]
    return texts, np.round(h @ model.eta + 0.3 * rng.standard_normal(n), 2)


def hostile(**text):
    """The same in words that would break a careless page."""
    words = [*HOSTILE, *(f"plain{i}" for i in range(5)), "σίσυφος", "straße"]
    mu = np.random.default_rng(1).random((len(words), 12))
    return pipeline(words, mu, np.linspace(-3, 3, 12), lowercase=False, **text)


def nasty_texts(made, n, seed=0):
    """Words of the vocabulary and stranger things, stuck together any way."""
    rng = np.random.default_rng(seed)
    words = list(made["counts"].get_feature_names_out())
    texts = ["", " ", "a", "ΣΑΣ", "ΑΣ", "İİ İab abİ", "\0", "\ud83d", *HOSTILE]
    for _ in range(n):
        parts = []
        for _ in range(rng.integers(1, 40)):
            known = str(rng.choice(words))
            strange = "".join(rng.choice(list(HARD), rng.integers(1, 6)))
            parts.append([known, known.upper(), known.title(), strange][rng.integers(4)])
            parts.append(rng.choice([" ", " ", ". ", "", "-", "\n", "’"]))
        texts.append("".join(parts))
    return texts
