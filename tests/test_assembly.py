"""One assembly: the command and ``topicprism.fit`` give the same answer and the same facts."""

import csv
import json
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, vstack
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from small_texts import small_texts

import topicprism
from topicprism import (
    AnchorSLDA,
    AutoSLDA,
    GibbsSLDA,
    HybridSLDA,
    MedLDA,
    MedLDAClassifier,
    SpectralLDA,
    SpectralSLDA,
    VariationalSLDA,
)
from topicprism.cli import main
from topicprism.cli.arguments import parser
from topicprism.cli.showing import scores
from topicprism.estimators.base import threads_for
from topicprism.evaluation import RunningPR2, pr2
from topicprism.pipeline.provenance import Fingerprint
from topicprism.pipeline.scoring import BASELINE, MEAN, OURS
from topicprism.show.report import summarise
from topicprism.vectorizer import FastCountVectorizer, counting

TEXTS, STARS = small_texts(300)
NEW = ["a friendly smile at breakfast", "the carpet: dirty, with mould", "nothing known"]
SAME = [  # facts that must be equal; the time of a fit is its own
    *["n_rows", "n_documents", "n_held_out", "n_baseline", "n_left_out", "n_words", "n_topics"],
    *["estimator", "scores", "too_common", "response", "fingerprint", "version"],
]


def write_csv(path, texts, y, names=("review", "stars")):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([names, *zip(texts, y, strict=True)])
    return path


@pytest.fixture
def untidy():
    """300 good rows, and among them some without a text, without a number, and too short."""
    texts, y = list(TEXTS), STARS.tolist()
    bad = [(5, None, 3.0), (50, "  ", 2.0), (70, "map pool bus walk", None)]
    short = [(90, "carpet", 4.0), (91, "of the", 1.0), (200, "Pool.", 5.0)]
    for at, text, stars in bad + short:
        texts.insert(at, text)
        y.insert(at, stars)
    return texts, y


def by_command(folder, texts, y, *options):
    table = write_csv(folder / "t.csv", texts, ["" if v is None else repr(v) for v in y])
    model = folder / "t.tprism"
    argv = ["fit", str(table), "-o", str(model), "--held-out", "0", "--quiet", "--json", *options]
    assert main(argv) == 0
    return topicprism.load(model)


def by_python(texts, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return topicprism.fit(texts, y, **options)


KINDS = {
    "spectral": (SpectralSLDA, [], {}),
    "auto": (AutoSLDA, None, None),
    "gibbs": (GibbsSLDA, ["--burn-in", "5", "--kept-sweeps", "3"], {"burn_in": 5, "n_kept": 3}),
    "medlda": (MedLDA, ["--burn-in", "5", "--kept-sweeps", "3"], {"burn_in": 5, "n_kept": 3}),
    "variational": (VariationalSLDA, ["--iterations", "5"], {"n_iterations": 5}),
    "anchors": (AnchorSLDA, [], {}),
    "hybrid": (HybridSLDA, ["--burn-in", "5", "--kept-sweeps", "3"], {"burn_in": 5, "n_kept": 3}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_and_python_are_one(kind, untidy, tmp_path, capsys):
    estimator, typed, options = KINDS[kind]
    if kind == "auto":
        command, python = by_command(tmp_path, *untidy), by_python(*untidy)
    else:
        command = by_command(tmp_path, *untidy, "--model", kind, "--n-topics", "3", *typed)
        python = by_python(*untidy, estimator=estimator, n_topics=3, **options)
    shown = json.loads(capsys.readouterr().out)
    assert {name: command.info[name] for name in SAME} == {n: python.info[n] for n in SAME}
    assert {name: shown[name] for name in SAME if name in shown}.items() <= python.info.items()
    assert python.info["n_rows"] == 306
    assert type(python.topics) is type(command.topics) is estimator
    spectral = estimator in (SpectralSLDA, AutoSLDA)  # samplers learn from short ones, too
    short = {"with fewer than 3 known words": 3} if spectral else {}
    assert python.info["n_left_out"] == {"empty text": 2, "no response": 1} | short
    assert python.info["n_documents"] == (300 if spectral else 303)
    assert_array_equal(command.words, python.words)
    assert_array_equal(command.topics.coef_, python.topics.coef_)
    assert_array_equal(command.topics.components_, python.topics.components_)
    assert_array_equal(command.predict(NEW), python.predict(NEW))


def test_facts_do_not_depend_on_how_the_table_is_cut(untidy, tmp_path, monkeypatch, capsys):
    """Into four shards here, against one."""
    monkeypatch.setattr("topicprism.io.tables.formats.CHUNK_CHARACTERS", 10_000)
    command = by_command(tmp_path, *untidy, "--n-topics", "3")
    python = by_python(*untidy, n_topics=3)
    same = [name for name in SAME if name != "response"]
    assert {name: command.info[name] for name in same} == {n: python.info[n] for n in same}
    for name, value in python.info["response"].items():
        assert command.info["response"][name] == pytest.approx(value, rel=1e-12)
    assert_array_equal(command.words, python.words)


def test_topics_without_a_response_are_the_same_too(untidy, tmp_path, capsys):
    texts, y = untidy
    command = by_command(tmp_path, texts, y, "--model", "lda", "--n-topics", "3")
    python = by_python(texts, None, estimator=SpectralLDA, n_topics=3)
    same = [name for name in SAME if name != "response"]
    assert {name: command.info[name] for name in same} == {n: python.info[n] for n in same}
    assert "response" not in command.info
    assert python.info["n_documents"] == 301  # one more: no number is needed
    assert_array_equal(command.transform(NEW), python.transform(NEW))


def test_the_defaults_are_one_copy():
    from inspect import signature

    args = parser().parse_args(["fit", "t.csv"])
    python = {name: p.default for name, p in signature(topicprism.fit).parameters.items()}
    assert (args.max_words, args.min_df, args.max_df) == tuple(
        python[name] for name in ("max_features", "min_df", "max_df")
    )
    assert (args.stop_words, (1, args.ngrams)) == (python["stop_words"], python["ngram_range"])
    assert (args.method, args.whitening, args.n_topics) == (None, None, None)  # the estimator's
    assert (not args.keep_case, args.jobs, args.seed) == tuple(
        python[name] for name in ("lowercase", "n_jobs", "random_state")
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--model", "gibbs", "--method", "joint"], "--method joint has no use with --model gibbs"),
        (["--model", "auto", "--method", "joint"], "--method joint has no use with --model auto"),
        (["--model", "lda", "--noise-variance", "1"], "--noise-variance 1.0 has no use with --mod"),
        (["--model", "lda", "--target", "stars"], "--target 'stars' has no use with --model lda"),
        (["--model", "lda", "--held-out", "0.5"], "--held-out 0.5 has no use with --model lda"),
        (
            ["--burn-in", "5"],
            "--burn-in 5 has no use with --model auto, which takes --n-topics",
        ),
        (
            ["--burn-in", "5", "--restarts", "9"],  # which only the spectral one takes
            "--burn-in 5 has no use with --model spectral, which takes --n-topics",
        ),
        (["--model", "gibbs", "--n-topics", "auto"], "give a number (default: 10)"),
        (["--model", "auto", "--inference", "gibbs"], "--inference gibbs has no use with --model"),
        (["--model", "hybrid", "--word-scale", "9"], "--word-scale 9.0 has no use with --model h"),
        (["--word-scale", "-1"], "--word-scale -1.0, but expected a number from 1e-12 up"),
    ],
)
def test_options_of_another_model_are_refused(options, sentence, tmp_path, capsys):
    table = write_csv(tmp_path / "t.csv", TEXTS, STARS)
    assert main(["fit", str(table), "-o", str(tmp_path / "m.tprism"), *options]) == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "m.tprism").exists()


def test_inference_and_word_scale_reach_the_estimator(tmp_path, capsys):
    """And the file, so that predict infers in the same way; they mean the spectral model."""
    table = write_csv(tmp_path / "t.csv", TEXTS, STARS)
    asked = {"n_topics": 3, "regime": "paper", "word_scale": 50.0, "inference": "gibbs"}
    typed = ["--n-topics", "3", "--regime", "paper", "--word-scale", "50", "--inference", "gibbs"]
    command = ["fit", str(table), "--max-df", "1.0", "--held-out", "0", *typed]
    assert main([*command, "-o", str(tmp_path / "m.tprism"), "--json", "--quiet"]) == 0
    facts = json.loads(capsys.readouterr().out)
    made = topicprism.load(tmp_path / "m.tprism")
    python = topicprism.fit(TEXTS, STARS, estimator=SpectralSLDA, max_df=1.0, **asked)
    assert type(made.topics) is SpectralSLDA
    assert asked.items() <= made.topics.get_params().items()
    assert_array_equal(made.predict(NEW), python.predict(NEW))
    asked |= {"word_scale": "auto", "inference": "propagation"}
    other = topicprism.fit(TEXTS, STARS, estimator=SpectralSLDA, max_df=1.0, **asked)
    assert not np.allclose(other.predict(NEW), made.predict(NEW))
    assert not np.allclose(other.model.mu, made.model.mu)
    assert facts["learnt_by"] == f"SpectralSLDA; {python.topics.selection_.reasons['method']}"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--n-topics", "3"], "AutoSLDA; Algorithm 2 (joint) of Ren, Wang and Zhu"),
        (
            ["--regime", "paper", "--n-topics", "3"],
            "SpectralSLDA; Algorithm 2 (joint) of Ren,",
        ),
        (["--model", "gibbs", "--n-topics", "2", "--burn-in", "2"], "GibbsSLDA"),
    ],
)
def test_the_command_names_the_method_that_was_taken(options, said, tmp_path, capsys):
    """In fit and topics, as text and as JSON, in the words of the page."""
    table, model = write_csv(tmp_path / "t.csv", TEXTS, STARS), str(tmp_path / "m.tprism")
    command = ["fit", str(table), "--max-df", "1.0", "--held-out", "0", *options, "--quiet"]
    assert main([*command, "-o", model]) == 0
    text = capsys.readouterr().out
    assert main(["topics", model]) == 0
    again = capsys.readouterr().out
    assert main(["topics", model, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["learnt_by"].startswith(said)
    for out in (text, again):
        line = " ".join(out[out.index("learnt by") :].split())
        assert line.startswith(f"learnt by {facts['learnt_by']} topics ")
    page = summarise(topicprism.load(model)).choice.method
    assert facts["learnt_by"] in (f"{said.split(';')[0]}; {page}", said)


# --- models without a number to predict --------------------------------------------------


@pytest.fixture(scope="module")
def lda(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lda")
    topicprism.fit(TEXTS, estimator=SpectralLDA, n_topics=3, max_df=1.0).save(folder / "m.tprism")
    write_csv(folder / "new.csv", NEW, [1, 2, 3])
    return folder


def test_topics_of_a_model_without_a_response_have_no_effects(lda, capsys):
    assert main(["topics", str(lda / "m.tprism")]) == 0
    out = capsys.readouterr().out
    heads = next(line for line in out.splitlines() if line.startswith(" #")).split()
    assert heads == ["#", "prior", "words"]
    assert "0.00" not in out
    assert "sigma" not in out
    assert main(["topics", str(lda / "m.tprism"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert {topic["coefficient"] for topic in facts["topics"]} == {None}
    assert set(facts["chosen"]) == {"topics", "alpha0"}


def test_predict_with_a_model_without_a_response(lda, capsys):
    assert main(["predict", str(lda / "m.tprism"), str(lda / "new.csv")]) == 2
    err = capsys.readouterr().err
    assert "holds a SpectralLDA, which was learnt without a response and predicts none; ask" in err
    argv = ["predict", str(lda / "m.tprism"), str(lda / "new.csv"), "--proportions"]
    assert main(argv) == 0
    head, first, *_ = csv.reader(capsys.readouterr().out.splitlines())
    assert head == ["row", "topic_1", "topic_2", "topic_3"]
    assert sum(map(float, first[1:])) == pytest.approx(1, abs=1e-4)


def test_a_model_of_counts_is_refused_before_anything_is_written(lda, tmp_path, capsys):
    X = FastCountVectorizer().fit_transform(TEXTS)
    topicprism.fit(X, STARS, n_topics=3).save(tmp_path / "m.tprism")
    argv = ["predict", str(tmp_path / "m.tprism"), str(lda / "new.csv"), "--text", "review"]
    assert main(argv) == 2
    done = capsys.readouterr()
    assert "was learnt from word counts, but a table has texts; use it from Python" in done.err
    assert done.out == ""


def test_a_page_about_a_model_without_a_response_needs_no_numbers(lda, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("text\n" + "\n".join(TEXTS))
    page = tmp_path / "page.html"
    argv = ["report", str(lda / "m.tprism"), str(tmp_path / "t.csv"), "-o", str(page), "--json"]
    assert main(argv) == 0, capsys.readouterr().err
    assert json.loads(capsys.readouterr().out)["n_documents_shown"] == 300


def test_a_fit_of_texts_alone_says_so(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("text\n" + "\n".join(TEXTS))
    model, page = tmp_path / "m.tprism", tmp_path / "page.html"
    argv = ["fit", str(tmp_path / "t.csv"), "-o", str(model), "--model", "lda", "--n-topics", "3"]
    assert main([*argv, "--report", str(page)]) == 0, capsys.readouterr().err
    out = capsys.readouterr().out
    assert "no score: the model has no response to predict" in out
    assert f"topicprism predict {model} NEW.csv --proportions" in out
    assert "sigma" not in out


def test_a_sampler_is_scored_on_documents_held_out(tmp_path, capsys):
    table = write_csv(tmp_path / "t.csv", TEXTS, STARS)
    argv = ["fit", str(table), "-o", str(tmp_path / "m.tprism"), "--model", "gibbs", "--json"]
    argv += ["--n-topics", "3", "--max-df", "1.0", "--burn-in", "30", "--kept-sweeps", "10"]
    assert main([*argv, "--report", str(tmp_path / "page.html")]) == 0, capsys.readouterr().err
    facts = json.loads(capsys.readouterr().out)
    assert (facts["n_documents"], facts["n_held_out"]) == (270, 30)
    assert facts["scores"]["topicprism"] > 0.5


def test_predict_with_a_classifier_writes_classes(tmp_path, capsys):
    labels = np.where(STARS > 3, "good", "bad").tolist()
    fitted = topicprism.fit(TEXTS, labels, estimator=MedLDAClassifier, n_topics=3, burn_in=20,
                            n_kept=5, max_df=1.0)  # fmt: skip
    fitted.save(tmp_path / "m.tprism")
    write_csv(tmp_path / "new.csv", NEW, [1, 2, 3])
    out = tmp_path / "out.parquet"
    argv = ["predict", str(tmp_path / "m.tprism"), str(tmp_path / "new.csv")]
    assert main([*argv, "-o", str(out)]) == 0
    assert pd.read_parquet(out)["prediction"].tolist() == list(fitted.predict(NEW))


@pytest.mark.parametrize("share", ["0", "0.2"])
def test_the_fit_on_the_training_table_is_not_called_predictive(share, tmp_path, capsys):
    table = write_csv(tmp_path / "t.csv", TEXTS, STARS)
    other = write_csv(tmp_path / "other.csv", TEXTS[:200], STARS[:200])
    model = str(tmp_path / "m.tprism")
    assert main(["fit", str(table), "-o", model, "--n-topics", "3", "--held-out", share]) == 0
    for path, training in ((table, True), (other, False)):
        assert main(["predict", model, str(path), "-o", str(tmp_path / "p.csv")]) == 0
        err = capsys.readouterr().err
        assert ("predictive R2" in err) is not training
        assert ("on the 300 documents of the training table" in err) is training
        assert ("60 of which the fit held out" in err) is (training and share == "0.2")


@pytest.mark.parametrize(("ridge", "who"), [(0.553, "--n-topics"), (0.01, "neither the topics")])
def test_a_poor_score_is_blamed_on_the_words_only_if_no_other_model_does_better(ridge, who):
    facts = {"n_held_out": 50, "n_baseline": 450, "n_documents": 450, "topics": [None]}
    told = [*scores(facts | {"scores": {OURS: -0.002, BASELINE: ridge, MEAN: -0.002}})]
    assert who in " ".join(" ".join(told).split())
    assert "interpret" not in " ".join(told)  # which is decided elsewhere, with the intervals


# --- scikit-learn, threads, files --------------------------------------------------------


@pytest.mark.parametrize("by", ["fit", "transform"])
def test_a_frame_whose_index_has_gaps(by):
    frame = pd.DataFrame({"text": TEXTS, "n": 1.0}, index=np.arange(300) * 7 + 3)
    inner = make_pipeline(FastCountVectorizer(), SpectralSLDA(3, random_state=0))
    columns = ColumnTransformer([("topics", inner, "text"), ("rest", "passthrough", ["n"])])
    columns.set_output(transform="pandas")
    found = columns.fit_transform(frame, STARS)
    if by == "transform":
        frame = frame.iloc[::-3]
        found = columns.transform(frame)
    assert found.index.equals(frame.index)
    assert found.shape == (len(frame), 4)
    plain = make_pipeline(FastCountVectorizer(), SpectralSLDA(3, random_state=0))
    alone = plain.fit(TEXTS, STARS).transform(frame["text"].tolist())
    assert_array_equal(found.iloc[:, :3].to_numpy(), alone)


def test_stop_words_are_looked_up_in_a_table_that_is_made_once(monkeypatch):
    pipeline = topicprism.fit(TEXTS, STARS, n_topics=3, max_df=1.0)
    pipeline.predict(NEW)
    calls = []

    def counted(names):
        calls.append(len(names))
        return counting.given(names)

    monkeypatch.setattr("topicprism.vectorizer.given", counted)
    before = pipeline.predict(NEW)
    assert calls == []
    pipeline.named_steps["counts"].set_params(stop_words=["friendly", "dirty"])
    assert (pipeline.predict(NEW)[:2] != before[:2]).all()
    assert calls == [2]


def test_a_file_holds_the_stop_words_themselves(tmp_path, monkeypatch):
    texts = [f"{text} therefore" for text in TEXTS]
    made = topicprism.fit(texts, STARS, n_topics=3, max_df=1.0)
    assert "therefore" not in made.words
    made.save(tmp_path / "m.tprism")
    expected = made.predict(NEW)
    monkeypatch.setattr(
        "topicprism.vectorizer.stop_lists.ENGLISH_STOP_WORDS", frozenset({"friendly", "dirty"})
    )
    loaded = topicprism.load(tmp_path / "m.tprism")
    assert "therefore" in loaded.named_steps["counts"].stop_words
    assert_array_equal(loaded.predict(NEW), expected)


def test_a_loaded_model_has_one_thread_unless_more_are_asked_for(tmp_path):
    path = tmp_path / "m.tprism"
    topicprism.fit(TEXTS, STARS, n_topics=3, max_df=1.0, n_jobs=2).save(path)

    def threads(pipeline):
        return [step.n_jobs for _, step in pipeline.steps]

    assert threads(topicprism.load(path)) == [None, None]
    assert threads(topicprism.load(path, n_jobs=2)) == [2, 2]
    one, two = topicprism.load(path), topicprism.load(path, topicprism.TopicPipeline, n_jobs=-1)
    assert_array_equal(one.predict(TEXTS), two.predict(TEXTS))
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(one.predict, [[text] for text in TEXTS]))
    assert_allclose(np.concatenate(answers), one.predict(TEXTS), rtol=1e-14)  # BLAS, by its rows


def test_small_predictions_start_no_threads_whatever_is_asked_for(monkeypatch):
    one = topicprism.fit(TEXTS, STARS, n_topics=3, max_df=1.0, n_jobs=1)
    many = topicprism.fit(TEXTS, STARS, n_topics=3, max_df=1.0, n_jobs=8)

    def refuse(*args):
        raise AssertionError("a thread was started")

    monkeypatch.setattr(counting, "ThreadPoolExecutor", refuse)
    counts = many.named_steps["counts"].transform(TEXTS[:5])
    assert threads_for(counts, 8) == 1
    assert_array_equal(many.predict(TEXTS[:5]), one.predict(TEXTS[:5]))
    with pytest.raises(AssertionError, match="a thread was started"):
        many.named_steps["counts"].transform(TEXTS * 100)
    assert threads_for(vstack([counts] * 2_000), 8) == 8


# --- what spreadsheets do with cells -----------------------------------------------------

CELLS = ["=1+1", "+x", "-cmd|' /C calc'!A0", "@SUM(A1)", "-3.5", "plain", "a=b", "\tx"]


@pytest.mark.parametrize("name", ["out.csv", "out.tsv"])
def test_formulas_are_copied_unless_they_are_to_be_escaped(name, tmp_path, capsys):
    model = tmp_path / "m.tprism"
    topicprism.fit(TEXTS, STARS, n_topics=3, max_df=1.0).save(model)
    table = write_csv(tmp_path / "t.csv", TEXTS[:8], CELLS, ("text", "=note"))
    out = tmp_path / name
    argv = ["predict", str(model), str(table), "--text", "text", "--keep", "=note", "-o", str(out)]

    def column():
        lines = out.read_text().splitlines()
        return [row[-1] for row in csv.reader(lines, delimiter=",\t"[name == "out.tsv"])]

    assert main(argv) == 0
    assert column() == ["=note", *CELLS]
    assert main([*argv, "--escape-formulas"]) == 0
    kept = {"-3.5", "plain", "a=b"}
    assert column() == ["'=note", *(c if c in kept else f"'{c}" for c in CELLS)]


def test_formulas_are_escaped_in_text_only(tmp_path, capsys):
    model = tmp_path / "m.tprism"
    topicprism.fit(TEXTS, STARS, n_topics=3, max_df=1.0).save(model)
    table = write_csv(tmp_path / "t.csv", TEXTS[:8], CELLS)
    argv = ["predict", str(model), str(table), "--escape-formulas", "--output-format", "jsonl"]
    assert main(argv) == 2
    assert "--escape-formulas is for CSV and TSV" in capsys.readouterr().err


# --- sums --------------------------------------------------------------------------------


def test_r2_of_documents_in_batches_is_that_of_all():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = 1e6 + rng.standard_normal(1000)
        y_hat = y + 0.5 * rng.standard_normal(1000)
        running = RunningPR2()
        assert running.value is None
        for i in range(0, 1000, 130):
            running.add(y[i : i + 130], y_hat[i : i + 130])
        assert running.n == 1000
        assert running.value == pytest.approx(pr2(y, y_hat), abs=1e-9)


def test_a_fingerprint_is_free_of_order_and_of_cuts():
    texts, y = ["a clean room", "a loud night", "good food"], [5.0, 1.0, 4.0]
    one = Fingerprint().update(texts, y).hexdigest()
    assert Fingerprint().update(texts[::-1], y[::-1]).hexdigest() == one
    assert Fingerprint().update(texts[:1], y[:1]).update(texts[1:], y[1:]).hexdigest() == one
    assert Fingerprint().update(texts, y[::-1]).hexdigest() != one  # who has which number counts
    assert Fingerprint().update([*texts, texts[0]], [*y, y[0]]).hexdigest() != one
    X = csr_array(np.array([[1, 0, 2], [0, 3, 0]]))
    for other in (X.astype(float), csr_array(X.toarray()[::-1])):
        z = [1.0, 2.0] if other.dtype.kind == "f" else [2.0, 1.0]
        same = Fingerprint().update(X, [1.0, 2.0]).hexdigest()
        assert Fingerprint().update(other, z).hexdigest() == same


def test_an_infinite_response_is_left_out_by_both(tmp_path, capsys):
    y = [*map(float, STARS)]
    y[7] = float("inf")
    table = tmp_path / "t.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([("text", "stars"), *zip(TEXTS, y, strict=True)])
    model = str(tmp_path / "m.tprism")
    assert main(["fit", str(table), "-o", model, "--held-out", "0", "--n-topics", "2"]) == 0
    with pytest.warns(
        topicprism.MissingValuesWarning, match="1 with response of 1e.100 or beyond, or infinite"
    ):
        ours = topicprism.fit(TEXTS, y, n_topics=2)
    assert topicprism.load(model).info["n_left_out"] == ours.info["n_left_out"]
