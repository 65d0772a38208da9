"""The facts of a page, and the page as text; what a browser makes of it is tested elsewhere."""

import json
import re
from dataclasses import FrozenInstanceError, asdict
from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pages import HOSTILE, documents, hostile, nasty_texts, pipeline, reviews
from scipy.spatial.distance import jensenshannon
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from varied_texts import varied_texts

import topicprism
from topicprism import GibbsSLDA, MedLDAClassifier, SpectralLDA, SpectralSLDA
from topicprism.datasets import make_reviews, make_slda
from topicprism.inference import infer
from topicprism.show.effects import effects
from topicprism.show.markup import Html, tag, visible
from topicprism.show.report import render, summarise, write_page
from topicprism.show.report.charts import axis, log_axis, round_step
from topicprism.show.report.colouring import Colouring, beginning, tokens
from topicprism.show.report.documents import evenly, quantile_groups
from topicprism.show.report.facts import Reading
from topicprism.show.report.fitted import fitted
from topicprism.show.report.packing import characters, embedded, pack, run_lengths, unpack
from topicprism.show.report.page import _resource
from topicprism.show.report.prose import fixed, number, percent
from topicprism.show.report.sections import certainty, looks
from topicprism.show.report.summary import topic_map
from topicprism.show.words import top_words
from topicprism.vectorizer import FastCountVectorizer


@pytest.fixture(scope="module")
def made():
    return reviews(ngram_range=(1, 2))


@pytest.fixture(scope="module")
def corpus(made):
    return documents(made, 200)


@pytest.fixture(scope="module")
def summary(made, corpus):
    return summarise(made, *corpus, response="stars", held_out=True)


def test_facts_are_those_of_the_model(made, corpus, summary):
    texts, y = corpus
    model = made["topics"].model_
    X = made["counts"].transform(texts)
    h, n = infer(model, X), X.sum(axis=1)
    share = n @ h / n.sum()
    assert [t.number for t in summary.topics] == [1, 2, 3, 4, 5]
    assert_allclose([t.share for t in summary.topics], share)
    assert_allclose([t.effect for t in summary.topics], model.eta)
    reach = 1.96 * made["topics"].coef_std_
    assert_allclose([t.low for t in summary.topics], model.eta - reach)
    assert_allclose([t.high for t in summary.topics], model.eta + reach)
    assert_allclose(summary.expected, effects(made).average)  # as plots have it
    assert_allclose(summary.fit.rmse, np.sqrt(np.mean((y - h @ model.eta) ** 2)))
    assert summary.n_documents == 1234
    assert summary.left_out == (("no_text", 3),)
    assert summary.scores == (("TF-IDF + ridge", 0.74), ("topicprism", 0.71), ("mean", 0.0))
    assert ("Created", "a Tuesday") in summary.about
    assert [v for n, v in summary.about if n == "Estimator"] == ["SpectralSLDA"]


def test_words_are_ranked_as_elsewhere(made, summary):
    model, words = made["topics"].model_, made["counts"].get_feature_names_out()
    share = np.array([t.share for t in summary.topics])
    p = model.mu @ share
    for by, name in (("probability", "probable"), ("relevance", "relevant")):
        listed = [[w.text for w in getattr(t, name)] for t in summary.topics]
        assert listed == top_words(model, words, 15, by=by, p=p, share=share)
    first = summary.topics[0].relevant[0]
    column = list(words).index(first.text)
    assert_allclose([first.in_topic, first.overall], [model.mu[column, 0], p[column]])
    assert summary.topics[0].name == tuple(w.text for w in summary.topics[0].relevant[:3])


def test_the_whole_is_said_in_words(summary):
    said = " ".join(summary.sentences)
    assert said.startswith("5 topics were estimated from 1,234 documents with 38 different words.")
    assert "Expected stars ranges from 1.20 for a document of topic 5" in said
    assert re.search(r"On 200 documents held out of the fit, the model explains \d\d\s% of", said)
    assert "TF-IDF + ridge 0.74, topicprism 0.71, mean 0.00" in said


def test_a_summary_is_frozen_and_survives_json(summary):
    with pytest.raises(FrozenInstanceError):
        summary.title = "other"
    back = json.loads(summary.to_json())
    assert back == json.loads(json.dumps(asdict(summary)))
    assert json.loads(summarise(hostile()).to_json())["parameters"]["words"][12] == "half \ud83d"


def test_the_choice_is_that_of_the_estimator(made, summary):
    chosen = made["topics"].selection_
    got = [(t.n_topics, t.alpha0, t.pr2, t.pr2_std) for t in summary.choice.trials]
    assert got == [(t.n_topics, t.alpha0, t.pr2, t.pr2_std) for t in chosen.trials]
    assert summary.choice.threshold == chosen.threshold == 0.002
    assert_allclose(summary.choice.spectrum, chosen.spectrum)
    assert [(r.parameter, r.value) for r in summary.choice.reasons] == [
        ("n_topics", 5.0),
        ("alpha0", 1.0),
    ]
    page = render(summary)
    assert summary.left is None
    assert 'class="observed"' not in page
    assert "<li><strong>5 topics</strong>: 5 predict documents held out best.</li>" in page
    assert "<li><strong>α₀ = 1.00</strong>: as asked.</li>" in page
    assert render(summarise(made)).count('class="whisker"') == 3  # one for each trial


def test_examples_are_the_documents_most_of_a_topic(made, corpus, summary):
    texts, y = corpus
    h = infer(made["topics"].model_, made["counts"].transform(texts))
    assert len(summary.examples) == 15
    for i in range(5):
        shown = [e for e in summary.examples if e.topic == i + 1]
        best = np.argsort(-h[:, i])[:3]
        assert ["".join(p.text for p in e.pieces) for e in shown] == [texts[d] for d in best]
        assert_allclose([e.shares for e in shown], h[best])
        assert_allclose([e.observed for e in shown], y[best])
        assert_allclose([e.predicted for e in shown], h[best] @ made["topics"].model_.eta)


def test_long_documents_are_cut_after_a_word(made):
    long = "friendly staff " * 100
    e = summarise(made, [long] * 3).examples[0]
    shown = "".join(p.text for p in e.pieces)
    assert not e.whole
    assert len(shown) <= 700
    assert shown.split(" ")[-1] in ("friendly", "staff")
    assert len(beginning("x" * 900, 700)) == 700
    assert beginning("short", 700) == "short"


def test_a_word_has_the_colour_of_its_posterior(made):
    """By the definition, for a text with an n-gram, a stop word and an unknown word."""
    model = made["topics"].model_
    columns = made["counts"].vocabulary_
    reading = Reading(True, ("the",), (1, 2))
    h = np.array([0.5, 0.1, 0.2, 0.1, 0.1])
    got = Colouring(reading, columns, model.mu).pieces("The FRIENDLY the staff, zzz!", h)

    def posterior(word):
        r = model.mu[columns[word]] * h
        return r / r.sum()

    p = (posterior("friendly") + posterior("friendly staff")) / 2
    words = {piece.text: piece for piece in got}
    assert [piece.text for piece in got] == ["The ", "FRIENDLY", " the ", "staff", ", ", "zzz", "!"]
    assert words["FRIENDLY"].topic == p.argmax() + 1
    assert_allclose(words["FRIENDLY"].certainty, p.max())
    assert words["zzz"].topic is None
    assert [certainty(x) for x in (0.2, 0.5, 0.9)] == [1, 2, 3]


@pytest.mark.parametrize("lowercase", [True, False])
def test_tokens_are_those_of_the_vectoriser_where_they_stand(made, lowercase):
    reading = Reading(lowercase, ("staff",), (1, 1))
    analyse = CountVectorizer(lowercase=lowercase, stop_words=["staff"]).build_analyzer()
    for text in nasty_texts(made, 100):
        found = tokens(text, reading)
        assert [token for _, token in found] == analyse(text)
        spans = [span for span, _ in found]
        assert all(a[1] <= b[0] for a, b in pairwise(spans))
        for (start, stop), token in found:
            written = text[start:stop].lower() if lowercase else text[start:stop]
            same = [t.replace("ς", "σ") for t in (written, token)]  # neighbours say which
            assert same[0].removesuffix("\u0307") == same[1]
    assert tokens("abİ İcd", Reading(True, (), (1, 1))) == [((0, 3), "abi"), ((5, 7), "cd")]


def test_topics_are_as_far_apart_on_the_map_as_they_differ(rng):
    mu = rng.dirichlet(np.full(30, 0.3), 3).T
    places, shown = topic_map(mu, np.array([3.0, 1.0, 2.0]))
    for i, j in combinations(range(3), 2):  # three points always fit in a plane
        distance = np.linalg.norm(places[i] - places[j])
        assert_allclose(distance, jensenshannon(mu[:, i], mu[:, j]), atol=1e-7)
    assert_allclose(shown, 1.0)
    assert np.corrcoef(places[:, 0], [3.0, 1.0, 2.0])[0, 1] > 0
    same = np.repeat(mu[:, :1], 4, axis=1)
    assert_allclose(topic_map(same, np.zeros(4))[0], 0)
    assert topic_map(mu[:, :1], np.zeros(1))[0].shape == (1, 2)


def test_groups_are_by_value_or_by_range(rng):
    x = rng.integers(1, 4, 300).astype(float)
    values = rng.standard_normal(300)
    by_value = quantile_groups(x, values)
    assert [(s.low, s.high) for s in by_value] == [(1, 1), (2, 2), (3, 3)]
    assert sum(s.n for s in by_value) == 300
    assert_allclose(by_value[0].quantiles[2], np.median(values[x == 1]))
    by_range = quantile_groups(np.append(rng.random(300), 9.0), np.append(values, 0.0))
    assert sum(s.n for s in by_range) == 300  # the one at 9 is alone in its range
    assert len(quantile_groups(np.arange(13.0), np.zeros(13))) > 0


def test_many_documents_are_thinned_out_evenly(made, corpus, monkeypatch):
    assert evenly(5, 10) == [0, 1, 2, 3, 4]
    assert evenly(10, 4) == [0, 3, 6, 9]
    monkeypatch.setattr("topicprism.show.report.documents.MAX_DOCUMENTS", 50)
    texts, y = corpus
    some = summarise(made, iter(texts), y)
    assert some.fit.n == 50
    kept = evenly(200, 50)
    assert some.fit.points == summarise(made, [texts[i] for i in kept], y[kept]).fit.points


def test_counts_stand_in_for_texts(made, corpus, summary):
    texts, y = corpus
    X = made["counts"].transform(texts)
    of_counts = summarise(made, y=y, counts=X, response="stars")
    assert of_counts.examples == ()
    assert of_counts.fit.pr2 == summary.fit.pr2
    assert summarise(made, texts, y, counts=X).examples == summary.examples
    alone = summarise(made)
    assert alone.fit is None
    assert_allclose([t.share for t in alone.topics], 0.2)
    assert "Documents, word by word" not in render(alone)


def test_predictions_are_those_of_the_estimator(rng):
    """Also where coefficients multiply mean assignments, and with errors from draws."""
    words = [f"word{i}" for i in range(30)]
    X, y, _ = make_slda(60, 30, 3, 40, random_state=0)
    texts = [" ".join(np.repeat(words, row)) for row in X.toarray()]
    chain = {"burn_in": 5, "n_kept": 25, "random_state": 0, "cross_fit": False}
    topics = GibbsSLDA(3, response="assignments", **chain)
    made = make_pipeline(FastCountVectorizer(vocabulary=words), topics).fit(texts, y)
    s = summarise(made, texts, y)
    assert s.parameters.features == "assignments"
    assert_allclose([p for _, p in s.fit.points], made.predict(texts))
    std = topics.coef_draws_.std(axis=0, ddof=1)
    assert_allclose([(t.high - t.low) / 2 for t in s.topics], 1.96 * std)


def test_a_fit_of_texts_gives_a_page():
    texts, stars, _ = make_reviews(600, random_state=0)
    made = topicprism.fit(texts, stars, n_topics=3, n_jobs=1)
    s = summarise(made, texts, stars, response="stars", held_out=False)
    assert_allclose([p for _, p in s.fit.points], made.predict(texts))
    assert (s.n_documents, s.choice.n_topics) == (600, 3)
    assert len(s.choice.spectrum) > 0
    assert ("Version", topicprism.__version__) in s.about
    assert "How well it predicts" in render(s)


def test_a_fit_of_text_with_more_structure_than_topics_gives_a_page():
    """With burstiness, standard errors, trials, and a predictive variance that is not the noise."""
    texts, y = varied_texts(400)
    made = topicprism.fit(texts, y, n_jobs=1)
    s = summarise(made, texts, y)
    topics = made.topics
    assert s.parameters.burstiness == made.model.burstiness == 0.75
    assert s.parameters.predictive_variance == tuple(topics.predictive_variance_)
    assert_allclose([p for _, p in s.fit.points], made.predict(texts))
    assert_allclose([t.high - t.low for t in s.topics], 2 * 1.96 * topics.coef_std_)
    assert [t.n_topics for t in s.choice.trials] == [3, 5, 10, 20]
    assert [r.parameter for r in s.choice.reasons] == ["n_topics", "alpha0", "noise_variance"]
    assert ("Repeated words", "down-weighted (burstiness 0.75)") in s.about
    page = render(s)
    assert "Numbers of topics that were tried" in page
    assert s.decimals == 2  # as responses of 1 to 5 need, though coefficients are over 100
    low, high = s.left
    assert (low, high) == (min(y), max(y))
    assert f"outside {low:g} to {high:g}, the shaded range of the training responses" in page
    assert page.count('class="observed"') == len(s.topics)


def test_topics_alone_have_no_effects():
    words = [f"word{i}" for i in range(40)]
    X, y, _ = make_slda(300, 40, 3, 40, random_state=0)
    texts = [" ".join(np.repeat(words, row)) for row in X.toarray()]
    made = make_pipeline(FastCountVectorizer(), SpectralLDA(3, random_state=0)).fit(texts)
    s = summarise(made, texts, y)
    assert (s.response, s.expected, s.fit) == (None, None, None)
    assert s.topics[0].effect is None
    assert "The largest is topic" in s.sentences[1]
    page = render(s)
    assert 'id="effects"' not in page
    assert 'id="fit"' not in page


@pytest.mark.parametrize("k", [1, 2, 25])
@pytest.mark.parametrize("size", [0.0, 1e-6, 1e9])
def test_any_size_of_model_and_response_gives_a_page(rng, k, size):
    words = [f"word{i}" for i in range(30)]
    made = pipeline(words, rng.random((30, k)), size * rng.standard_normal(k))
    texts, y = documents(made, 30)
    for given in [(), (texts[:1], y[:1]), (texts, np.ones(30)), (texts, size * y)]:
        s = summarise(made, *given)
        page = render(s).split("<script", 1)[0]
        assert len(s.topics) == k
        assert re.search(r"[\"> ](nan|inf)\b", page) is None


def test_text_settings_come_from_the_vectoriser(made):
    assert fitted(made).reading == Reading(True, (), (1, 2))
    words = ["room", "bed"]
    mu = np.ones((2, 2))
    english = fitted(pipeline(words, mu, [0, 1], stop_words="english", lowercase=False)).reading
    assert "the" in english.stop_words
    assert not english.lowercase
    theirs = CountVectorizer(vocabulary=words, stop_words=["bed"])
    ours = pipeline(words, mu, [0, 1])
    assert fitted(make_pipeline(theirs, ours["topics"])).reading.stop_words == ("bed",)
    odd = CountVectorizer(vocabulary=words, token_pattern=r"\S+")
    s = summarise(make_pipeline(odd, ours["topics"]), ["room bed"])
    assert s.reading is None
    assert s.examples == ()
    assert "with a tokeniser other than that of FastCountVectorizer" in render(s)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda made: (3,), "got a int of 0 steps, but expected a fitted pipeline"),
        (
            lambda made: (make_pipeline(FastCountVectorizer(), SpectralSLDA()),),
            "the SpectralSLDA at the end of the pipeline has no model.*call fit first",
        ),
        (
            lambda made: (make_pipeline(FastCountVectorizer(vocabulary=["a"]), made["topics"]),),
            "the vectoriser has 1 words, but the model was learnt on 38",
        ),
        (lambda made: (made, None, [1.0]), "got y of 1 numbers without documents.*pass texts"),
        (lambda made: (made, []), "got 0 documents, but at least one was expected"),
        (lambda made: (made, "room"), "texts is one str"),
        (lambda made: (made, ["room", None]), "document 1 is None of type NoneType"),
        (lambda made: (made, ["room"], [1.0, 2.0]), "y has shape .2,., but there are 1 documents"),
    ],
)
def test_bad_input_gets_a_sentence(made, arguments, message):
    with pytest.raises(ValueError, match=message):
        summarise(*arguments(made))


def test_classes_and_wrong_counts_are_refused(made):
    with pytest.raises(ValueError, match=r"counts have shape .2, 3., but there are 2 documents"):
        summarise(made, counts=np.ones((2, 3)))
    texts, labels = ["room bed", "loud noise"] * 10, ["good", "bad"] * 10
    classes = MedLDAClassifier(2, burn_in=2, n_kept=2, random_state=0)
    with pytest.raises(ValueError, match="MedLDAClassifier predicts one of 2 classes"):
        summarise(make_pipeline(FastCountVectorizer(), classes).fit(texts, labels))


def test_numbers_are_packed_without_loss(rng):
    array = rng.standard_normal((7, 5)) * 10.0 ** rng.integers(-300, 300, (7, 5))
    array[rng.random(array.shape) < 0.6] = 0.0
    array[0, 0] = np.nextafter(0, 1)
    np.testing.assert_array_equal(unpack(pack(array)), array)
    assert pack(np.zeros((2, 2))).values == ""


def test_tables_of_characters_are_pythons():
    """``lower`` of every character, and the sets behind final sigma, from the tables alone."""
    table = characters()
    lower = dict(table["longer"])
    for first, step, n, shift in table["lower"]:
        for i in range(n):
            lower[chr(first + i * step)] = chr(first + i * step + shift)
    assert lower == {chr(c): chr(c).lower() for c in range(0x110000) if chr(c).lower() != chr(c)}

    def members(name):
        ends = np.cumsum([int(run, 36) for run in table[name].split(" ")])
        return {chr(c) for a, b in zip(ends[::2], ends[1::2], strict=True) for c in range(a, b)}

    word = re.compile(r"\w")
    assert members("word") == {chr(c) for c in range(0x110000) if word.match(chr(c))}
    assert {"a", "Σ", "ǅ"} <= members("cased")
    assert {"\u0301", "\u00ad", "'", "."} <= members("ignorable")
    assert not members("cased") & members("ignorable")
    assert run_lengths(np.array([True, True, False, True, False])) == "0 2 1 1"


def test_numbers_are_said_as_people_do():
    said = [number(x) for x in (0, -1.234, 0.00123, 12345.6, 1e20)]
    assert said == ["0", "−1.23", "0.00123", "12,346", "1.00e+20"]
    assert [fixed(-1.234, 2), fixed(1234.5, 0), fixed(-0.01, 1)] == ["−1.23", "1,234", "0.0"]
    assert [percent(x) for x in (0, 0.0001, 0.012, 0.4)] == [
        "0\u00a0%",
        "<\u202f0.1\u00a0%",
        "1.2\u00a0%",
        "40\u00a0%",
    ]


def test_axes_have_round_numbers():
    assert [round_step(x) for x in (0.7, 1.0, 1.2, 3.0, 60.0)] == [1, 1, 2, 5, 100]
    assert axis([1, 5]).ticks == (1, 2, 3, 4, 5)
    assert axis([1, 3], whole=True).ticks == (1, 2, 3)
    flat = axis([2.0, 2.0])
    assert flat.low < 2 < flat.high
    a = axis([0, 10], pad=0)
    assert (a.x(0), a.x(10), a.y(10)) == ("0.00%", "100.00%", "0.00%")
    assert log_axis([1e-5, 0.3]).ticks == (-5, -4, -3, -2, -1, 0)
    assert log_axis([0.02, 1 + 1e-9]).ticks == (-2, -1, 0)  # the largest of a spectrum is 1


def test_text_is_escaped_and_markup_is_not():
    assert tag("p", "<b> & \0", Html("<i></i>"), class_='"x"') == (
        '<p class="&quot;x&quot;">&lt;b&gt; &amp; \ufffd<i></i></p>'
    )
    assert visible("a\u202eb\ud800c\nd") == "a\ufffdb\ufffdc d"
    assert embedded({"a": "</script>&é"}) == '{"a":"\\u003c/script\\u003e\\u0026\\u00e9"}'


def test_hostile_words_are_only_text():
    made = hostile()
    page = render(
        summarise(made, HOSTILE, np.arange(len(HOSTILE)), title=HOSTILE[0], response=HOSTILE[3])
    )
    page.encode("utf-8")
    assert "\0" not in page
    assert "\u202e" not in page
    assert page.count("<script") == 2
    assert "<img" not in page
    assert "&lt;script&gt;window.pwned=1&lt;/script&gt;" in page


def test_a_page_is_one_file_that_asks_for_nothing(summary):
    page = render(summary)
    addresses = set(re.findall(r"https?://[\w./]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name of a language, not an address
    assert "default-src 'none'" in page
    assert re.search(r"[^.\w]style=\"", page) is None
    assert re.search(r"\{\{\w+\}\}", page) is None


def test_a_large_model_makes_a_page_of_under_four_megabytes(rng):
    words = [f"word{i}" for i in range(10_000)]
    made = pipeline(words, rng.random((10_000, 20)), np.arange(20.0))
    assert len(render(summarise(made))) < 3e6  # no zero among 200,000 numbers: the worst case


def test_writing_replaces_a_page_or_leaves_it_alone(summary, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    write_page(summary, path)
    assert path.read_text(encoding="utf-8") == render(summary)
    path.write_text("older")

    def fails(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fails)
    with pytest.raises(OSError, match="disk full"):
        write_page(summary, path)
    assert path.read_text() == "older"
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_topics_look_different_also_when_there_are_many(rng):
    made = pipeline(["room", "bed"], np.ones((2, 30)), np.arange(30.0))
    classes = [" ".join(c.split()[:2]) for c in looks(summarise(made))]
    assert len(set(classes)) == 30
    two = pipeline(["room", "bed"], np.ones((2, 2)), [0.0, 6.0])
    assert [c.split()[2] for c in looks(summarise(two))] == ["l0", "l10"]  # about their mean, 3


VISIONS = {  # Machado, Oliveira and Fernandes (2009), severity 1
    "all colours": np.eye(3),
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_CONES = [  # from linear sRGB, and from their cube roots to OKLab
    [0.41222147, 0.53633254, 0.05144599],
    [0.2119035, 0.68069955, 0.10739696],
    [0.08830246, 0.28171884, 0.6299787],
]
TO_LAB = [
    [0.21045426, 0.79361779, -0.00407205],
    [1.9779985, -2.42859221, 0.45059371],
    [0.02590404, 0.78277177, -0.80867577],
]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISIONS)
def test_hues_are_told_apart_by_all_eyes(theme, vision):
    """At least 0.1 apart in OKLab, five times what can just be noticed."""
    pairs = re.findall(r"--h\d: light-dark\(#(\w{6}), #(\w{6})\)", _resource("page.css"))
    assert len(pairs) == 10
    codes = [pair[theme == "dark"] for pair in pairs]
    srgb = np.array([[int(code[i : i + 2], 16) / 255 for i in (0, 2, 4)] for code in codes])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.transpose(VISIONS[vision]), 0, 1)
    lab = np.cbrt(seen @ np.transpose(TO_CONES)) @ np.transpose(TO_LAB)
    assert min(np.linalg.norm(a - b) for a, b in combinations(lab, 2)) > 0.1
