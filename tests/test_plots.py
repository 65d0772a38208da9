"""Pictures and tables say what the model says, also of words that mean mischief."""

import pickle
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from small_texts import small_texts
from varied_texts import varied_texts

import topicprism
from topicprism import GibbsSLDA, MedLDAClassifier, SpectralLDA, SpectralSLDA
from topicprism.datasets import make_reviews
from topicprism.learn import Selection, Trial
from topicprism.show.effects import decimals, effects, percent, shares
from topicprism.show.plots import (
    MEASURES,
    plot_effects,
    plot_selection,
    plot_spectrum,
    plot_topics,
    to_pyldavis,
)
from topicprism.show.words import top_ids, top_words
from topicprism.vectorizer import FastCountVectorizer

matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

TEXTS, STARS = small_texts(150)
LABELS = np.array(["bad", "good", "middling"])[np.digitize(STARS, [2, 4])]
MISCHIEF = [
    "<script>alert(1)</script>", "&amp;", '"\'><img src=x onerror=alert(2)>', "$x_1$", "$",
    "\\frac", "\u202eevil\u202c", "\u05e9\u05dc\u05d5\u05dd", "caf\u00e9", "a" * 300, "%s", "{0}",
    "</td>", "javascript:alert(3)", "_", "^", "#", "",
]  # fmt: skip


@pytest.fixture(scope="module")
def pipeline():
    return topicprism.fit(TEXTS, STARS, n_topics=3, alpha0=1.0, max_df=1.0)


@pytest.fixture
def topics(pipeline):
    return pickle.loads(pickle.dumps(pipeline.topics))


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def drawn(figure):
    """The figure rendered, which is when matplotlib finds fault with texts."""
    figure.canvas.draw()
    return figure


def choice(n_topics=3, trials=(), spectrum=(1.0, 0.5), threshold=0.1):
    return Selection(n_topics, 1.0, 0.1, tuple(trials), np.array(spectrum), threshold, {})


# --- what there is to show ------------------------------------------------------------


def test_intervals_come_from_standard_errors(topics):
    topics.coef_std_ = np.array([0.1, 0.2, 0.3])
    low, high = effects(topics).interval
    assert_allclose(high - low, 2 * 1.96 * topics.coef_std_)
    del topics.coef_std_
    assert effects(topics).interval is None


def test_draws_alone_are_no_interval():
    X = FastCountVectorizer().fit_transform(TEXTS)
    gibbs = GibbsSLDA(3, burn_in=5, n_kept=40, random_state=0, cross_fit=False).fit(X, STARS)
    low, high = effects(gibbs).interval
    inside = (low <= gibbs.coef_draws_) & (gibbs.coef_draws_ <= high)
    assert_allclose(inside.mean(axis=0), 0.95, atol=0.05)
    del gibbs.coef_std_
    assert effects(gibbs).interval is None


def test_a_class_can_be_chosen():
    X = FastCountVectorizer().fit_transform(TEXTS)
    three = MedLDAClassifier(3, burn_in=20, n_kept=5, random_state=0).fit(X, LABELS)
    assert_allclose(effects(three, label="good").coef, three.coef_[1])
    assert effects(three).response == "tendency to middling"
    two = MedLDAClassifier(2, burn_in=20, n_kept=5, random_state=0).fit(X, LABELS == "good")
    assert_allclose(effects(two).coef, two.coef_)
    assert_allclose(effects(two, label=False).coef, -two.coef_)
    with pytest.raises(ValueError, match="label='best', but expected one of 'bad', 'good', 'midd"):
        effects(three, label="best")


def test_numbers_are_as_fine_as_they_differ(topics):
    def said(coef, value, std=None):
        topics.coef_, topics.coef_std_ = np.array(coef), std
        return effects(topics).format_effect(value)

    assert said([1.0, 3.0, 5.0], 3.14159) == "3.14"
    assert said([0.001, 0.002, 0.003], 0.00234567) == "0.00235"
    assert said([100.0, 5000.0, 90000.0], 1234.567) == "1,235"
    assert said([0.0, 0.0, 0.0], 0.0) == "0.00"
    assert said([1e9, 2e9, 5e9], 1.5e9) == "1,500,000,000"
    assert said([1e9, 2e9, 5e99], 5e99) == "5e+99"
    assert said([1.0, 3.0, 5.0], 3.14159, np.full(3, 0.003)) == "3.142"
    assert said([1.0, 3.0, 5.0], 3.14159, np.full(3, 1e-8)) == "3.1416"
    assert said([0.0, 1.0, 5.0], -0.0001) == "0.00"
    assert [decimals(x) for x in (3.5, 350, 0.0021, 1e12, 0)] == [2, 0, 5, 0, 2]
    shown = [percent(x) for x in (0.0, 0.0004, 0.001, 0.0949, 0.123, 1.0)]
    assert shown == ["0%", "<0.1%", "0.1%", "9.5%", "12%", "100%"]


# --- plots ----------------------------------------------------------------------------


def test_effects_are_drawn_in_order_with_their_words(pipeline):
    ax = plot_effects(pipeline)
    drawn(ax.figure)
    dots = ax.collections[-1].get_offsets()
    assert_allclose(dots[:, 0], np.sort(pipeline.model.eta))
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    expected = top_words(pipeline.model, pipeline.words, 6)
    order = np.argsort(pipeline.model.eta)
    assert labels == [f"{', '.join(expected[i])}  {i + 1}" for i in order]
    average = next(line for line in ax.lines if len(set(line.get_xdata())) == 1)
    assert_allclose(average.get_xdata()[0], STARS.mean())


def test_intervals_are_drawn_when_known(topics):
    del topics.coef_std_
    assert len(plot_effects(topics).collections) == 1
    topics.coef_std_ = np.full(3, 0.1)
    bars, _ = plot_effects(topics).collections
    ends = np.array([segment[:, 0] for segment in bars.get_segments()])
    assert_allclose(ends[:, 1] - ends[:, 0], 2 * 1.96 * 0.1)


def test_topics_get_a_panel_each(pipeline):
    figure = drawn(plot_topics(pipeline, n_words=5, n_columns=2))
    panels = [ax for ax in figure.axes if ax.get_visible()]
    assert len(panels) == 3
    for ax, i in zip(panels, np.argsort(pipeline.model.eta), strict=True):
        words = [tick.get_text() for tick in ax.get_yticklabels()]
        assert words == top_words(pipeline.model, pipeline.words, 5)[i]
        columns = [list(pipeline.words).index(word) for word in words]
        widths = [bar.get_width() for bar in ax.patches]
        assert_allclose(widths, pipeline.model.mu[columns, i])


def test_plots_go_where_they_are_told(pipeline, topics):
    topics.selection_ = choice(3, [Trial(3, 1.0, 0.1, 0.5, 0.1)])
    figure, axes = plt.subplots(1, 3)
    assert plot_effects(pipeline, ax=axes[0]) is axes[0]
    assert plot_spectrum(pipeline, ax=axes[1]) is axes[1]
    assert plot_selection(topics, ax=axes[2]) is axes[2]
    assert plt.get_fignums() == [figure.number]


@pytest.mark.filterwarnings("ignore:Glyph .* missing")
@pytest.mark.parametrize("draw", [plot_effects, plot_topics])
def test_words_are_shown_whatever_they_are(draw, topics):
    """Letter by letter, but for a dollar, which is escaped, and the ends of long ones."""
    made = draw(topics, MISCHIEF, n_words=18)
    figure = drawn(made if draw is plot_topics else made.figure)
    labels = [[tick.get_text() for tick in ax.get_yticklabels()] for ax in figure.axes]
    ids, order = top_ids(topics.model_, 18), np.argsort(topics.coef_)
    shown = [[MISCHIEF[w].replace("$", r"\$") for w in ids[i]] for i in order]
    cut = [[word if len(word) <= 24 else word[:23] + "…" for word in words] for words in shown]
    if draw is plot_topics:
        assert labels == cut
    else:
        beginnings = [label.rsplit("  ", 1)[0] for label in labels[0]]
        for label, words in zip(beginnings, cut, strict=True):
            assert label.startswith(", ".join(words[:2]))
            assert len(label) <= 70


def test_long_words_are_cut_and_long_lists_end_early(topics):
    ax = plot_effects(topics, ["long" * 20 + str(i) for i in range(18)], n_words=9)
    drawn(ax.figure)
    labels = [tick.get_text().rsplit("  ", 1)[0] for tick in ax.get_yticklabels()]
    assert {len(label) for label in labels} <= {24, 50}
    assert all(label.endswith("longlon…") for label in labels)


def test_a_dollar_is_a_dollar(topics):
    words = ["$9.99$", *[f"w{i}" for i in range(17)]]
    ax = plot_effects(topics, words, n_words=18)
    drawn(ax.figure)
    assert any(r"\$9.99\$" in tick.get_text() for tick in ax.get_yticklabels())


def test_spectrum_shows_what_was_used_and_where_chance_begins(pipeline, topics):
    values = topics.selection_.spectrum
    ax = plot_spectrum(pipeline)
    assert_allclose(ax.lines[0].get_ydata(), values[:3])
    assert_allclose(ax.lines[1].get_ydata(), values[3:][values[3:] > 0])
    assert_allclose(ax.lines[2].get_ydata(), topics.selection_.threshold)
    assert ax.get_yscale() == "log"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["number of topics", "others", "limit of sampling noise"]


def test_selection_shows_each_trial_and_the_choice(topics):
    trials = [Trial(k, a, 0.1, 0.5 - 1 / k, 0.01 * a) for k, a in ((2, 1.0), (4, 2.0), (8, 2.0))]
    topics.selection_ = choice(8, trials)
    ax = plot_selection(topics)
    drawn(ax.figure)
    (box,) = ax.containers
    assert_allclose(box.lines[0].get_xdata(), [2, 4, 8])
    assert_allclose(box.lines[0].get_ydata(), [0, 0.25, 0.375])
    ends = np.array(box.lines[2][0].get_segments())[:, :, 1]
    assert_allclose(ends[:, 1] - ends[:, 0], [0.02, 0.04, 0.04])
    assert "chosen: 8" in [text.get_text() for text in ax.texts]
    ticks = [tick.get_text() for tick in ax.get_xticklabels()]
    assert ticks == ["2\nalpha0 1", "4\nalpha0 2", "8\nalpha0 2"]


def test_selection_shows_other_measures_where_they_are_known(topics):
    known = [Trial(k, 1.0, 0.1, 0.5, 0.01, -7 + 0.1 * k, 0.1 / k, 1 / k, k) for k in (2, 4)]
    topics.selection_ = choice(4, known)
    for measure in MEASURES:
        ax = plot_selection(topics, measure)
        (box,) = ax.containers
        assert_allclose(box.lines[0].get_ydata(), [getattr(t, measure) for t in known])
        assert ax.get_ylabel() == MEASURES[measure]
        assert box.has_yerr == (measure == "pr2")
    with pytest.raises(ValueError, match="got measure='r2', but expected one of 'pr2', 'log_l"):
        plot_selection(topics, "r2")
    topics.selection_ = choice(2, [Trial(2, 1.0, 0.1, 0.5, 0.01)])  # of a file of earlier days
    with pytest.raises(ValueError, match="fitted by a version that did not measure it"):
        plot_selection(topics, "coherence")


@pytest.mark.parametrize(("n_topics", "said"), [("auto", "chosen: 8"), (3, "asked for: 3")])
def test_a_selection_without_trials_is_marked_in_the_spectrum(n_topics, said):
    texts, stars, _ = make_reviews(1_500, random_state=0)
    fitted = topicprism.fit(texts, stars, n_topics=n_topics)
    assert fitted.topics.selection_.trials == ()
    ax = fitted.plot_selection()
    drawn(ax.figure)
    assert ax.get_ylabel() == "eigenvalue of the second moment"
    assert said in [text.get_text() for text in ax.texts]
    assert_allclose(ax.lines[-1].get_xdata(), fitted.model.n_topics)
    assert plot_selection(fitted, ax=ax) is ax


def test_a_pipeline_draws_itself(pipeline):
    assert pipeline.plot_effects(n_words=2).get_xlabel() == plot_effects(pipeline).get_xlabel()
    assert len(pipeline.plot_topics(n_columns=3).axes) == 3
    assert pipeline.plot_spectrum().get_yscale() == "log"
    assert pipeline.to_pyldavis(TEXTS)["vocab"] == to_pyldavis(pipeline, TEXTS)["vocab"]


def test_a_fit_of_varied_text_is_drawn():
    fitted = topicprism.fit(*varied_texts(400), n_jobs=1)
    for plot in (plot_effects, plot_spectrum, plot_selection):
        drawn(plot(fitted).figure)
    drawn(plot_topics(fitted))
    low, high = effects(fitted.topics).interval
    assert (low < high).all()
    band = plot_effects(fitted).patches[0]
    ends = band.get_x(), band.get_x() + band.get_width()
    assert_allclose(ends, [fitted.info["response"][end] for end in ("min", "max")])
    assert len(plot_effects(fitted.topics, fitted.words).patches) == 0  # nobody knows


def test_topics_without_a_response_are_drawn_by_share():
    fitted = topicprism.fit(TEXTS, estimator=SpectralLDA, n_topics=3, max_df=1.0)
    figure = drawn(plot_topics(fitted))
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    share = effects(fitted.topics).share
    assert titles == [f"{i + 1}:  ({percent(share[i])} of the prior)" for i in np.argsort(-share)]


def test_shares_are_those_a_pipeline_has_measured(pipeline):
    """One share of a topic, wherever it is shown; that of the prior is called so."""
    made = pickle.loads(pickle.dumps(pipeline))
    made.info_["shares"] = [0.17, 0.29, 0.54]
    page = Page(made._repr_html_())
    assert page.cells[3::5] == ["17\u00a0%", "29\u00a0%", "54\u00a0%"]
    assert "share of words" in made._repr_html_()
    titles = [ax.get_title(loc="left") for ax in plot_topics(made).axes]
    assert [title.split("(")[1] for title in titles] == [f"{n}% of words)" for n in (17, 29, 54)]
    beside = [text.get_text() for text in plot_effects(made).texts]
    assert {"of words", "17%", "29%", "54%"} <= set(beside)
    assert "share of the prior" in made.topics._repr_html_()
    assert "of the prior" in [text.get_text() for text in plot_effects(made.topics).texts]


@pytest.mark.parametrize("odd", [[0.5, 0.5], ["a", "b", "c"], [2.0, 0.0, -1.0], "abc", None])
def test_shares_that_are_none_are_not_shown(pipeline, odd):
    share, of = shares(pipeline.model, {"shares": odd})
    assert of == "of the prior"
    assert_allclose(share, pipeline.model.alpha / pipeline.model.alpha.sum())


def test_topics_have_the_number_that_they_have_on_the_page(pipeline):
    page = Page(pipeline._repr_html_())
    by_number = dict(zip(page.cells[0::5], page.cells[4::5], strict=True))
    said = top_words(pipeline.model, pipeline.words, 10)
    assert by_number == {str(i + 1): ", ".join(said[i]) for i in range(3)}
    titles = [ax.get_title(loc="left") for ax in plot_topics(pipeline).axes]
    assert [title.split(":")[0] for title in titles] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda p: plot_effects(p["lda"]), "got a SpectralLDA, which has no coefficients, but"),
        (lambda p: plot_spectrum(p["gibbs"]), "got a GibbsSLDA, which has no spectrum, but"),
        (lambda p: plot_selection(p["gibbs"]), "got a GibbsSLDA, which has no spectrum, but"),
        (lambda p: plot_effects(p["ridge"]), "got a Ridge, but expected a fitted estimator of"),
        (lambda p: plot_effects(p["gibbs"], ["a"]), r"words of shape \(1,\), but the model was"),
        (lambda p: to_pyldavis(p["pipeline"], ["", "?"]), "none of 2 documents has a word of the"),
    ],
)
def test_mistakes_get_a_sentence(draw, message, pipeline):
    X = FastCountVectorizer().fit_transform(TEXTS)
    things = {
        "lda": SpectralLDA(2, random_state=0).fit(X),
        "gibbs": GibbsSLDA(2, burn_in=1, n_kept=1, cross_fit=False).fit(X, STARS),
        "ridge": Ridge().fit(X, STARS),
        "pipeline": pipeline,
    }
    with pytest.raises(ValueError, match=message):
        draw(things)
    with pytest.raises(NotFittedError):
        plot_topics(clone(pipeline))


def test_without_matplotlib_there_is_a_sentence():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from topicprism.show.plots import _pyplot\n"
        "try: _pyplot()\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'topicprism[plot]'" in run.stdout, run.stderr


# --- a table for the notebook ---------------------------------------------------------


class Page(HTMLParser):
    """Tags and texts of a page, and whether tags are closed as they should be."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.open, self.cells = [], set(), [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open:
            self.cells[-1] += data


HARMLESS = {"div", "p", "b", "bdi", "table", "thead", "tbody", "tr", "th", "td", "span"}


def test_a_fitted_pipeline_shows_its_topics(pipeline):
    page = Page(pipeline._repr_html_())
    assert set(page.tags) <= HARMLESS
    assert page.attributes <= {"style", "scope", "aria-hidden"}
    assert page.tags.count("tr") == 4
    said = top_words(pipeline.model, pipeline.words, 10)
    assert page.cells[4::5] == [", ".join(words) for words in said]
    assert [float(cell) for cell in page.cells[1::5]] == pytest.approx(pipeline.model.eta, abs=0.01)
    assert "150 documents, 3 topics over 18 words" in pipeline._repr_html_()
    assert pipeline._repr_mimebundle_()["text/html"] == pipeline._repr_html_()


def test_a_model_tells_its_size(pipeline):
    model = replace(pipeline.model, sigma=0.5, alpha=np.full(3, 0.5))
    assert repr(model) == "Model(3 topics over 18 words, alpha0=1.5, noise variance 0.25)"
    assert not hasattr(model, "_repr_html_")


def test_an_estimator_without_words_makes_none_up(pipeline, topics):
    html = topics._repr_html_()
    assert len(Page(html).cells) == 12
    assert "the estimator has no vocabulary" in html
    assert not re.search(r"word \d", html)
    assert "has no vocabulary" not in pipeline._repr_html_()
    topics.feature_names_in_ = pipeline.words
    assert len(Page(topics._repr_html_()).cells) == 15


def test_hostile_words_are_shown_as_text(topics):
    topics.feature_names_in_ = np.array(MISCHIEF, dtype=object)
    page = Page(topics._repr_html_())
    assert set(page.tags) <= HARMLESS
    assert page.attributes <= {"style", "scope", "aria-hidden"}
    assert "<script>alert(1)</script>" in "".join(page.cells)


def test_hostile_labels_are_shown_as_text():
    X = FastCountVectorizer().fit_transform(TEXTS)
    mean = np.array(["<b>bad</b>", "<script>", "&"])[np.digitize(STARS, [2, 4])]
    for labels in (mean, np.where(mean == "&", "<script>", "<b>bad</b>")):
        fitted = MedLDAClassifier(3, burn_in=2, n_kept=2, random_state=0).fit(X, labels)
        page = Page(fitted._repr_html_())
        assert set(page.tags) <= HARMLESS
        assert page.tags.count("b") == 1


def test_intervals_are_listed_when_known(topics):
    topics.coef_, topics.coef_std_ = np.array([-1.0, 3.0, 5.0]), np.full(3, 0.1)
    page = Page(topics._repr_html_())
    assert page.cells[1::4] == ["\u22121.00", "3.00", "5.00"]
    assert page.cells[2::4] == ["\u22121.20 to \u22120.80", "2.80 to 3.20", "4.80 to 5.20"]
    del topics.coef_std_
    assert len(Page(topics._repr_html_()).cells) == 9
    assert "interval" not in topics._repr_html_()


def test_before_fitting_the_diagram_is_scikit_learns(pipeline):
    for unfitted in (clone(pipeline), SpectralSLDA(), MedLDAClassifier()):
        assert "sk-estimator" in unfitted._repr_html_()
    ordinary = make_pipeline(FastCountVectorizer(), SpectralSLDA(3, alpha0=1.0, random_state=0))
    assert "sk-estimator" in ordinary.fit(TEXTS, STARS)._repr_html_()


def test_scikit_learns_setting_for_plain_text_is_heeded(pipeline):
    with config_context(display="text"):
        assert not hasattr(pipeline, "_repr_html_")
        assert "text/html" not in pipeline._repr_mimebundle_()


# --- pyLDAvis -------------------------------------------------------------------------


def test_pyldavis_gets_what_it_asks_for(pipeline):
    texts = [*TEXTS[:20], "", "no word known"]
    given = to_pyldavis(pipeline, texts)
    X = pipeline[0].transform(texts)
    used = np.flatnonzero(X.sum(axis=0))
    assert given["vocab"] == list(pipeline.words[used])
    assert_allclose(given["term_frequency"], X.sum(axis=0)[used])
    assert_allclose(given["doc_lengths"], X.sum(axis=1)[:20])
    assert given["doc_topic_dists"].shape == (20, 3)
    assert_allclose(given["doc_topic_dists"], pipeline.transform(texts)[:20])
    assert_allclose(given["doc_topic_dists"].sum(axis=1), 1)
    assert_allclose(given["topic_term_dists"].sum(axis=1), 1)
    assert (given["topic_term_dists"] > 0).all()


def test_pyldavis_of_an_estimator_and_few_documents(pipeline):
    texts = ["smile smile breakfast", "bus map"]
    by_counts = to_pyldavis(pipeline.topics, pipeline[0].transform(texts), pipeline.words)
    by_texts = to_pyldavis(pipeline, texts)
    assert by_counts["vocab"] == by_texts["vocab"] == ["breakfast", "bus", "map", "smile"]
    assert_allclose(by_counts["topic_term_dists"], by_texts["topic_term_dists"])


def test_the_real_pyldavis_takes_it(pipeline):
    pyldavis = pytest.importorskip("pyLDAvis")
    prepared = pyldavis.prepare(**to_pyldavis(pipeline, TEXTS), R=5, n_jobs=1)
    assert len(prepared.topic_coordinates) == 3
