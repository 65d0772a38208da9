"""The command line: what it prints, what it writes, what it refuses."""

import csv
import gzip
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from malformed import MALFORMED
from running import run
from sklearn.feature_extraction.text import CountVectorizer
from varied_texts import varied_texts

import topicprism
from topicprism import SpectralSLDA
from topicprism.cli import MODULES, main
from topicprism.cli.arguments import parser
from topicprism.cli.progress import Progress
from topicprism.cli.showing import bars, fit_lines, replication, scores, topic_table
from topicprism.datasets import ASPECTS, make_reviews, make_slda
from topicprism.defaults import INFERENCES, METHODS, REGIMES, WHITENINGS
from topicprism.documents.subsets import of_subsets
from topicprism.evaluation import SAME_TOPIC
from topicprism.inference import EPInference
from topicprism.io.files import load
from topicprism.io.tables import formats
from topicprism.learn.refine import expected_counts
from topicprism.learn.response_topics import sizes_by_fold
from topicprism.learn.ridge import products, residual_sums
from topicprism.pipeline import assemble
from topicprism.pipeline.drawing import Drawing, Drawn
from topicprism.pipeline.scoring import BASELINE, OURS
from topicprism.pipeline.watching import PURPOSES
from topicprism.show.effects import FOUND_AGAIN, effects
from topicprism.show.report.prose import number
from topicprism.spectral.moments import pair_products, sketch_sums, word_sums

N = 1_200
TOPICS = ["--n-topics", "8", "--alpha0", "1.6"]
ROOT = Path(topicprism.__file__).parents[1]


def write_csv(path, texts, y, header=("review", "stars")):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *zip(texts, y, strict=True)])
    return path


@pytest.fixture(scope="module")
def reviews():
    texts, y, _ = make_reviews(N, random_state=0)
    return texts, y.tolist()


@pytest.fixture(scope="module")
def home(tmp_path_factory, reviews):
    """A folder with reviews.csv and the model learnt from it."""
    folder = tmp_path_factory.mktemp("home")
    table = write_csv(folder / "reviews.csv", *reviews)
    assert main(["fit", str(table), "-o", str(folder / "reviews.tprism"), *TOPICS]) == 0
    return folder


@pytest.fixture
def here(home, tmp_path, tmp_path_factory, monkeypatch):
    """An empty folder to work in, with links to copies of the table and the model."""
    copies = tmp_path_factory.mktemp("copies")
    for name in ("reviews.csv", "reviews.tprism"):
        shutil.copy(home / name, copies)
        (tmp_path / name).symlink_to(copies / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def varied(tmp_path, monkeypatch):
    """A folder with varied.csv, in which there is more than some topics."""
    write_csv(tmp_path / "varied.csv", *varied_texts(500))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def page_facts(page):
    """What the script of a page is given."""
    return json.loads(re.search(r'id="facts">(.*?)</script>', page, re.S).group(1))


def new_files(folder):
    return sorted(p.name for p in folder.iterdir() if not p.is_symlink())


# --- fit --------------------------------------------------------------------------------


def test_fit_prints_everything_at_80_columns(here, capsys):
    status, out, err = run(capsys, "fit", "reviews.csv", "--report", "page.html", *TOPICS)
    assert status == 0
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    assert f"{N * 9 // 10:,} used for fitting, {N // 10} held out for the score" in out
    assert re.search(r"^topics +8", out, re.M)
    assert re.search(r"^alpha0 +1\.6", out, re.M)
    told = re.search(r"^noise variance +(0\.\d+)", out, re.M)
    variance = load("reviews.tprism").topics.noise_variance_
    assert float(told.group(1)) == pytest.approx(variance, rel=1e-3)
    assert (
        f"<dt>Noise variance</dt><dd><bdi>{number(variance)}<" in (here / "page.html").read_text()
    )
    assert "sigma" not in out
    assert "model written to reviews.tprism; next:" in out
    assert "TF-IDF + ridge" in out
    assert "the mean" in out
    rows = re.findall(r"^ *(\d+) +(-?[\d.]+) +(?:[-\d.]+ to [-\d.]+ +)?[\d.]+%  (\w+)", out, re.M)
    coefficients = [float(x) for _, x, _ in rows]
    assert coefficients == sorted(coefficients)
    assert [int(number) for number, _, _ in rows] == list(range(1, 9))
    first = effects(load("reviews.tprism")).top_words(1)
    assert [word for _, _, word in rows] == [word for (word,) in first]
    assert (here / "page.html").read_text().lower().startswith("<!doctype html>")


def test_fit_learns_the_aspects_and_predicts(home):
    pipeline = load(home / "reviews.tprism")
    scores = pipeline.info["scores"]
    assert scores["topicprism"] > 0.7
    assert scores["TF-IDF + ridge"] > 0.7
    assert abs(scores["the mean"]) < 0.1
    assert pipeline.model.n_topics == len(ASPECTS)
    assert pipeline.info["n_documents"] == N * 9 // 10
    assert pipeline.info["target"] == "stars"
    assert len(pipeline.info["fingerprint"]) == 32


def test_json_has_the_same_facts(here, capsys):
    status, out, _ = run(capsys, "fit", "reviews.csv", "--json", "-o", "m.tprism", *TOPICS)
    facts = json.loads(out)
    assert status == 0
    assert facts["n_documents"] == N * 9 // 10
    assert facts["n_held_out"] == N // 10
    assert facts["chosen"]["topics"]["value"] == 8
    assert len(facts["topics"]) == 8
    assert facts["model"] == "m.tprism"
    assert set(facts["scores"]) == {"topicprism", "TF-IDF + ridge", "the mean"}


def test_the_same_seed_gives_the_same_model(here, home):
    assert main(["fit", "reviews.csv", "-o", "again.tprism", *TOPICS]) == 0
    a, b = load("again.tprism"), load(home / "reviews.tprism")
    np.testing.assert_array_equal(a.model.mu, b.model.mu)
    assert a.info["scores"] == b.info["scores"]


@pytest.mark.parametrize("name", ["r.tsv", "r.jsonl", "r.csv.gz", "r.parquet"])
def test_fit_from_every_format_gives_the_same_model(here, home, reviews, name):
    texts, y = reviews
    if name == "r.parquet":
        pq = pytest.importorskip("pyarrow.parquet")
        import pyarrow as pa

        pq.write_table(pa.table({"review": texts, "stars": y}), name)
    elif name == "r.jsonl":
        rows = [json.dumps({"review": t, "stars": s}) for t, s in zip(texts, y, strict=True)]
        (here / name).write_text("\n".join(rows))
    elif name == "r.tsv":
        with (here / name).open("w") as file:
            rows = [("review", "stars"), *zip(texts, y, strict=True)]
            csv.writer(file, delimiter="\t").writerows(rows)
    else:
        (here / name).write_bytes(gzip.compress((here / "reviews.csv").read_bytes()))
    assert main(["fit", name, "-q", *TOPICS]) == 0
    np.testing.assert_array_equal(load("r.tprism").model.mu, load(home / "reviews.tprism").model.mu)


def test_fit_from_standard_input_and_a_glob(here, home, reviews, monkeypatch):
    texts, y = reviews
    write_csv(here / "part1.csv", texts[:500], y[:500])
    write_csv(here / "part2.csv", texts[500:], y[500:])
    data = io.TextIOWrapper(io.BytesIO((here / "reviews.csv").read_bytes()))
    monkeypatch.setattr(sys, "stdin", data)
    assert main(["fit", "-", *TOPICS]) == 0
    assert main(["fit", "part*.csv", "-o", "glob.tprism", *TOPICS]) == 0
    expected = load(home / "reviews.tprism")
    for name in ("model.tprism", "glob.tprism"):
        np.testing.assert_allclose(load(name).model.mu, expected.model.mu, atol=1e-6)
    assert load("glob.tprism").info["fingerprint"] == expected.info["fingerprint"]


def test_rows_left_out_are_counted_and_said(here, reviews, capsys):
    texts, y = list(reviews[0][:400]), list(reviews[1][:400])
    texts[3], y[5], y[6], texts[8] = "", "", "four", "a"
    write_csv(here / "some.csv", texts, y)
    status, out, err = run(capsys, "fit", "some.csv", "--held-out", "0", *TOPICS)
    assert status == 0
    assert err == ""
    assert "396 used for fitting" in out
    assert (
        "left out 4: 1 empty text, 1 no response, 1 response that is not a number, 1 with fewer "
        "than 3 known words" in " ".join(out.split())
    )
    assert "no score" in out


def test_responses_too_large_are_called_that(here, reviews, capsys):
    y = list(reviews[1][:400])
    y[3], y[5], y[6] = "1e100", "-inf", "9" * 400
    write_csv(here / "some.csv", reviews[0][:400], y)
    _, out, _ = run(capsys, "fit", "some.csv", "--held-out", "0", *TOPICS)
    assert "left out 3: 3 response of 1e+100 or beyond, or infinite" in " ".join(out.split())


def test_a_table_without_a_header_gets_a_hint(here, reviews, capsys):
    texts, y = reviews
    write_csv(here / "bare.csv", texts[1:], y[1:], header=(texts[0], y[0]))
    status, _, err = run(capsys, "fit", "bare.csv", *TOPICS)
    assert status == 0
    assert re.fullmatch(
        rf"note: the first row of bare.csv \('.*, '{y[0]}'\) looks like data, but was taken for "
        "the names of the columns; if it is data, write a line of names, .*\n",
        err,
    )
    assert "left out" not in run(capsys, "fit", "reviews.csv", *TOPICS)[2]
    status, _, err = run(capsys, "fit", "bare.csv", "--min-df", "9999")
    assert status == 2
    assert [line[:5] for line in err.splitlines()] == ["note:", "topic"]


@pytest.mark.parametrize("spaced", [False, True])
def test_words_that_no_space_sets_apart_get_a_hint(tmp_path, monkeypatch, capsys, spaced):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words = np.array([chr(0x4E00 + 2 * i) + chr(0x4E01 + 2 * i) for i in range(60)])
    texts = [(" " if spaced else "").join(rng.choice(words, 12)) for _ in range(100)]
    write_csv(tmp_path / "zh.csv", texts, rng.random(100), header=("text", "y"))
    status, _, err = run(capsys, "fit", "zh.csv", "--text", "text")
    hint = "note: most texts are in a script without spaces between words (one begins"
    assert (hint in err) is not spaced
    assert status == (0 if spaced else 2)


def test_more_topics_than_documents_are_noted_before_they_are_learnt(
    here, reviews, capsys, monkeypatch
):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("topicprism.learn.auto._summed", interrupted)
    write_csv(here / "few.csv", reviews[0][:50], reviews[1][:50])
    typed = ["fit", "few.csv", "--n-topics", "60"]
    _, _, err = run(capsys, *typed)
    assert err.splitlines()[0].startswith(
        "note: --n-topics 60 is more than the 50 documents to learn from"
    )
    assert err.count("\n") == 2
    assert "note" not in run(capsys, *typed, "--quiet")[2]


def test_nothing_of_the_temporary_folder_is_left(here, tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    assert main(["fit", "reviews.csv", "-q", *TOPICS]) == 0
    assert main(["fit", "reviews.csv", "-q", "--n-topics", "100000"]) == 2
    assert list(folder.iterdir()) == []


def test_options_reach_the_estimator_and_the_vectoriser(here):
    (here / "stop.txt").write_text("room\nstaff")
    options = (
        "--method two-stage --noise-variance 0.1 --whitening exact --restarts 20 --iterations 30 "
        "--seed 3 --jobs 1 --n-topics 4 --alpha0 3 --min-df 3 --max-df 0.9 --max-words 50 "
        "--stop-words stop.txt --ngrams 2 --keep-case"
    )
    assert main(["fit", "reviews.csv", "-o", "m.tprism", *options.split()]) == 0
    pipeline = load("m.tprism")
    for params, expected in {
        pipeline.topics: "4 3.0 two-stage 0.1 exact 20 30 3",
        pipeline.steps[0][1]: "3 0.9 50 False",
    }.items():
        names = (
            ["n_topics", "alpha0", "method", "noise_variance", "whitening", "n_restarts"]
            + ["n_iterations", "random_state"]
            if params is pipeline.topics
            else ["min_df", "max_df", "max_features", "lowercase"]
        )
        assert " ".join(str(params.get_params()[name]) for name in names) == expected
    assert len(pipeline.words) == 50
    assert "room" not in pipeline.words
    assert any(" " in word for word in pipeline.words)


# --- predict, topics, report ------------------------------------------------------------


def read_predictions(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_predict_counts_texts_without_a_known_word(here, reviews, capsys):
    texts = ["zzyzx qwerty", "the dirty carpet", "", "blorp", "?!"]
    write_csv(here / "new.csv", texts, range(5), header=("review", "id"))
    status, out, err = run(capsys, "predict", "reviews.tprism", "new.csv", "--text", "review")
    assert status == 0
    assert "5 rows to standard output, 1 of them without a text, 3 without a known word" in err
    shown = [row["prediction"] for row in read_predictions(out)]
    assert shown[0] == shown[3] == shown[4] != shown[1]


def test_predict_notes_proportions_that_did_not_converge(here, reviews, capsys, monkeypatch):
    """Such a row is predicted all the same."""
    long = " ".join(reviews[0])
    write_csv(here / "new.csv", [reviews[0][0], long], range(2), header=("review", "id"))
    impatient = EPInference(max_sweeps=2, tolerance=1e-9)
    monkeypatch.setattr("topicprism.estimators.base.inference_of", lambda name: impatient)
    status, out, err = run(capsys, "predict", "reviews.tprism", "new.csv", "--text", "review")
    assert status == 0
    assert re.search(r"^note: the topic proportions of 1 of 2 documents .* did not conv", err, re.M)
    assert "may be wrong" in err
    assert all(0 < float(row["prediction"]) < 6 for row in read_predictions(out))
    assert len(read_predictions(out)) == 2


def test_a_column_read_in_place_of_the_one_learnt_from_is_named(here, capsys):
    texts = ["the dirty carpet of the room", "a lovely quiet garden with roses"]
    write_csv(here / "other.csv", texts, range(2), header=("comment", "id"))
    note = "note: other.csv has no column '{}', as in the fit; '{}' is read instead ({} names"
    for argv in (["predict"], ["report", "-o", "p.html"]):
        command, *more = argv
        status, _, err = run(capsys, command, "reviews.tprism", "other.csv", *more)
        assert status == 0
        assert note.format("review", "comment", "--text") in err
        assert err.count("note: ") == 1 + (command == "report")
    assert note.format("stars", "id", "--target") in err
    named = ["predict", "reviews.tprism", "other.csv", "--text", "comment"]
    assert "note" not in run(capsys, *named)[2]
    assert "note" not in run(capsys, "predict", "reviews.tprism", "reviews.csv")[2]


def test_several_columns_in_place_of_the_one_learnt_from_are_listed(here, capsys):
    text = "the dirty carpet of the room"
    (here / "two.csv").write_text(f"comment,answer\n{text},{text}\n")
    status, out, err = run(capsys, "predict", "reviews.tprism", "two.csv")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "name it with --text, one of 'comment', 'answer'" in err


def test_words_too_common_to_count_are_named(here, reviews, capsys):
    write_csv(here / "all.csv", [f"Hotel {text} overall" for text in reviews[0]], reviews[1])
    status, out, _ = run(capsys, "fit", "all.csv", "--report", "p.html", *TOPICS)
    assert status == 0
    assert re.search(r"^words .*; too common to be counted: .*hotel", out, re.M)
    assert max(map(len, out.splitlines())) <= 80
    assert "hotel" in load("all.tprism").info["too_common"]
    page = (here / "p.html").read_text()
    assert "hotel" in page_facts(page)["reading"]["too_common"]
    assert "Too common to be counted" in page
    _, out, _ = run(capsys, "fit", "all.csv", "--max-df", "1.0", *TOPICS)
    assert "too common" not in out


def test_predict_keeps_the_order_and_a_row_for_every_row(here, reviews, capsys, monkeypatch):
    monkeypatch.setattr(formats, "CHUNK_CHARACTERS", 20_000)
    texts = list(reviews[0][:150])
    texts[0] = texts[77] = ""
    write_csv(here / "new.csv", texts, range(150), header=("review", "id"))
    status, out, err = run(capsys, "predict", "reviews.tprism", "new.csv", "--keep", "id")
    rows = read_predictions(out)
    assert status == 0
    assert [r["row"] for r in rows] == [str(i + 1) for i in range(150)]
    assert [r["id"] for r in rows] == [str(i) for i in range(150)]
    assert [i for i, r in enumerate(rows) if r["prediction"] == ""] == [0, 77]
    assert "150 rows to standard output, 2 of them without a text" in err
    expected = load("reviews.tprism").predict([texts[5]])
    assert float(rows[5]["prediction"]) == pytest.approx(expected[0], rel=1e-5)


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl", "p.parquet"])
def test_predict_to_files_with_proportions(here, capsys, name):
    if name == "p.parquet":
        pytest.importorskip("pyarrow")
    status, out, err = run(
        capsys, "predict", "reviews.tprism", "reviews.csv", "-o", name, "--proportions"
    )
    assert (status, out) == (0, "")
    assert "R2 is 0.8" in err
    assert "this is the fit, not the accuracy on new texts" in err
    table = formats.read(topicprism.io.tables.Source(Path(name), name), formats.Options())
    assert list(table.columns) == ["row", "prediction", *(f"topic_{i}" for i in range(1, 9))]
    (chunk,) = table.chunks(range(10))
    values = np.array(chunk.values, float)
    assert values.shape == (10, N)
    np.testing.assert_allclose(values[2:].sum(axis=0), 1, atol=1e-4)


KEPT = {  # a column of CSV, and how JSON lines have it
    "id": (["1", "20", "-3"], [1, 20, -3]),
    "price": (["4", " 4.50", ""], [4.0, 4.5, None]),
    "large": (["1e5", "NA", "123456.789"], [1e5, None, 123456.789]),
    "code": (["007", "12", "13"], ["007", "12", "13"]),
    "account": (["123456789012345678", "1", "2"], ["123456789012345678", "1", "2"]),
    "grade": (["1", "2", "A"], ["1", "2", "A"]),
    "day": (["2024-01-01", "", "x"], ["2024-01-01", "", "x"]),
}


@pytest.mark.parametrize("name", ["p.jsonl", "p.parquet", "p.csv"])
def test_numbers_that_are_kept_are_numbers_where_the_format_has_them(here, reviews, capsys, name):
    columns = [reviews[0][:3], *(written for written, _ in KEPT.values())]
    with (here / "new.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["review", *KEPT], *zip(*columns, strict=True)])
    keep = [word for column in KEPT for word in ("--keep", column)]
    status, _, err = run(capsys, "predict", "reviews.tprism", "new.csv", "-o", name, *keep)
    assert status == 0, err
    if name == "p.csv":
        rows = read_predictions((here / name).read_text())
        assert [[r[column] for r in rows] for column in KEPT] == columns[1:]
    elif name == "p.jsonl":
        rows = [json.loads(line) for line in (here / name).read_text().splitlines()]
        told = {column: [r[column] for r in rows] for column in KEPT}
        assert told == {column: read for column, (_, read) in KEPT.items()}
        assert [type(v) for v in told["id"]] == [int] * 3
    else:
        table = pytest.importorskip("pyarrow.parquet").read_table(name)
        types = [str(table.schema.field(column).type) for column in KEPT]
        assert types == ["int64", "double", "double", *["string"] * 4]
        assert table["price"].to_pylist() == [4.0, 4.5, None]


def test_what_is_kept_keeps_its_digits(here, reviews, capsys):
    rows = [{"review": reviews[0][0], "at": 1690000000.125, "n": 5, "ok": True, "list": [1]}]
    (here / "new.jsonl").write_text("\n".join(map(json.dumps, rows * 2)))
    keep = ["--keep", "at", "--keep", "n", "--keep", "ok", "--keep", "list"]
    argv = ["predict", "reviews.tprism", "new.jsonl", *keep]
    kept = json.loads(run(capsys, *argv, "--output-format", "jsonl")[1].splitlines()[1])
    assert {name: kept[name] for name in ("at", "n", "ok", "list")} == {
        "at": 1690000000.125, "n": 5, "ok": True, "list": [1],
    }  # fmt: skip
    assert len(str(kept["prediction"])) <= 8
    assert read_predictions(run(capsys, *argv)[1])[0]["at"] == "1690000000.125"


def test_predict_several_files_names_them(here, reviews, capsys):
    write_csv(here / "a.csv", reviews[0][:2], reviews[1][:2])
    write_csv(here / "b.csv", reviews[0][2:4], reviews[1][2:4])
    _, out, _ = run(
        capsys, "predict", "reviews.tprism", "a.csv", "b.csv", "--output-format", "jsonl"
    )
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(r["file"], r["row"]) for r in rows] == [
        ("a.csv", 1),
        ("a.csv", 2),
        ("b.csv", 1),
        ("b.csv", 2),
    ]


def test_predict_tells_the_deviation_where_the_model_can(here, capsys):
    status, out, _ = run(capsys, "predict", "reviews.tprism", "reviews.csv", "--std")
    assert status == 0
    assert all(float(r["std"]) > 0 for r in read_predictions(out))
    pipeline = load("reviews.tprism")
    X, y = pipeline[:-1].transform(["clean room", "rude staff"] * 9), [5, 1] * 9
    classes = topicprism.MedLDAClassifier(2, burn_in=1, n_kept=1, random_state=0).fit(X, y)
    topicprism.save(assemble(pipeline[0], classes, {}), "classes.tprism")
    status, _, err = run(capsys, "predict", "classes.tprism", "reviews.csv", "--std")
    assert status == 2
    assert "holds a MedLDAClassifier, which has no deviations; drop --std" in err


def test_topics_prints_as_many_words_as_asked(here, capsys):
    status, out, _ = run(capsys, "topics", "reviews.tprism", "--words", "20")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "dirty" in out
    assert re.findall(r"^ *(\d+) .*%", out, re.M) == [str(i) for i in range(1, 9)]
    _, out, _ = run(capsys, "topics", "reviews.tprism", "--words", "3", "--by", "frex", "--json")
    assert [len(t["words"]) for t in json.loads(out)["topics"]] == [3] * 8


def test_report_with_and_without_documents(here, capsys):
    status, out, _ = run(capsys, "report", "reviews.tprism", "-o", "a.html", "--title", "Hotels")
    assert status == 0
    assert "a.html" in out
    assert "Hotels" in (here / "a.html").read_text()
    status, out, _ = run(
        capsys, "report", "reviews.tprism", "reviews.csv", "-o", "b.html", "--json"
    )
    assert json.loads(out)["n_documents_shown"] == N
    assert (here / "b.html").stat().st_size > (here / "a.html").stat().st_size


def test_a_topic_has_one_share_wherever_it_is_shown(here, capsys):
    _, out, _ = run(capsys, "topics", "reviews.tprism", "--json")
    shares = [t["share"] for t in json.loads(out)["topics"]]
    fitted = load("reviews.tprism")
    assert shares == fitted.info["shares"]
    assert not np.allclose(shares, fitted.model.alpha / fitted.model.alpha.sum(), atol=1e-4)
    run(capsys, "report", "reviews.tprism", "reviews.csv", "-o", "b.html")
    page = (here / "b.html").read_text()
    assert [f"{share:.12g}" for share in page_facts(page)["share"]] == [
        f"{share:.12g}" for share in shares
    ]
    assert "of the prior" not in page
    fitted.info.pop("shares")
    fitted.save("none.tprism")
    run(capsys, "report", "none.tprism", "-o", "c.html")
    assert "of the prior" in (here / "c.html").read_text()


def test_a_model_of_counts_shows_its_topics_and_has_no_use_for_texts(here, reviews, capsys):
    counts = CountVectorizer(min_df=5)
    X = counts.fit_transform(reviews[0])
    pipeline = topicprism.fit(X, reviews[1], n_topics=8, vocabulary=counts.vocabulary_)
    pipeline.save("counts.tprism")
    assert "dirty" in run(capsys, "topics", "counts.tprism")[1]
    assert run(capsys, "report", "counts.tprism", "-o", "page.html")[0] == 0
    argv = ["predict", "counts.tprism", "reviews.csv", "-o", "p.csv"]
    assert_refused(capsys, here, argv, "was learnt from word counts, but a table has texts")


# --- select, sketch, merge --------------------------------------------------------------


def test_select_shows_what_was_chosen(here, capsys):
    status, out, _ = run(capsys, "select", "reviews.csv", *TOPICS)
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    assert re.search(r"^topics +8", out, re.M)
    status, out, _ = run(capsys, "select", "reviews.csv", "--json", *TOPICS)
    assert json.loads(out)["chosen"]["topics"]["value"] == 8


def test_select_tells_what_was_tried_and_why(varied, capsys):
    pytest.importorskip("matplotlib")
    status, out, _ = run(capsys, "select", "varied.csv", "--plot", "p.svg")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 80
    assert re.search(r"^  \.\.\. and 10 more\n  30 are above 0\.0\d+; smaller", out, re.M)
    scores = r"0\.\d{3} \+- 0\.\d{3} +-\d\.\d{3} +-?0\.\d{3} +0\.\d{3}"
    tried = re.findall(rf"^([* ]) +(\d+) +(?:3|10) +{scores} +(\d+|-)$", out, re.M)
    assert [k for _, k, _ in tried] == ["3", "5", "10", "20"]
    (chosen,) = re.findall(r"^topics +(\d+) +the words vary in 32 or more significant", out, re.M)
    ((taken, common),) = [(int(k), int(n)) for mark, k, n in tried if mark == "*"]
    assert taken >= max(int(chosen), common)
    assert "more or fewer than are found again" in " ".join(out.split())
    assert "<svg" in Path("p.svg").read_text()
    _, out, _ = run(capsys, "select", "varied.csv", "--json")
    facts = json.loads(out)
    assert [t["n_topics"] for t in facts["trials"]] == [3, 5, 10, 20]
    assert all(t["pr2_std"] > 0 for t in facts["trials"])
    assert all(-6 < t["log_likelihood"] < -3 and t["exclusivity"] > 0 for t in facts["trials"])
    assert facts["chosen"]["topics"]["value"] == int(chosen)
    assert facts["taken"] == taken
    assert facts["learnt_by"].startswith("AutoSLDA; not one of the paper's algorithms: spectral")
    _, out, _ = run(capsys, "fit", "varied.csv", "--json")
    assert json.loads(out)["chosen"] == facts["chosen"]  # what it says is what fit does


def test_varied_text_walks_the_whole_path(varied, capsys):
    """Fit, topics, predictions with deviations, page; and from a sketch."""
    status, out, err = run(capsys, "fit", "varied.csv", "--report", "p.html")
    assert (status, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    interval = r"(?:(-?[\d.]+) to (-?[\d.]+)|unknown)"
    rows = re.findall(rf"^ *\d+ +(-?[\d.]+) +{interval} +<?[\d.]+% +(yes|no)  \w", out, re.M)
    fitted = load("varied.tprism")
    topics = fitted.topics
    assert len(rows) == fitted.model.n_topics
    np.testing.assert_allclose([float(row[0]) for row in rows], topics.coef_, atol=0.006)
    reach = [(float(b) - float(a)) / (2 * 1.96) if a else np.nan for _, a, b, _ in rows]
    np.testing.assert_allclose(reach, topics.coef_std_, atol=0.01)
    assert [found == "yes" for *_, found in rows] == (topics.replication_ >= SAME_TOPIC).tolist()
    assert f"found again: whether {FOUND_AGAIN}" in " ".join(out.split())
    assert FOUND_AGAIN in Path("p.html").read_text()
    unknown = np.isnan(topics.coef_std_).any()
    assert ("a topic that neither half has gets no interval" in out) == unknown
    assert "coefficients outside the observed range of" in out
    assert "extrapolations" in run(capsys, "topics", "varied.tprism")[1]
    status, out, _ = run(capsys, "predict", "varied.tprism", "varied.csv", "--std")
    y_hat, std = fitted.predict(varied_texts(500)[0], return_std=True)
    got = read_predictions(out)
    np.testing.assert_allclose([float(r["prediction"]) for r in got], y_hat, rtol=1e-5)
    np.testing.assert_allclose([float(r["std"]) for r in got], std, rtol=1e-5)
    assert run(capsys, "sketch", "varied.csv", "-o", "c.tpsketch")[0] == 0
    status, out, _ = run(capsys, "fit", "c.tpsketch", "-o", "c.tprism")
    assert status == 0
    assert load("c.tprism").info["estimator"] == "SpectralSLDA"
    assert "found again" not in out  # there are no halves
    assert re.search(r"^topics +3 +the words vary in \d+ or more significant", out, re.M)
    assert "no score: a sketch contains no documents to hold out" in out
    assert "\n  standard errors need the documents; fits from a sketch have none\n" in out
    assert max(map(len, out.splitlines())) <= 80


def test_auto_is_what_is_chosen_when_nothing_is_said(here, capsys):
    options = ["--n-topics", "auto", "--alpha0", "auto", "--noise-variance", "auto"]
    asked, said = (
        json.loads(run(capsys, "fit", "reviews.csv", "-o", "m.tprism", "--json", *given)[1])
        for given in (options, [])
    )
    assert asked["chosen"] == said["chosen"]
    assert load("m.tprism").topics.n_topics == "auto"
    assert "is above sampling noise" in said["chosen"]["topics"]["reason"]


def test_select_draws(here, capsys):
    pytest.importorskip("matplotlib")
    status, _, _ = run(capsys, "select", "reviews.csv", *TOPICS, "--plot", "p.png")
    assert status == 0
    assert (here / "p.png").read_bytes().startswith(b"\x89PNG")


def test_sketches_of_two_sites_merge_into_a_model(here, home, reviews, capsys):
    texts, y = reviews
    write_csv(here / "a.csv", texts[:600], y[:600])
    write_csv(here / "b.csv", texts[600:], y[600:])
    words = ["--coordinates", "24"]
    assert run(capsys, "sketch", "reviews.csv", "-o", "all.tpsketch", *words)[0] == 0
    for site in "ab":
        status, out, _ = run(
            capsys, "sketch", f"{site}.csv", "-o", f"{site}.tpsketch", "--basis", "all.tpsketch"
        )
        assert status == 0
        assert f"{site}.tpsketch: moments of 600 documents" in out
    status, out, _ = run(capsys, "merge", "a.tpsketch", "b.tpsketch", "-o", "ab.tpsketch", "--json")
    assert json.loads(out)["n_used"] == N
    merged, whole = load("ab.tpsketch"), load("all.tpsketch")
    np.testing.assert_allclose(merged.third, whole.third, atol=1e-9 * np.abs(whole.third).max())
    status, out, _ = run(capsys, "fit", "ab.tpsketch", *TOPICS)
    assert status == 0
    assert f"{N:,} used for fitting" in out
    assert max(map(len, out.splitlines())) <= 80
    status, out, err = run(capsys, "predict", "ab.tprism", "reviews.csv", "-o", "p.csv")
    assert "predictive R2 is 0.8" in err


def test_sketches_over_the_basis_of_one_site_add_up_to_that_of_all(here, reviews, capsys):
    """Documents of the other site have words that this one lacks: they are not counted."""
    texts, y = reviews
    others = [f"{text} elsewhere" for text in texts[500:]]
    write_csv(here / "a.csv", texts[:500], y[:500])
    write_csv(here / "b.csv", others, y[500:])
    write_csv(here / "both.csv", [*texts[:500], *others], y)
    run(capsys, "sketch", "a.csv", "-o", "a.tpsketch", "--coordinates", "24")
    for name in ("b", "both"):
        argv = ["sketch", f"{name}.csv", "--basis", "a.tpsketch", "-o", f"{name}.tpsketch"]
        assert run(capsys, *argv)[0] == 0
    assert run(capsys, "merge", "a.tpsketch", "b.tpsketch", "-o", "sum.tpsketch")[0] == 0
    one, other = load("sum.tpsketch"), load("both.tpsketch")
    for name in ("first", "second", "third"):
        of_sum, pooled = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(of_sum, pooled, atol=1e-9 * np.abs(pooled).max())
    assert one.n == other.n == N
    for name in ("sum", "both"):
        assert run(capsys, "fit", f"{name}.tpsketch", *TOPICS)[0] == 0
    of_sum, pooled = load("sum.tprism"), load("both.tprism")
    np.testing.assert_allclose(of_sum.model.mu, pooled.model.mu, atol=1e-8)
    np.testing.assert_allclose(of_sum.model.eta, pooled.model.eta, atol=1e-7)
    assert "elsewhere" not in of_sum.words


def test_documents_do_not_count_twice(here, reviews, capsys):
    texts, y = reviews
    write_csv(here / "a.csv", texts[:600], y[:600])
    write_csv(here / "b.csv", texts[600:], y[600:])
    run(capsys, "sketch", "a.csv", "-o", "a.tpsketch")
    run(capsys, "sketch", "b.csv", "--basis", "a.tpsketch", "-o", "b.tpsketch")
    run(capsys, "sketch", "a.csv", "--basis", "a.tpsketch", "-o", "again.tpsketch")
    status, _, err = run(capsys, "merge", "a.tpsketch", "b.tpsketch", "-o", "ab.tpsketch")
    assert (status, err) == (0, "")
    for pair in ("a a", "a again", "ab b", "b ab"):
        first, second = (f"{name}.tpsketch" for name in pair.split())
        argv = ["merge", first, second, "-o", "twice.tpsketch"]
        assert_refused(
            capsys, here, argv, f"{first} and {second} hold the same documents, which would be"
        )
    old = load("a.tpsketch")  # of before there were fingerprints
    topicprism.save(replace(old, info={}), "old.tpsketch")
    argv = ["merge", "old.tpsketch", "./old.tpsketch", "-o", "twice.tpsketch"]
    assert_refused(capsys, here, argv, "old.tpsketch and ./old.tpsketch hold the same documents")


def test_a_sketch_holds_no_document(here, reviews, capsys):
    run(capsys, "sketch", "reviews.csv", "-o", "s.tpsketch")
    data = (here / "s.tpsketch").read_bytes()
    assert not any(text[:40].encode() in data for text in reviews[0])


# --- demo -------------------------------------------------------------------------------


def test_demo_walks_the_whole_path(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    status, out, _ = run(capsys, "demo", "--documents", "1500", "--folder", "d")
    assert status == 0
    assert "$ topicprism fit d/reviews.csv -o d/reviews.tprism" in out
    assert "   learnt    truth  aspect" in out
    assert f"the page: {tmp_path / 'd' / 'reviews.html'}" in out
    assert max(len(line) for line in out.splitlines() if str(tmp_path) not in line) <= 80
    assert {p.name for p in (tmp_path / "d").iterdir()} == {
        "reviews.csv",
        "new.csv",
        "reviews.tprism",
        "reviews.html",
    }


# --- mistakes ---------------------------------------------------------------------------


def assert_refused(capsys, folder, argv, sentence):
    before = new_files(folder)
    status, out, err = run(capsys, *argv)
    assert status == 2, err
    assert re.search(sentence, err), err
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("topicprism")
    assert "Traceback" not in err
    assert new_files(folder) == before


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_table_is_one_sentence(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    content, sentence = MALFORMED[name]
    (tmp_path / name).write_bytes(content)
    assert_refused(capsys, tmp_path, ["fit", name], sentence)


TABLE = "review,stars,id\nthe room was clean and quiet,5,1\nthe staff was rude,1,2\n"
MISTAKES = {
    "no command": ([], "the following arguments are required: COMMAND; see topicprism --help"),
    "unknown command": (["fitt"], "invalid choice: 'fitt'"),
    "unknown option": (
        ["fit", "t.csv", "--topics", "3"],
        "unrecognized arguments: --topics 3 .perhaps --n-topics.; see topicprism fit --help$",
    ),
    "strange option": (
        ["topics", "m.tprism", "--xyzzy"],
        "unrecognized arguments: --xyzzy; see topicprism topics --help$",
    ),
    "model as table": (["fit", "reviews.tprism"], "reviews.tprism is the name of a model, but ta"),
    "model for texts": (
        ["predict", "reviews.tprism", "reviews.tprism"],
        "reviews.tprism is a model or a sketch made by topicprism; give the table with the texts",
    ),
    "decimal comma": (
        ["fit", "comma.csv"],
        "no column looks like numbers.*; the numbers in 'stars', such as '4,5', have a decimal "
        "comma: replace it by a point first$",
    ),
    "decimal comma named": (
        ["fit", "comma.csv", "--target", "stars"],
        "number in 'stars' .row 1 of comma.csv has '4,5', with a decimal comma: replace it by a "
        "point first.",
    ),
    "percent": (["fit", "percent.csv"], "such as '45 %', have a percent sign: remove it first$"),
    "no file": (["fit"], "the following arguments are required: FILE; see topicprism fit --help"),
    "missing file": (["fit", "none.csv"], "there is no file none.csv; check the name"),
    "a folder": (["fit", "folder"], "folder is a folder, but a file was expected; name its files"),
    "no match": (["fit", "*.jsonl"], r"no file matches '\*.jsonl'"),
    "two numbers": (
        ["fit", "t.csv"],
        "2 columns look like numbers.*name it with --target, one of 'stars', 'id'$",
    ),
    "missing column": (["fit", "t.csv", "--target", "star"], "no column 'star'; its columns are"),
    "one column twice": (
        ["fit", "t.csv", "--text", "stars", "--target", "stars"],
        "named as text and as response",
    ),
    "text as number": (
        ["fit", "t.csv", "--text", "stars", "--target", "review"],
        "none of 2 rows has a text in 'stars' and a number in 'review' "
        ".row 1 of t.csv has 'the room .*quiet'.",
    ),
    "one document": (["fit", "one.csv"], "only 1 document has a text and a number, expected many"),
    "constant": (["fit", "same.csv"], "'stars' is 4 in all 3 documents, but it must vary"),
    "swapped": (
        ["fit", "long.csv", "--text", "stars", "--target", "review"],
        r"in 'review' \(row 1 of long.csv has 'the room was .*\.\.\.'\), expected both",
    ),
    "constant but for those left out": (
        ["fit", "outliers.csv"],
        r"'stars' is 4 in all 3 documents that are not left out \(3 with response of 1e.100 or bey",
    ),
    "tiny": (["fit", "tiny.csv"], "'y' is from 1e-300 to 3e-300, a range too small to"),
    "no words": (
        ["fit", "symbols.csv"],
        "no term in 3 documents, .* other documents, fewer --stop-words or a smaller --ngrams",
    ),
    "no common word": (
        ["fit", "reviews.csv", "--min-df", "1200", "--max-df", "1.0"],
        "none of .* terms is in 1200 to 1200 of 1200 documents, .*; add documents, lower --min-df",
    ),
    "huge": (
        ["fit", "huge.csv"],
        "number in 'y' .row 1 of huge.csv has '1e150'.*: 3 with response of 1e.100 or",
    ),
    "endless": (
        ["fit", "inf.csv"],
        "number in 'y' .row 1 of inf.csv has '-inf'.*: 3 with response of 1e.100 or",
    ),
    "rare words": (
        ["fit", "t.csv", "--target", "stars"],
        "fit: 2 documents are too few for --min-df 5 and --max-df 0.5: exp.* lower --min-df or",
    ),
    "zero topics": (["fit", "t.csv", "--n-topics", "0"], "'0' is not a whole number .*, nor auto"),
    "alpha0 in words": (["fit", "t.csv", "--alpha0", "one"], "'one' is not a number, nor auto"),
    "topics in words": (
        ["fit", "t.csv", "--n-topics", "ten"],
        "'ten' is not a whole number from 1",
    ),
    "bad alpha0": (["fit", "reviews.csv", "--n-topics", "3", "--alpha0", "-1"], "fit: --alpha0 -1"),
    "bad noise": (
        ["fit", "reviews.csv", "--n-topics", "3", "--noise-variance", "-1"],
        "fit: --noise-variance -1.0, but expected a number from 0 up",
    ),
    "bad seed": (["fit", "t.csv", "--seed=-1"], "'-1' is not a whole number from 0 up"),
    "no jobs": (["fit", "t.csv", "--jobs", "0"], "'0' is not a whole number from 1 up"),
    "seed beyond": (["fit", "t.csv", "--seed", "9" * 40], "of 18 digits at most"),
    "jobs beyond": (["fit", "t.csv", "--jobs", "9999"], "'9999' is more than 1,024 threads"),
    "bad share": (["fit", "t.csv", "--held-out", "2"], "'2' is not a share from 0 to 0.9"),
    "bad min-df": (["fit", "t.csv", "--min-df", "1.5"], "'1.5' is neither a whole number nor"),
    "bad delimiter": (["fit", "t.csv", "--delimiter", "ab"], "'ab' is not one character"),
    "bad encoding": (["fit", "t.csv", "--encoding", "utf-99"], "encoding 'utf-99' is not known"),
    "bad stop words": (
        ["fit", "t.csv", "--target", "stars", "--stop-words", "klingon"],
        "--stop-words 'klingon' is neither english-neutral, english, none nor a file",
    ),
    "bad ending": (["fit", "t.csv", "-o", "m.pkl"], "'m.pkl' should end in .tprism; try m.tprism"),
    "no output folder": (["fit", "t.csv", "-o", "x/m.tprism"], "there is no folder x to write"),
    "page over table": (["fit", "t.csv", "--report", "t.csv"], "t.csv is to be read and written"),
    "page over model": (
        ["fit", "t.csv", "-o", "m.tprism", "--report", "./m.tprism"],
        "m.tprism is to hold two results; give them two names",
    ),
    "too many topics": (
        ["fit", "reviews.csv", "--n-topics", "5000"],
        "fit: --n-topics 5000, but there are",
    ),
    "empty input": (["fit", "-"], "standard input is empty"),
    "table as model": (["predict", "t.csv", "t.csv"], "t.csv cannot be read: .*topicprism file"),
    "no model": (["topics", "none.tprism"], "there is no file none.tprism; check the name"),
    "folder as model": (["topics", "folder"], "folder is a folder, but a file was expected"),
    "cut model": (["topics", "cut.tprism"], "cut.tprism cannot be read: it has .* bytes"),
    "no text column": (["predict", "reviews.tprism", "numbers.csv"], "no column looks like texts"),
    "predictions over input": (
        ["predict", "reviews.tprism", "t.csv", "-o", "t.csv"],
        "t.csv is to be read and written",
    ),
    "nameless output": (["predict", "reviews.tprism", "t.csv", "-o", "out"], "out does not name"),
    "parquet to a pipe": (
        ["predict", "reviews.tprism", "t.csv", "--output-format", "parquet"],
        "Parquet cannot go to standard output",
    ),
    "kept twice": (["predict", "reviews.tprism", "t.csv", "--keep", "row"], "two columns of that"),
    "kept nothing": (["predict", "reviews.tprism", "t.csv", "--keep", "x"], "has no column 'x'"),
    "model as sketch": (["fit", "model.tpsketch"], "holds a TopicPipeline, but a sketch made from"),
    "two sketches": (["fit", "a.tpsketch", "b.tpsketch"], "but one sketch was expected; add ske"),
    "one sketch": (["merge", "a.tpsketch", "-o", "b.tpsketch"], "two or more were expected"),
    "sketch ending": (["sketch", "t.csv", "-o", "s.npz"], "'s.npz' should end in .tpsketch"),
    "bad picture": (["select", "reviews.csv", *TOPICS, "--plot", "p.xyz"], "p.xyz does not name"),
    "nothing to show": (["report", "reviews.tprism", "blank.csv", "-o", "p.html"], "no row has a"),
}


@pytest.mark.parametrize("which", MISTAKES)
def test_a_mistake_is_one_sentence(here, home, capsys, monkeypatch, which):
    argv, sentence = MISTAKES[which]
    (here / "folder").mkdir()
    for name, content in {
        "t.csv": TABLE,
        "one.csv": "review,stars\nthe room was clean,5\n,3\n",
        "tiny.csv": "text,y\n" + "the room was clean,1e-300\nthe staff was rude,3e-300\n" * 3,
        "same.csv": "review,stars\n" + "the room was clean,4\n" * 3,
        "comma.csv": 'review;stars\nthe room was clean;4,5\nthe staff was rude;"1,0"\n',
        "percent.csv": "review,stars\nthe room was clean,45 %\nthe staff was rude,10%\n",
        "long.csv": f"review,stars\n{'the room was clean and quiet ' * 9},4\n",
        "outliers.csv": "review,stars\n" + "the room was clean,4\nnice,1e300\n" * 3,
        "symbols.csv": "review,stars\n- + - + ?,1\n! ! ! ! !,2\n? ! ? ! ?,3\n",
        "huge.csv": "text,y\n" + "the room was clean,1e150\n" * 3,
        "inf.csv": "text,y\n" + "the room was clean,-inf\n" * 3,
        "numbers.csv": "a,b\n1,2\n",
        "blank.csv": "review,stars\n,5\n",
    }.items():
        (here / name).write_text(content)
    (here / "cut.tprism").write_bytes((home / "reviews.tprism").read_bytes()[:-50])
    (here / "model.tpsketch").write_bytes((home / "reviews.tprism").read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert_refused(capsys, here, argv, sentence)


def test_sketches_over_two_bases_do_not_merge(here, capsys, reviews):
    write_csv(here / "a.csv", reviews[0][:700], reviews[1][:700])
    for name in ("a", "reviews"):
        run(capsys, "sketch", f"{name}.csv", "-o", f"{name}.tpsketch")
    argv = ["merge", "a.tpsketch", "reviews.tpsketch", "-o", "both.tpsketch"]
    assert_refused(capsys, here, argv, "only sketches over one basis add up; sketch both corpora")


def test_a_table_that_changes_between_the_passes_is_refused(here, capsys, monkeypatch):
    table = here / "t.csv"
    table.write_bytes((here / "reviews.csv").read_bytes())

    def longer(self, share):
        with table.open("a") as file:
            file.write("one more,3\n")
        return Drawn()

    monkeypatch.setattr("topicprism.pipeline.drawing.Drawing.draw", longer)
    sentence = "had 1200 documents when it was first read and 1201 the second time"
    assert_refused(capsys, here, ["fit", "t.csv", *TOPICS], sentence)


# --- help, progress, interruption, pipes ------------------------------------------------


def test_help_and_version(capsys):
    status, out, _ = run(capsys, "--version")
    assert (status, out) == (0, f"topicprism {topicprism.__version__}\n")
    status, out, _ = run(capsys, "--help")
    assert status == 0
    assert "examples:" in out
    assert "topicprism predict reviews.tprism new.csv" in out
    for command in MODULES:
        status, text, _ = run(capsys, command, "--help")
        assert status == 0
        assert f"  {command} " in out
        assert max(map(len, text.splitlines())) <= 80
    assert max(map(len, out.splitlines())) <= 80


CHOICES = {"regime": REGIMES, "method": METHODS, "whitening": WHITENINGS, "inference": INFERENCES}


@pytest.mark.parametrize("option", CHOICES)
def test_choices_are_those_of_the_estimators(option):
    """Each is taken by the estimator of the command, and what is no choice is refused with them."""
    actions = {action.dest: action for action in parser().commands["fit"]._actions}
    assert tuple(actions[option].choices) == CHOICES[option]
    X, y, _ = make_slda(400, n_words=20, n_topics=2, random_state=0)
    asked = {"n_topics": 2, "alpha0": 1.0}
    for choice in CHOICES[option]:
        SpectralSLDA(**asked, **{option: choice}, random_state=0).fit(X, y).transform(X)
    listed = re.escape(", ".join(map(repr, CHOICES[option])))
    with pytest.raises(ValueError, match=f"{option}='no', but expected one of {listed}; choose"):
        SpectralSLDA(**asked, **{option: "no"}).fit(X, y).transform(X)


def examples(text):
    return re.findall(r"^  topicprism (.*)$", text.partition("examples:\n")[2], re.M)


def test_two_hyphens_are_no_value_of_an_option(here, capsys):
    for option in ("--output", "--title"):
        assert main(["report", "reviews.tprism", "reviews.csv", f"{option}=--"]) == 2
        assert f"{option}: expected one argument" in capsys.readouterr().err


def test_help_has_examples_that_can_be_typed(capsys):
    """Each parses, as a shell would cut it, and is of the command that it is shown with."""
    commands = {shlex.split(line)[0] for line in examples(run(capsys, "--help")[1])}
    assert commands == set(MODULES)
    for command in commands:
        lines = examples(run(capsys, command, "--help")[1])
        assert 2 <= len(lines) <= 3
        for line in lines:
            args = parser().parse_args(shlex.split(line))
            assert args.command == command


def test_the_first_example_of_each_command_runs(here, capsys, reviews):
    pytest.importorskip("matplotlib")
    texts, y = reviews
    write_csv(here / "new.csv", texts[:20], y[:20])
    write_csv(here / "site_a.csv", texts[:700], y[:700])
    write_csv(here / "site_b.csv", texts[700:], y[700:])
    (here / "reviews.tprism").unlink()
    apart = ("demo", "warmup")  # have tests of their own
    shown = [line for line in examples(run(capsys, "--help")[1]) if not line.startswith(apart)]
    shown.insert(-1, examples(run(capsys, "sketch", "--help")[1])[1])
    for line in shown:
        status, _, err = run(capsys, *shlex.split(line))
        assert status == 0, f"{line}: {err}"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_on_a_terminal_says_what_is_being_done(here, monkeypatch, capsys):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("topicprism.cli.progress.REFRESH_SECONDS", 0)
    assert main(["fit", "reviews.csv", "--report", "p.html", *TOPICS]) == 0
    shown = screen.getvalue()
    for stage in ("reading", "pass one: words", "pass two: counts", "learning", "scoring"):
        assert stage in shown
    for purpose in (
        "pass 1: counting documents",
        "counting words",
        "finding directions",
        "moments",
    ):
        assert purpose in shown
    assert "[########################] 100%" in shown
    assert max(len(part) for part in shown.split("\r")) <= 79
    assert shown.split("\r")[-1].strip() == ""  # the line is clear at the end


def test_progress_of_varied_text_tells_trials_from_the_rest(varied, monkeypatch, capsys):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("topicprism.cli.progress.REFRESH_SECONDS", 0)
    assert main(["fit", "varied.csv"]) == 0
    passes = re.findall(r"pass (\d+): ([a-z ,]+)", screen.getvalue())
    said = {what.strip() for _, what in passes}
    steps = {PURPOSES[f] for f in (word_sums, pair_products, sketch_sums, of_subsets)}
    steps |= {PURPOSES[f] for f in (sizes_by_fold, expected_counts, products, residual_sums)}
    assert steps <= said
    assert {f"{what}, of a part" for what in steps} <= said  # trials, and halves for effects
    assert {what.removesuffix(", of a part") for what in said} <= {*PURPOSES.values()}


def test_no_progress_without_a_terminal_or_when_quiet():
    for stream, quiet in ((io.StringIO(), False), (Terminal(), True)):
        progress = Progress.on(stream, quiet)
        progress.stage("reading")
        progress.at(0.5)
        progress.clear()
        assert stream.getvalue() == ""
        assert progress.now == "reading"


def spawn(*argv, cwd, python=("-m", "topicprism"), **options):
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, *python, *map(str, argv)],
        cwd=cwd,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


def test_ctrl_c_during_fit_leaves_no_half_file(tmp_path):
    """The table is a pipe that is never closed: the command waits in its first stage."""
    os.mkfifo(tmp_path / "pipe.csv")
    child = spawn("fit", "pipe.csv", cwd=tmp_path)
    with (tmp_path / "pipe.csv").open("w") as pipe:
        pipe.write("review,stars\n")
        pipe.flush()
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert err == "topicprism fit: stopped during 'reading'; nothing was written\n"
    assert out == ""
    assert [p.name for p in tmp_path.iterdir()] == ["pipe.csv"]


AT_IMPORT = """
import os, signal, sys
module = sys.argv.pop(1)
def at_import(event, args):
    if event == "import" and args[0] == module:
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(at_import)
from topicprism.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    "module",
    [
        "topicprism.cli",
        "argparse",
        "topicprism.io.tables.streams",
        "topicprism.cli.session",
        "numpy",
    ]
    + [
        "numpy",
        "scipy.sparse",
        "numba",
        "sklearn.base",
        "topicprism.vectorizer.kernels",
        "topicprism.show.report",
    ],
)
def test_ctrl_c_while_python_imports_is_one_sentence(tmp_path, module):
    """The child sends itself the signal when it comes to import a module, however fast it is."""
    child = spawn(module, "fit", "none.csv", cwd=tmp_path, python=["-c", AT_IMPORT])
    out, err = child.communicate(timeout=60)
    assert (out, err) == ("", "topicprism: stopped while starting; nothing was written\n")
    assert child.returncode == 130


def test_hardly_a_module_is_imported_before_ctrl_c_is_heard():
    """Python's own, until there is a handler, answer it with a traceback."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(topicprism.__file__).parents[1])!r}); "
        "import topicprism.__main__; print({'typing', 're', 'argparse'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("later", [0.0, 0.03, 0.1, 0.2, 0.4, 0.8, 2.0])
def test_ctrl_c_at_any_moment_is_one_sentence(tmp_path, later):
    """The table never begins; the clock starts when the command does."""
    os.mkfifo(tmp_path / "pipe.csv")
    start = (
        "import topicprism.__main__ as m, sys; run = m._run\n"
        "m._run = lambda ready: (print(flush=True), run(ready))[1]; sys.exit(m.main())"
    )
    child = spawn("fit", "pipe.csv", cwd=tmp_path, python=["-c", start])
    assert child.stdout.readline() == "\n"
    time.sleep(later)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert re.fullmatch(r"topicprism( fit)?: stopped .*; nothing was written\n", err), err
    assert (out, child.returncode) == ("", 130)


def test_a_command_started_without_ctrl_c_does_not_hear_it(tmp_path):
    """As under nohup, or in the background of a script."""
    start = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from topicprism.__main__ import main\n"
        "os.kill(os.getpid(), signal.SIGINT); sys.exit(main())"
    )
    child = spawn("--version", cwd=tmp_path, python=["-c", start])
    assert child.communicate(timeout=60) == (f"topicprism {topicprism.__version__}\n", "")


@pytest.mark.parametrize("typed", [["--help"], ["--version"], ["fit", "--help"], ["fitt"]])
def test_help_needs_no_numpy(typed):
    code = (
        "import sys; from topicprism.cli import main; main(sys.argv[1:]); "
        "sys.exit(sum(m in sys.modules for m in ('numpy', 'sklearn', 'numba', 'scipy')))"
    )
    done = subprocess.run([sys.executable, "-c", code, *typed], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("where", "kept", "files"),
    [
        ("pipeline.streaming.Watched", "'learning'; nothing was written", []),
        ("cli.commands.fit.score", "'scoring'; m.tprism holds the model", ["m.tprism"]),
        (
            "cli.commands.fit._write_page",
            "'writing the page'; m.tprism holds the model",
            ["m.tprism"],
        ),
    ],
)
def test_ctrl_c_keeps_what_is_done(here, monkeypatch, capsys, where, kept, files):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"topicprism.{where}", interrupted)
    status, _, err = run(
        capsys, "fit", "reviews.csv", "-o", "m.tprism", "--report", "p.html", *TOPICS
    )
    assert status == 130
    assert re.search(kept, err)
    assert err.count("\n") == 1
    assert new_files(here) == files
    if files:
        assert load("m.tprism").model.n_topics == 8


SIGNAL_AFTER_SWEEPS = """
import os, sys, topicprism.samplers
chain = sys.modules["topicprism.samplers.chain"]
number, sweep, made = int(sys.argv.pop(1)), chain.sweep, []
def counted(*args):
    made.append(None)
    if len(made) == 30:
        os.kill(os.getpid(), number)
    return sweep(*args)
chain.sweep = counted
from topicprism.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_chain_that_is_stopped_leaves_its_model_without_scores(here, capsys, number, expected):
    """The signal comes with the 30th sweep of some thousand."""
    typed = ["fit", "reviews.csv", "--model", "gibbs", "--burn-in", 5000, "-o", "m.tprism"]
    child = spawn(number.value, *typed, cwd=here, python=["-c", SIGNAL_AFTER_SWEEPS])
    out, err = child.communicate(timeout=120)
    said = "stopped during 'learning'; m.tprism holds the model after 29 sweeps, without scores"
    assert (out, err) == ("", f"topicprism fit: {said}\n")
    assert child.returncode == expected
    kept = load("m.tprism")
    assert (kept.topics.n_sweeps_, kept.info["scores"]) == (29, {})
    for argv in (["topics", "m.tprism"], ["predict", "m.tprism", "reviews.csv"]):
        assert run(capsys, *argv)[0] == 0


def test_ctrl_c_during_predict_keeps_the_rows_so_far(here, monkeypatch, capsys):
    monkeypatch.setattr(formats, "CHUNK_CHARACTERS", 100_000)
    pipeline_type = type(load("reviews.tprism").topics)
    predict, calls = pipeline_type.predict, []

    def twice(self, X, **options):
        calls.append(X.shape[0])
        if len(calls) > 2:
            raise KeyboardInterrupt
        return predict(self, X, **options)

    monkeypatch.setattr(pipeline_type, "predict", twice)
    status, _, err = run(capsys, "predict", "reviews.tprism", "reviews.csv", "-o", "p.csv")
    done = sum(calls[:2])
    assert status == 130
    assert f"the first {done:,} rows are in p.csv.part" in err
    assert new_files(here) == ["p.csv.part"]
    assert len((here / "p.csv.part").read_text().splitlines()) == done + 1


def test_a_broken_pipe_is_quiet(here):
    header, *rows = (here / "reviews.csv").read_text().splitlines(keepends=True)
    (here / "many.csv").write_text(header + "".join(rows) * 40)  # more than a pipe holds
    child = spawn("predict", "reviews.tprism", "many.csv", "--proportions", cwd=here)
    child.stdout.readline()
    child.stdout.close()
    assert child.wait(timeout=60) == 141
    assert child.stderr.read() == ""
    child.stderr.close()


# --- memory -----------------------------------------------------------------------------


def write_many(path, n, rng, length=30, each=150):
    """Documents of four topics that share no word."""
    words = np.array(["w" + "".join(chr(97 + int(c)) for c in str(i)) for i in range(4 * each)])
    with path.open("w") as file:
        file.write("text,y\n")
        for _ in range(0, n, 5_000):
            h = rng.dirichlet(np.full(4, 0.4), 5_000)
            topic = (h.cumsum(axis=1)[:, None] < rng.random((5_000, length, 1))).sum(axis=2)
            said = words[topic * each + rng.integers(each, size=topic.shape)]
            y = h @ np.arange(4) + 0.1 * rng.standard_normal(5_000)
            file.writelines(f"{' '.join(t)},{v:.4f}\n" for t, v in zip(said, y, strict=True))
    return path


def test_memory_of_a_fit_does_not_grow_with_the_table(tmp_path, rng, monkeypatch):
    """Six times the rows.  What may grow: 8 bytes for each of 1.75 million rows at most, to draw
    those held out, 1,000 more of these, and what the allocator leaves over; together some
    5 MB.  What may not: texts, or their counts, which are 1.3 and 1.5 times as large as the
    file, and that grows by 30 MB.  Half of this is between the two.
    """
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")  # else glibc keeps some MB for each thread
    sizes, peaks = [], []
    for n in (40_000, 240_000):
        table = write_many(tmp_path / f"{n}.csv", n, rng)
        child = spawn("fit", table, "-o", tmp_path / "m.tprism", "--jobs", 2, cwd=tmp_path)
        out, err = child.stdout.read(), child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = status
        assert (status, err) == (0, "")
        assert f"{n * 9 // 10 if n < 50_000 else n - 5_000:,} used for fitting" in out
        sizes.append(table.stat().st_size)
        peaks.append(used.ru_maxrss * (1024 if sys.platform == "linux" else 1))
        child.stdout.close()
        child.stderr.close()
    assert peaks[1] - peaks[0] < (sizes[1] - sizes[0]) / 2


# --- the docs ---------------------------------------------------------------------------


def test_the_examples_of_the_docs_run(tmp_path, monkeypatch, capsys, reviews):
    pytest.importorskip("matplotlib")
    texts, y = reviews
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "reviews.csv", texts, y)
    write_csv(tmp_path / "hotel_reviews.csv", texts, y)
    write_csv(tmp_path / "new.csv", texts[:20], y[:20])
    write_csv(tmp_path / "videos.csv", texts, np.exp(y))
    write_csv(tmp_path / "site_a.csv", texts[:700], y[:700])
    write_csv(tmp_path / "site_b.csv", texts[700:], y[700:])
    page = (ROOT.parent / "docs" / "cli.md").read_text()
    commands = re.findall(r"^\$ topicprism (.*)$", page, re.M)
    assert len(commands) >= 10
    for command in commands:
        status, _, err = run(capsys, *command.split())
        assert status == 0, f"{command}: {err}"
    assert {
        "hotel_reviews.html",
        "page.html",
        "selection.png",
        "both.tprism",
        "predictions.csv",
    } <= set(new_files(tmp_path))


# --- small things -----------------------------------------------------------------------


def test_documents_are_drawn_by_the_seed_and_never_twice():
    texts = [f"text {i}" for i in range(60_000)]

    def drawn(n, seed=0, share=0.1, batches=3):
        drawing = Drawing(seed)
        for i in range(batches):
            drawing.add(texts[i:n:batches])
        return drawing.draw(share).of(texts[:n])

    held, base = drawn(1_000)
    assert (len(held), len(base)) == (100, 900)
    assert not set(held) & set(base)
    np.testing.assert_array_equal(held, drawn(1_000, batches=1)[0])
    assert set(held) != set(drawn(1_000, seed=1)[0])
    assert [len(part) for part in drawn(60_000)] == [5_000, 30_000]
    assert [len(part) for part in drawn(99)] == [0, 0]
    assert [len(part) for part in drawn(1_000, share=0)] == [0, 0]


def test_copies_of_a_text_are_never_both_learnt_from_and_held_out():
    texts = [f"text {i % 40}" for i in range(4_000)]
    drawing = Drawing(0)
    drawing.add(texts)
    held, base = ({texts[i] for i in part} for part in drawing.draw(0.3).of(texts))
    assert 8 <= len(held) <= 12
    assert not held & base
    alike = Drawing(0)
    alike.add(["the same"] * 1_000)
    assert [len(part) for part in alike.draw(0.3).of(["the same"] * 1_000)] == [0, 0]


def test_the_order_of_rows_does_not_matter_to_the_command(here, reviews, capsys):
    """Nor to what it holds out: the same scores, topics and facts but for the fingerprint."""
    texts, y = reviews
    order = np.random.default_rng(0).permutation(len(y))
    write_csv(here / "s.csv", [texts[i] for i in order], [y[i] for i in order])
    found = []
    for name in ("reviews.csv", "s.csv"):
        status, out, _ = run(capsys, "fit", name, "-o", "m.tprism", "--json", *TOPICS)
        assert status == 0
        found.append(json.loads(out))
    one, other = found
    assert one["n_held_out"] == other["n_held_out"] > 0
    for name, score in one["scores"].items():
        assert other["scores"][name] == pytest.approx(score, abs=1e-9)
    for a, b in zip(one["topics"], other["topics"], strict=True):
        assert a["words"] == b["words"]
        for name in ("coefficient", "std", "share"):
            assert b[name] == pytest.approx(a[name], rel=1e-9)


TOPIC = {
    "number": 1, "coefficient": 1.0, "coefficient_of": "response", "std": None, "interval": None,
    "decimals": 2, "share": 0.5, "share_of": "of words", "words": ["room"],
    "found_again": None, "replication": None,
}  # fmt: skip


def test_effects_have_their_intervals_where_known():
    topic = TOPIC | {"coefficient": 1.234, "interval": (1.13, 1.345), "words": ["room"] * 30}
    other = topic | {"coefficient": 4.0, "interval": None}
    lines = list(topic_table([topic, other], "a very long name", lines=1))
    assert lines[0] == " # a very lo  95% interval  share  words"
    assert lines[1].startswith(" 1      1.23  1.13 to 1.34    50%  room room")
    assert lines[2].startswith(" 1      4.00       unknown    50%  room room")
    fine = [t | {"decimals": 3} for t in (topic, other)]
    assert "1.234  1.130 to 1.345" in "\n".join(topic_table(fine, "stars", lines=1))
    classes = [t | {"coefficient_of": "tendency to bad"} for t in (topic, other)]
    assert next(iter(topic_table(classes, "stars", lines=1))).startswith(" #       bad ")
    none = [TOPIC | {"coefficient": None, "coefficient_of": None}]
    assert list(topic_table(none, "stars", lines=1)) == [" #  share  words", " 1    50%  room"]
    prior = [t | {"share_of": "of the prior"} for t in (topic, other)]
    assert "  prior  words" in next(iter(topic_table(prior, "stars", lines=1)))
    assert max(map(len, lines)) <= 80
    nothing = "\n".join(topic_table([topic | {"coefficient": -1e-9}, other], "stars", lines=1))
    assert "-0.0" not in nothing


def test_topics_are_told_to_be_found_again_or_not():
    topic = TOPIC | {"interval": (0.9, 1.1), "found_again": True, "replication": 0.95}
    other = topic | {"interval": None, "found_again": False, "replication": 0.2}
    head, *rows = topic_table([topic, other], "stars", lines=1)
    assert head == " #     stars  95% interval  share  found again  words"
    assert rows[0] == " 1      1.00  0.90 to 1.10    50%          yes  room"
    assert rows[1] == " 1      1.00       unknown    50%           no  room"
    assert list(replication([TOPIC], predicts=True)) == []  # it was not tried
    assert " ".join(" ".join(replication([topic], predicts=True)).split()) == (
        f"found again: whether {FOUND_AGAIN}"
    )
    assert "neither half has gets no interval" in "".join(replication([topic, other], True))
    lines = list(replication([topic, other], predicts=False))
    assert "The words do not predict the response" in " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= 80


def test_huge_numbers_do_not_break_the_tables():
    topic = TOPIC | {"coefficient": 1e14, "interval": (1e14 - 2e9, 1e14 + 2e9), "decimals": 0}
    lines = list(topic_table([topic, topic | {"coefficient": -3e11}], "stars", lines=1))
    assert len({lines[0].index("words"), *(line.index("room") for line in lines[1:])}) == 1
    scored = {"n_held_out": 9, "n_baseline": 9, "n_documents": 9, "topics": [TOPIC]}
    told = scores(scored | {"scores": {OURS: 0.5, "mean": -0.0004}})
    assert any(line.split()[:2] == ["mean", "0.000"] for line in told)
    for worst in (-5.4321e7, -1e205, -99.9994):
        told = scores(scored | {"scores": {OURS: 0.5, "ridge": worst, "mean": 0.0}})
        _, *rows = [line for line in told if not line.startswith("   ")]
        assert {len(row.split("#")[0].rstrip()) for row in rows} == {26}
    drawn = list(bars([0.5, -123456.789, -1.5e300], ["3", "5", "10"]))
    assert len({len(line.split("#")[0].rstrip()) for line in drawn}) == 1


def warning(ours, ridge, n_topics):
    facts = {"n_held_out": 9, "n_baseline": 9, "n_documents": 9, "topics": [TOPIC] * n_topics}
    lines = list(scores(facts | {"scores": {OURS: ours, BASELINE: ridge, "the mean": 0.0}}))
    assert max(map(len, lines)) <= 80
    return " ".join(" ".join(lines[4:]).split())


def test_words_are_blamed_only_where_a_regression_on_them_fails_too():
    """Where topics predict nothing, it may be the words, or one topic, or these topics."""
    for n_topics in (1, 3):
        assert warning(0.5, 0.553, n_topics) == ""
        said = warning(0.001, -0.02, n_topics)
        assert said.startswith("neither the topics nor a regression on all words")
    said = warning(-0.003, 0.553, 1)
    assert said.startswith("with one topic every text gets the same prediction")
    assert "--n-topics" in said
    assert "neither the topics" not in said
    assert warning(0.01, 0.553, 3).startswith("these 3 topics predict almost nothing, although")


def test_one_topic_is_not_the_fault_of_the_words(here, capsys):
    status, out, _ = run(capsys, "fit", "reviews.csv", "-o", "one.tprism", "--n-topics", "1")
    assert status == 0
    assert "with one topic every text gets the same prediction, although a" in out


def test_reasons_are_wrapped_beside_what_was_chosen():
    facts = {
        "n_documents": 100,
        "n_held_out": 0,
        "n_left_out": {},
        "n_words": 12,
        "too_common": [f"common{i}" for i in range(9)],
        "scores": {},
        "target": "stars",
        "range_left": None,
        "learnt_by": "SpectralSLDA",
        "chosen": {"topics": {"value": 8, "reason": "of the numbers tried it was " * 5}},
        "predicts": True,
        "topics": [TOPIC],
    }
    lines = list(fit_lines(facts))
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("topics         8         of the numbers") for line in lines)
    assert any(line.startswith(" " * 25) for line in lines)
    assert "common4 and 4 more" in " ".join(" ".join(lines).split())


def test_that_coefficients_are_not_to_be_interpreted_is_said_by_all_or_by_none(
    tmp_path, monkeypatch, capsys
):
    """Of a number that has nothing to do with the texts, and of one that has."""
    monkeypatch.chdir(tmp_path)
    texts, y = varied_texts(200)
    by_chance = np.random.default_rng(0).permutation(y)
    for numbers, said in ((by_chance, True), (y, False)):
        write_csv(tmp_path / "t.csv", texts, numbers)
        _, fitted, _ = run(capsys, "fit", "t.csv", "--report", "p.html")
        _, listed, _ = run(capsys, "topics", "t.tprism")
        page = (tmp_path / "p.html").read_text()
        for shown in (fitted, listed, page):
            plain = " ".join(shown.split())
            assert ("should not be interpreted" in plain) is said
            assert ("95% interval" in plain or "95 % interval" in plain) or said
        (tmp_path / "t.tprism").unlink()
