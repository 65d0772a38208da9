"""The scripts of experiments/paper on simulated documents, in their quick form."""

import csv
import os
import re
import shutil
import subprocess

import pytest
from paper import FOLDER, ROOT, quickly, run


def read(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def save(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def verdicts(out):
    """What became of each claim, in their order."""
    found = [line for line in out.splitlines() if line.startswith("VERDICT")]
    return [line.removeprefix("VERDICT").split(":")[0].strip() for line in found]


def test_make_paper_runs_every_script():
    shared = {"reviews", "trials", "writing"}
    command = [*quickly(), "--dry-run"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    (names,) = re.findall(r"for name in (.*?);", done.stdout)
    assert sorted(names.split()) == sorted({p.stem for p in FOLDER.glob("*.py")} - shared)
    assert ".py --quick  ||" in done.stdout


def test_what_is_quick_is_not_put_beside_what_was_measured(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    from writing import parsed, parser

    monkeypatch.setattr("sys.argv", ["a.py", "--quick"])
    assert parsed(parser("")).out == ROOT / "results" / "paper"
    monkeypatch.setattr("sys.argv", ["a.py"])
    assert parsed(parser("")).out == FOLDER


def test_rows_that_are_there_are_not_measured_again(tmp_path):
    run("recovery", tmp_path)
    path = tmp_path / "recovery.csv"
    whole = read(path)
    assert "32 rows were there, 0 were added" in run("recovery", tmp_path)
    assert read(path) == whole
    save(path, [row for row in whole if row["n"] == "512"])
    assert "16 rows were there, 16 were added" in run("recovery", tmp_path)
    assert sorted(map(str, read(path))) == sorted(map(str, whole))


def test_what_is_committed_is_what_the_scripts_measure_by_default(tmp_path):
    """None of its cells would be measured again, on however many cores, and none is missing."""
    for name in ("recovery", "training_size", "times", "threads", "bounds", "decompositions"):
        for file in (*FOLDER.glob(f"{name}*.csv"), *FOLDER.glob("eta_by*.csv")):
            shutil.copy(file, tmp_path)
        out = run(name, tmp_path, "--out", tmp_path)
        assert "0 were added" in out, name
        assert (tmp_path / f"{name}.csv").read_bytes() == (FOLDER / f"{name}.csv").read_bytes()


def test_a_file_of_other_columns_is_not_added_to(tmp_path):
    (tmp_path / "bounds.csv").write_text("n,quantity\n1,none\n")
    with pytest.raises(AssertionError, match="has the columns n, quantity, but expected n, quan"):
        run("bounds", tmp_path)


def test_decompositions(tmp_path):
    out = run("decompositions", tmp_path)
    assert len(verdicts(out)) == 3
    rows = read(tmp_path / "decompositions.csv")
    worst = {(r["k"], r["noise"], r["decomposition"]): float(r["worst"]) for r in rows}
    assert max(e for (_, noise, _), e in worst.items() if float(noise) == 0) < 1e-6
    assert worst["12", "0.05", "two-svd"] > 3 * worst["12", "0.05", "simultaneous"]
    assert worst["12", "0.05", "stgd"] < 2 * worst["12", "0.05", "simultaneous"]
    apart, equal = read(tmp_path / "eta_by_diagonalisation.csv")
    assert float(equal["eigenvectors of My"]) > float(apart["eigenvectors of My"])
    assert float(apart["power update"]) < float(apart["diagonalisation"])
    gaps = read(tmp_path / "eta_by_gap.csv")
    assert len(gaps) == 9
    wrong = {float(r["gap"]) / float(r["noise"]): float(r["matched wrongly"]) for r in gaps}
    assert wrong[min(wrong)] > 0.5
    assert wrong[max(wrong)] == 0


def test_whitening(tmp_path):
    assert verdicts(run("whitening", tmp_path)) == ["as printed it does not whiten sampled moments"]
    found = {(r["V"], r["whitening"]): r for r in read(tmp_path / "whitening.csv")}
    for way in ("matrix-free", "randomised"):
        assert float(found["120", way]["off"]) < 1e-8
        assert float(found["120", way]["sine"]) < 0.01
    assert float(found["120", "nystrom as printed"]["off"]) > 0.5


def test_word_scale(tmp_path):
    assert verdicts(run("word_scale", tmp_path)) == ["not reproduced on samples"]
    found = {float(r["C"]): float(r["pR2"]) for r in read(tmp_path / "word_scale.csv")}
    assert len(found) == 8
    assert found[100.0] > 0.3


def test_bounds(tmp_path):
    pytest.importorskip("matplotlib")
    assert verdicts(run("bounds", tmp_path)) == ["reproduced"]
    rows = read(tmp_path / "bounds.csv")
    assert len(rows) == 39
    assert all(float(r["ratio"]) > 1 for r in rows)
    assert (tmp_path / "bounds.png").stat().st_size > 1_000


def test_recovery(tmp_path):
    out = run("recovery", tmp_path, "--quick", "--jobs", "2")
    rows = read(tmp_path / "recovery.csv")
    assert len(rows) == 2 * 2 * 2 * 4  # lengths, sizes, trials, ways
    for row in rows:
        assert (row["road"] == "paper") == row["way"].startswith("Algorithm")
        assert 0 < float(row["mu"]) < 0.6
        assert 0 < float(row["eta"]) < 0.5
        assert 0 < float(row["alpha"]) < 0.2
    assert len(verdicts(out)) == out.count("CLAIM") == 4


@pytest.mark.parametrize(
    ("joint", "rising", "expected"),
    [
        (-0.8, False, ["reproduced", "reproduced", "reproduced", "reproduced"]),
        (-0.5, False, ["reproduced", "reproduced", "not reproduced", "reproduced"]),
        (-0.5, True, ["reproduced but for single steps", "not reproduced", "not reproduced",
                      "reproduced"]),
    ],
)  # fmt: skip
def test_the_verdict_on_recovery_is_that_of_the_csv(tmp_path, joint, rising, expected):
    rows = []
    for length in (250, 500):
        for n in (256, 1024, 4096):
            for trial in range(3):
                for way, rate in (("Algorithm 1", -0.5), ("Algorithm 2", joint)):
                    size = (1 + 0.01 * trial) * 250 / length
                    up = rising and way == "Algorithm 1" and n == 4096
                    rows.append({
                        "words": length, "noise": 0.1, "n": n, "trial": trial, "way": way,
                        "road": "paper", "alpha": size * n**-0.5 * (10 if up else 1),
                        "eta": size * n**rate, "mu": size * n**-0.5,
                    })  # fmt: skip
    save(tmp_path / "recovery.csv", rows)
    assert verdicts(run("recovery", tmp_path, "--draw")) == expected


def test_training_size(tmp_path):
    out = run("training_size", tmp_path)
    rows = read(tmp_path / "training_size.csv")
    mse = {}
    for row in rows:
        key = row["n"], row["way"], row["inference"]
        mse[key] = mse.get(key, 0) + float(row["mse"]) / 2  # two trials
        assert -6.3 < float(row["likelihood"]) < -6
    for n in ("200", "400"):
        of = {way: value for (m, way, how), value in mse.items() if (m, how[0]) == (n, "p")}
        assert of["the true model"] == min(of.values()) > 0
        assert of["Algorithm 2"] < of["Gibbs, fixed sweeps"]  # of a few sweeps
        assert mse[n, "Algorithm 2", "gibbs"] == pytest.approx(of["Algorithm 2"], rel=0.1)
    assert mse["200", "hybrid", "propagation"] < mse["200", "Gibbs, fixed sweeps", "propagation"]
    assert len(verdicts(out)) == out.count("CLAIM") == 6


def test_times(tmp_path):
    out = run("times", tmp_path)
    rows = read(tmp_path / "times.csv")
    best = {(r["n"], r["method"]): float(r["pR2"]) for r in rows}
    for n in ("600", "1200"):
        assert best[n, "the true model"] == max(p for (m, _), p in best.items() if m == n)
        assert best[n, "Algorithm 2"] > best[n, "Gibbs, the paper's stop"] + 0.2
        looks = [r for r in rows if (r["n"], r["method"]) == (n, "Gibbs")]
        assert [r["sweeps"] for r in looks] == ["25", "50"]
        assert float(looks[0]["seconds"]) < float(looks[1]["seconds"])
        assert [r["end"] for r in looks] == ["", "no more looks"]
    assert len(verdicts(out)) == 1
    assert "tomotopy is not installed" in out or "tomotopy, its defaults" in out


def test_seconds_are_compared_at_equal_error(tmp_path):
    def row(method, sweeps, seconds, error, end=""):
        return {"n": 5000, "method": method, "told": "", "sweeps": sweeps, "seconds": seconds,
                "topic error": error, "pR2": 0.8 - error, "end": end}  # fmt: skip

    fits = ("Algorithm 1", "Algorithm 2", "default (joint)", "default (joint), untold")
    rows = [row(fit, 0, 2.0, 0.1) for fit in fits]
    rows += [row("Gibbs, the paper's stop", 20, 10.0, 0.5)]
    rows += [row("Gibbs", s, s / 10, e) for s, e in ((50, 0.3), (100, 0.09), (200, 0.05))]
    rows += [row("tomotopy, its defaults", 100, 30.0, 0.2), row("tomotopy, its defaults", 200, 60.0,
                                                                0.25, "converged")]  # fmt: skip
    save(tmp_path / "times.csv", rows)
    out = run("times", tmp_path, "--draw")
    assert out.count("0.100 in 2.00 s: 5.0 times (100 sweeps)") == 3
    assert "0.100 in 2.00 s: not in 30.0 times: 0.200 at best (converged)" in out
    assert verdicts(out) == ["reproduced in part"]  # five times as long, of one size only


def test_what_is_timed_has_cores_of_its_own(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    from trials import THREADS, Slots

    for name in THREADS:
        monkeypatch.setenv(name, "1")
    cores = os.sched_getaffinity(0)
    found = list(Slots(len(cores), 1).rows(os.sched_getaffinity, [0] * 2 * len(cores)))
    assert len(found) == 2 * len(cores)  # a task had one core
    assert set(found) <= cores
    assert os.sched_getaffinity(0) == cores
    with pytest.raises(SystemExit, match=f"need {2 * len(cores)} cores, but there are"):
        Slots(len(cores), 2)


def test_threads(tmp_path):
    out = run("threads", tmp_path)
    rows = read(tmp_path / "threads.csv")
    assert {r["method"] for r in rows} == {"Algorithm 1", "Algorithm 2", "default (joint)"}
    for row in rows:
        assert row["shards"] == "2"
        assert int(row["passes"]) > 3
        assert float(row["moments"]) > 0 < float(row["rest"])
    assert len(verdicts(out)) == 1


def test_the_verdict_on_threads_is_that_of_the_csv(tmp_path):
    rows = [
        {"n": 10**6, "k": k, "method": method, "threads": t, "passes": 5, "shards": 200,
         "moments": 8 / t**rate, "rest": 1.0}
        for k, rate in ((5, 0.95), (10, 0.5)) for t in (1, 4, 16)
        for method in ("Algorithm 1", "Algorithm 2", "default (joint)")
    ]  # fmt: skip
    save(tmp_path / "threads.csv", rows)
    assert verdicts(run("threads", tmp_path, "--draw")) == ["reproduced in part"]
    save(tmp_path / "threads.csv", [row for row in rows if row["k"] == 5])
    assert verdicts(run("threads", tmp_path, "--draw")) == ["reproduced"]
