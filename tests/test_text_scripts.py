"""The paper's figures and tables on real reviews, in their quick form; and how they judge."""

import csv
import importlib
import sys
from dataclasses import astuple, replace

import numpy as np
import pytest
from paper import FOLDER, ROOT, run


@pytest.fixture(scope="module")
def reviews():
    """The module that the scripts share; the path is as it was once it is imported."""
    before = sys.path[:]
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module("reviews")
    finally:
        sys.path[:] = before


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_hotel(tmp_path):
    pytest.importorskip("matplotlib")
    out = run("hotel", tmp_path, "--quick")
    rows = read(tmp_path / "hotel.csv")
    pr2 = {(r["method"], r["k"]): float(r["pr2"]) for r in rows}
    assert len(pr2) == len(rows) == 21
    assert pr2["joint", "4"] > pr2["two-stage", "4"] + 0.1
    assert pr2["SpectralSLDA()", "0"] == max(pr2.values()) > 0.7
    assert {r["sweeps"] for r in rows if r["method"] in ("joint", "SpectralSLDA()")} == {"0"}
    assert pr2["joint, propagation", "4"] == pytest.approx(pr2["joint", "4"], abs=0.02)
    assert 0.3 < pr2["joint, C = 10", "4"] != pr2["joint, propagation", "4"]
    assert "VERDICT Figure 6: differs" in out
    picture = tmp_path / "hotel.png"
    assert picture.stat().st_size > 1_000
    picture.unlink()
    again = run("hotel", tmp_path, "--quick")  # no row twice
    assert "21 rows are there, 0 to come" in again
    drawn = run("hotel", tmp_path, "--draw")
    assert drawn.splitlines()[-1] == out.splitlines()[-1] == again.splitlines()[-1]
    assert read(tmp_path / "hotel.csv") == rows
    assert picture.exists()


def test_movies(tmp_path):
    out = run("movies", tmp_path, "--quick")
    found = {
        (r["V"], r["mean_alpha"], r["k"], r["method"]): r for r in read(tmp_path / "movies.csv")
    }
    assert len(found) == 2 * 2 * 2 * 9 + 4  # and Algorithm 3 with the larger vocabulary
    exact, randomised = (float(found[V, "0.1", "5", "joint"]["pr2"]) for V in ("5000", "10000"))
    assert randomised == pytest.approx(exact, abs=0.01)  # all words are in both
    assert found["5000", "0.1", "5", "joint"]["pr2"] != found["5000", "0.01", "5", "joint"]["pr2"]
    assert out.count("VERDICT Figure 7, 600 documents of toy reviews: ") == 1
    assert (
        "VERDICT Figure 8, 600 documents of toy reviews: not measured: 2 of 36" in out
    )  # no more than 9 topics


def test_a_part_of_the_figures_may_be_measured(tmp_path):
    part = ("--sizes", "5000", "--topics", "3", "--methods", "joint", "two-stage")
    out = run("movies", tmp_path, "--quick", *part)
    rows = read(tmp_path / "movies.csv")
    assert {(r["V"], r["k"]) for r in rows} == {("5000", "3")}
    assert sorted(r["method"] for r in rows) == ["joint", "joint", "two-stage", "two-stage"]
    assert "VERDICT Figure 7, 600 documents of toy reviews: not measured: 26 of 30" in out
    assert "VERDICT Figure 8, 600 documents of toy reviews: not measured: 36 of 36" in out


def test_polar_words(tmp_path):
    out = run("polar_words", tmp_path, "--quick")
    topics, words = (read(tmp_path / f"polar_{name}.csv") for name in ("topics", "words"))
    assert len(topics) == 8
    for method in ("two-stage", "joint"):
        eta = [float(r["eta"]) for r in topics if r["method"] == method]
        assert eta == sorted(eta)
    rank = {r["word"]: int(r["rank joint"]) for r in words}
    assert rank["dirty"] < rank["friendly"]
    assert "VERDICT Tables 1 and 2, toy reviews: reproduced" in out
    assert run("polar_words", tmp_path, "--draw").splitlines()[-1] == out.splitlines()[-1]


def test_the_tables_of_the_page_are_those_of_the_script():
    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    tables = run("polar_words", FOLDER, "--draw", "--markdown").strip().split("\n\n")
    assert len(tables) == 3
    assert all(table in page for table in tables)


def test_more_documents_of_a_corpus_are_other_cells(reviews):
    few = reviews.Cell("x", 42_000, 5_000, 0.1, 3, 0, "joint")
    known = reviews.Row(*astuple(few), 0.4, -7.0, 1.0, 0, "")
    assert known.cell == few != replace(few, n=127_372)


def row(reviews, method, pr2, k=3, fold=0):
    return reviews.Row("x", 600, 10, 0.1, k, fold, method, pr2, -7.0, 1.0, 0, "")


def test_the_best_number_of_topics_is_by_means_over_folds(reviews):
    scores = {(3, 0): 0.2, (3, 1): 0.4, (4, 0): 0.9, (4, 1): -0.5, (5, 0): 0.9, (5, 1): np.nan}
    curves = reviews.Curves([row(reviews, "joint", v, k, i) for (k, i), v in scores.items()])
    assert curves.best("joint") == pytest.approx(0.3)  # of 5 topics a fold is refused
    assert list(curves.of("joint")) == [3, 4]
    assert curves.of("joint")[3][1] == pytest.approx(0.1)
    assert np.isnan(curves.best("Gibbs"))


def test_verdicts(reviews):
    yes, no = reviews.Claim("a", 2, 1, ""), reviews.Claim("b", 1, 2, "")
    unknown = reviews.Claim("c", np.nan, 1, "")
    assert reviews.verdict([yes, yes]) == "reproduced"
    assert reviews.verdict([no]) == "not reproduced"
    assert reviews.verdict([yes, no, no]).startswith("differs: 2 of 3 statements")
    assert reviews.verdict([yes, unknown]) == "not measured: 1 of 2 statements"
    assert reviews.verdict([]).startswith("not measured")


def test_folds_are_apart_and_leave_the_rest(reviews):
    docs = reviews.documents(reviews.TOY, 300, slice(None), 6)
    assert docs.X.shape[0] == 600
    assert (docs.y.mean(), docs.y.std()) == pytest.approx((0, 1))
    tested = [docs.fold(i)[3] for i in range(5)]
    assert np.array_equal(np.concatenate(tested), docs.y[:500])
    X, y, *_ = docs.fold(1)
    assert X.shape[0] == len(y) == 500
    assert np.array_equal(y, np.delete(docs.y, slice(100, 200)))


def test_a_refused_number_of_topics_is_a_row_that_says_so(reviews):
    docs = reviews.documents(reviews.TOY, 12, slice(None), 6)
    cell = reviews.Cell(reviews.TOY, 600, 12, 0.1, 11, 0, "two-stage")
    found = reviews.measure(cell, docs, reviews.methods(10, 5)["two-stage"])
    assert found.cell == cell
    assert np.isnan([found.pr2, found.log_likelihood]).all()
    assert "positive eigenvalues" in found.note
    assert astuple(found)[:7] == astuple(cell)
