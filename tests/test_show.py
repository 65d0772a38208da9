"""The page, the notebook, the plots and the command show the same of a fit, or nothing."""

import json
import pickle
import re
from html import unescape
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_texts import small_texts

import topicprism
from topicprism import (
    AnchorLDA,
    AnchorSLDA,
    DiscLDA,
    GibbsSLDA,
    HybridSLDA,
    MedLDA,
    MedLDAClassifier,
    SpectralLDA,
    SpectralSLDA,
    VariationalSLDA,
    VariationalSLDAClassifier,
)
from topicprism.cli import main
from topicprism.show.citations import SOURCES, sources_of
from topicprism.show.effects import effects, fixed, percent
from topicprism.show.markup import typeset
from topicprism.show.plots import plot_effects, plot_topics
from topicprism.show.report import render, summarise
from topicprism.show.words import top_words

matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

TEXTS, STARS = small_texts(150)
THREE = np.array(["bad", "good", "middling"])[np.digitize(STARS, [2, 4])]
CHAIN = {"burn_in": 10, "n_kept": 30}
ESTIMATORS = {  # each with its responses, and whether it has intervals
    "SpectralSLDA": (SpectralSLDA(3, random_state=0), STARS, True),
    "SpectralLDA": (SpectralLDA(3, random_state=0), None, False),
    "SpectralLDA with numbers": (SpectralLDA(3, random_state=0), STARS, False),
    "GibbsSLDA": (GibbsSLDA(3, random_state=0, **CHAIN), STARS, True),
    "HybridSLDA": (HybridSLDA(3, random_state=0, **CHAIN), STARS, True),
    "MedLDA": (MedLDA(3, random_state=0, **CHAIN), STARS, True),
    "MedLDA, refit": (MedLDA(3, refit=True, random_state=0, **CHAIN), STARS, True),
    "MedLDA, C=0": (MedLDA(3, C=0.0, random_state=0, **CHAIN), STARS, True),
    "draws": (GibbsSLDA(3, cross_fit=False, random_state=0, **CHAIN), STARS, True),
    "draws of a loss": (MedLDA(3, cross_fit=False, random_state=0, **CHAIN), STARS, False),
    "2 classes": (MedLDAClassifier(3, random_state=0, **CHAIN), THREE == "good", False),
    "2 classes, refit": (
        MedLDAClassifier(3, refit=True, random_state=0, **CHAIN), THREE == "good", False,
    ),
    "3 classes": (MedLDAClassifier(3, random_state=0, **CHAIN), THREE, False),
    "VariationalSLDA": (VariationalSLDA(3, random_state=0), STARS, False),
    "softmax": (VariationalSLDAClassifier(3, random_state=0), THREE, False),
    "AnchorLDA": (AnchorLDA(3, random_state=0), None, False),
    "AnchorSLDA": (AnchorSLDA(3, random_state=0), STARS, False),
    "DiscLDA": (DiscLDA(3, random_state=0), THREE, False),
}  # fmt: skip


@pytest.fixture(scope="module", params=ESTIMATORS)
def case(request):
    estimator, y, known = ESTIMATORS[request.param]
    return topicprism.fit(TEXTS, y, estimator=estimator, max_df=1.0), known


@pytest.fixture
def fitted(case):
    """With a share of its own for each topic, not in the order of the prior's."""
    made = pickle.loads(pickle.dumps(case[0]))
    made.info_["shares"] = [0.3, 0.66, 0.04]
    return made


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


class Rows(HTMLParser):
    """The cells of the rows of an HTML table."""

    def __init__(self, html):
        super().__init__()
        self.rows = []
        self.inside = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self.inside = tag in ("td", "th") or (self.inside and tag != "tr")

    def handle_data(self, data):
        if self.inside and self.rows:
            self.rows[-1][-1] += data


def command(fitted, tmp_path, capsys, *options):
    fitted.save(tmp_path / "m.tprism")
    capsys.readouterr()
    assert main(["topics", str(tmp_path / "m.tprism"), *options]) == 0
    return capsys.readouterr().out


def test_an_estimator_has_intervals_or_none(case):
    made, known = case
    assert (effects(made).interval is not None) == known


def test_the_command_lists_what_is_known(fitted, tmp_path, capsys):
    shown = effects(fitted)
    told = json.loads(command(fitted, tmp_path, capsys, "--json"))
    listed, noise = told["topics"], told["chosen"].get("noise_variance", {"value": None})
    numeric = shown.coef is not None and shown.response == "response"
    assert noise["value"] == (fitted.topics.noise_variance_ if numeric else None)
    assert_array_equal([t["number"] - 1 for t in listed], shown.order)
    assert [t["share"] for t in listed] == [fitted.info["shares"][i] for i in shown.order]
    assert [t["coefficient"] for t in listed] == (
        [None] * 3 if shown.coef is None else shown.coef[shown.order].tolist()
    )
    expected = [shown.ends(i) for i in shown.order]
    assert [t["interval"] and tuple(t["interval"]) for t in listed] == expected


def test_the_command_prints_the_same(fitted, tmp_path, capsys):
    shown, out = effects(fitted), command(fitted, tmp_path, capsys)
    assert ("95% interval" in out) == (shown.interval is not None)
    regression = shown.coef is not None and shown.response == "response"
    assert ("noise variance" in out) == regression
    rows = re.findall(r"^ (\d) +(.*?) +([\d.<]+%)  ", out, re.M)
    told = [re.split(" {2,}", middle) if middle else [] for _, middle, _ in rows]
    assert [int(n) - 1 for n, _, _ in rows] == shown.order.tolist()
    assert [share for _, _, share in rows] == [percent(shown.share[i]) for i in shown.order]
    assert told == [texts(shown, i) for i in shown.order]


def texts(shown, i):
    """Coefficient and interval of a topic as they should be written, if they are there."""
    if shown.coef is None:
        return []
    interval = [] if shown.interval is None else [shown.format_interval(i)]
    return [shown.format_effect(shown.coef[i]), *interval]


def again(shown, i):
    """Whether a topic was found again, if that is known."""
    found = shown.found_again(i)
    return [] if found is None else ["yes" if found else "no"]


def test_the_notebook_shows_the_same(fitted):
    shown, (_, *rows) = effects(fitted), Rows(fitted._repr_html_()).rows
    assert [int(row[0]) - 1 for row in rows] == shown.order.tolist()
    for row, i in zip(rows, shown.order, strict=True):
        said = [*texts(shown, i), percent(shown.share[i]), *again(shown, i)]
        found = [cell for cell in row[1:-1] if cell not in THREE]  # the class of the largest
        assert found == [typeset(text) for text in said]


def test_the_plot_shows_the_same(fitted):
    shown = effects(fitted)
    titles = [ax.get_title(loc="left") for ax in plot_topics(fitted).axes]
    assert [int(title.split(":")[0]) - 1 for title in titles] == shown.order.tolist()
    assert all(percent(shown.share[i]) in t for i, t in zip(shown.order, titles, strict=True))
    if shown.coef is None:
        return
    ax = plot_effects(fitted)
    *bars, dots = [c for c in ax.collections if len(c.get_offsets()) or hasattr(c, "get_segments")]
    assert_allclose(dots.get_offsets()[:, 0], shown.coef[shown.order])
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first on top
    numbers = [int(tick.get_text().rsplit("  ", 1)[1]) - 1 for tick in ax.get_yticklabels()]
    assert numbers == shown.order.tolist()
    drawn = [segment[:, 0].tolist() for bar in bars for segment in bar.get_segments()]
    assert_allclose(drawn, [shown.ends(i) for i in shown.order] if shown.interval else [])


def test_the_page_shows_the_same(fitted):
    shown = effects(fitted)
    if hasattr(fitted.topics, "classes_"):
        with pytest.raises(ValueError, match="the page shows effects on a number"):
            summarise(fitted)
        return
    s = summarise(fitted, TEXTS, STARS, held_out=False)
    assert [n - 1 for n in s.order] == shown.order.tolist()
    assert [t.share for t in s.topics] == shown.share.tolist()
    assert [None if t.low is None else (t.low, t.high) for t in s.topics] == [
        shown.ends(i) for i in range(3)
    ]
    page = render(s)
    assert ("interval end" in page) == (shown.interval is not None)
    if shown.coef is None:
        assert 'id="effects"' not in page
        return
    assert [t.effect for t in s.topics] == shown.coef.tolist()
    assert s.parameters.noise_variance == fitted.topics.noise_variance_
    section = page[page.index('id="effects"') : page.index('id="topics"')]
    _, *rows = Rows(section).rows
    assert [int(row[0][0]) - 1 for row in rows] == shown.order.tolist()
    for row, i in zip(rows, shown.order, strict=True):
        assert [row[2], *row[4:]] == [
            typeset(text) for text in [*texts(shown, i), percent(shown.share[i]), *again(shown, i)]
        ]


def test_every_estimator_says_whose_method_it_is(fitted):
    topics, spectral = fitted.topics, "Yong Ren, Yining Wang and Jun Zhu"
    sources = sources_of(type(topics))
    assert sources == SOURCES[type(topics).__name__]
    assert any(source.named == spectral for source in sources) == hasattr(topics, "selection_")
    for source in sources:
        assert source.bibtex.count(source.authors) == source.bibtex.count(source.title) == 1
    if hasattr(topics, "classes_"):
        return
    page = unescape(render(summarise(fitted)))
    cited = page[page.index("How to cite") :]
    for source in sources:
        assert f"The {source.part} is that of {source.named}, <cite>{source.title}</cite>" in cited
        assert source.bibtex in cited
    assert cited.count("@article") + cited.count("@inproceedings") == len(sources)
    assert (spectral in cited) == hasattr(topics, "selection_")


def test_a_kind_of_an_estimator_is_cited_as_that_is():
    class Mine(GibbsSLDA):
        pass

    assert [source.named for source in sources_of(Mine)] == ["David M. Blei and Jon D. McAuliffe"]
    assert sources_of(dict) == ()
    made = {n for n in topicprism.__all__ if hasattr(getattr(topicprism, n), "fit_transform")}
    assert made - {"FastCountVectorizer", "TopicPipeline"} == set(SOURCES)


def test_words_come_in_one_order(fitted, tmp_path, capsys):
    """By how much more often a topic has them than the documents do, all topics together."""
    share = np.array(fitted.info["shares"])
    expected = top_words(fitted.model, fitted.words, 10, p=fitted.model.mu @ share, share=share)
    listed = json.loads(command(fitted, tmp_path, capsys, "--json", "--words", "10"))["topics"]
    assert [t["words"] for t in listed] == [expected[t["number"] - 1] for t in listed]
    _, *rows = Rows(fitted._repr_html_()).rows
    assert [row[-1] for row in rows] == [", ".join(expected[int(row[0]) - 1]) for row in rows]
    panels = plot_topics(fitted).axes
    drawn = [[tick.get_text() for tick in ax.get_yticklabels()] for ax in panels]
    assert drawn == [expected[t["number"] - 1] for t in listed]
    if not hasattr(fitted.topics, "classes_"):
        page = summarise(fitted, TEXTS, STARS).topics
        assert [[w.text for w in t.relevant[:10]] for t in page] == expected


def test_a_classifier_has_no_range_of_responses():
    """Labels that are numbers are no responses."""
    labels = (THREE == "good").astype(int)
    made = topicprism.fit(
        TEXTS, labels, estimator=MedLDAClassifier(3, random_state=0, **CHAIN), max_df=1.0
    )
    shown = effects(made)
    assert made.info["response"]["max"] == 1.0
    assert shown.left is None
    assert_allclose(shown.average, shown.coef @ made.model.alpha / made.model.alpha.sum())


def test_an_interval_that_is_no_number_is_unknown():
    topics = SpectralSLDA(3, random_state=0)
    made = topicprism.fit(TEXTS, STARS, estimator=topics, max_df=1.0)
    made.topics.coef_std_ = np.array([0.1, np.nan, 0.2])
    shown = effects(made)
    assert shown.ends(1) is None
    assert shown.format_interval(1) == "unknown"
    assert shown.format_interval(0) != "unknown"


def test_numbers_of_the_page_are_those_of_the_terminal():
    assert fixed(-1234.567, 1) == "-1,234.6"
    assert fixed(-0.001, 2) == "0.00"
    assert fixed(-2.5e15, 3) == "-2.5e+15"
    assert typeset(fixed(-1.5, 1)) == "\u22121.5"
    assert typeset(percent(0.0001)) == "<\u202f0.1\u00a0%"
