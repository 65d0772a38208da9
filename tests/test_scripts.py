"""Every script of the repository runs, the slow ones in their quick form, and what it prints means
something: bounds are wide, for quick forms are small."""

import ast
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
EXPERIMENTS = sorted((REPOSITORY / "experiments").glob("*.py"))
BENCHMARKS = [
    REPOSITORY / "benchmarks" / name
    for name in (
        "run.py",
        "kernels.py",
        "many_topics.py",
        "same_answers.py",
        "text_to_report.py",
        "threads.py",
        "dask_scaling.py",
    )
]
NUMBER = re.compile(r"(?<![\w.])[+-]?(?:\d[\d,]*\.?\d*(?:e[+-]?\d+)?|nan|inf)(?![\w.])%?")


def numbers(line):
    return [float(n.replace(",", "").rstrip("%")) for n in NUMBER.findall(line)]


def table(out):
    """The numbers of each line that begins with words, by these words; and its own if twice."""
    found = {}
    for line in out.splitlines():
        name = re.split(r"\s{2,}", line.strip())[0]
        rest = numbers(line.strip()[len(name) :])
        if rest and name:
            found.setdefault(name, rest)
    return found


def agreement(out):
    found = table("\n".join(line[16:] for line in out.splitlines()[1:]))
    for _, similarity, common, similar, apart, *effects in found.values():
        assert 0 < similarity <= 1
        assert 0 <= common <= 1
        assert len(effects) == (0 if similar == apart else 2)  # none shown, or share and largest
    assert found["default"][1] > 0.9  # two samples of one truth


def automatic(out):
    row = numbers(out.splitlines()[1])
    assert row[0] == row[3] == 3  # topics: the truth's, and found
    noise, mu, mu_known = row[7], row[-4], row[-3]
    assert 0.8 < noise < 1.2
    assert 0 < mu < 2 * mu_known + 0.1


def chains(out):
    rows = [numbers(line[67:]) for line in out.splitlines()[1:]]
    assert len(rows) == 3
    for r2, likelihood, npmi, shown, used, common in rows:
        assert 0 < r2 < 1
        assert -7 < likelihood < 0
        assert -1 < min(npmi, shown) <= max(npmi, shown) < 1
        assert 1 < used <= 3
        assert 0.3 < common <= 1


def few_documents(out):
    gain, _, words, _ = table(out)["toy reviews"][2:]
    assert abs(gain) < 0.2
    assert abs(words) < 0.5


def get_data(out):
    """It fetches nothing in its quick form."""
    assert len(re.findall(r"https://\S+\.(?:tar\.gz|tar\.bz2|txt\.gz)  ", out)) == 4


def inference(out):
    found = {name: row[0] for name, row in table(out).items() if "variational" in name}
    ours = table(out)["expectation propagation (our default)"][0]
    assert len(found) == 3
    assert 0.5 < max(found.values()) - 0.01 < ours < 1
    assert "0 of 864 long documents do not settle" in out


def inference_grid(out):
    """Chains and enumeration, two oracles, agree."""
    for line in out.splitlines()[1:]:
        apart, ratio = numbers(line)[-2:]
        assert apart < 0.02
        assert 0.9 < ratio < 1.1


def intervals(out):
    told, told_size, untold, untold_size, left_out = numbers(out.splitlines()[1])[-5:]
    for inside, size in ((told, told_size), (untold, untold_size)):
        assert inside >= 75  # per cent, of a few coefficients
        assert 0.3 < size < 2
    assert left_out == 0


def noise_limit(out):
    for line in out.splitlines()[1:]:
        all_low, all_high, second_low, second_high = numbers(line)[-4:]
        assert 0 < all_low < all_high < second_high < 1
        assert all_low < second_low  # who knows less knows it less well


def one_sketch(out):
    assert "50 fits after it looked 0 times" in out
    errors = dict(re.findall(r"alpha0=([\d.]+): ([\d.]+)", out))
    assert len(errors) == 5
    assert float(errors["1"]) < float(errors["4"])  # the truth is 1


def overlap(out):
    """Of two, three and four topics; no wrong answer without a warning."""
    rows = [numbers(line) for line in out.splitlines()[1:]]
    assert [row[0] for row in rows] == [2, 3, 4]
    for row in rows:
        mean, largest, silent, warned = row[2], row[4], row[6], row[8]
        assert mean < 0.02
        assert largest < 0.15
        assert silent == 0
        assert warned < 10


def real_text(out):
    rows = [re.split(r"\s{2,}", line.strip()) for line in out.splitlines()[1:]]
    found = {r[1].split(maxsplit=1)[1]: [float(v) for v in r[2:8]] for r in rows}
    assert len(found) >= 11  # thirteen with tomotopy
    assert all(len(r) == 6 for r in found.values())
    k, pr2, same, likelihood, _, used = found["default"]
    assert pr2 > 0.7
    assert abs(same - pr2) < 0.1  # its own regression is much like the one for all
    assert likelihood < 0
    assert 1 < used <= k
    assert same > found["scikit-learn LDA"][2]  # topics that are to predict do
    assert math.isnan(found["scikit-learn LDA"][1])  # it has no predictions of its own
    for name in ("ridge", "ridge, bigrams"):
        assert found[name][1] > 0.6
        assert all(math.isnan(v) for v in found[name][2:])  # it has no topics


def permuted(out):
    for line in out.splitlines()[1:]:
        n, topics, apart, *shown = numbers(line)[1:]
        assert (n, topics) == (3, 9)
        assert len(shown) == (0 if apart == topics else 2)
        assert all(0 <= value <= 100 for value in shown)


def relatives(out):
    if "is not there" in out:
        return
    found = {m[1]: float(m[2]) for m in re.finditer(r"^ 4  (.+?)\s{2,}(-?[\d.]+)", out, re.M)}
    assert len(found) == 11
    assert found["AnchorSLDA"] > found["AnchorSLDA, weight 0"] + 0.05
    assert all(0.45 < found[n] < 1 for n in ("VariationalSLDAClassifier", "DiscLDA"))


def response_topics(out):
    _, agreement, score, gain, error = table(out)["toy reviews"]
    assert -1 <= agreement <= 1
    assert 0.5 < score < 1
    assert abs(gain) < 0.2
    assert 0 <= error < 0.1


def samplers_hotel(out):
    if "is not there" in out:
        return
    found = {name: row[-1] for name, row in table("\n".join(out.splitlines()[1:])).items()}
    assert found["joint"] > max(v for n, v in found.items() if n.startswith(("Gibbs", "MedLDA, ")))
    assert all(0.3 < v < 1 for n, v in found.items() if n.startswith("MedLDAClassifier"))


def samplers_movie(out):
    if "is not there" in out:
        return
    pr2 = {m[1]: float(m[2]) for m in re.finditer(r"^ 3  (.+?)\s{2,}(-?[\d.]+) ±", out, re.M)}
    assert len(pr2) == 9
    assert pr2["joint"] == max(pr2.values()) > 0.1


def second_look(out):
    for line in out.splitlines()[1:]:
        row = numbers(line)
        assert 0.5 < row[2] < 1.5  # the noise variance over the truth
        assert row[-1] > 0


def stability(out):
    different, least, counterparts, _, at, closest, both = table(out)["simulated reviews"][-7:]
    assert different <= least < counterparts  # counterparts are more alike than different topics
    assert 1 >= at >= closest >= both >= 0
    std, actual = next(numbers(line)[-2:] for line in out.splitlines() if line[:3] == " 3 ")
    assert 0.2 < std / actual < 5  # of four runs on two corpora


def sketches_of_text(out):
    (_, plain, *clear), (_, noise, *noisy) = [
        numbers(line)[-7 + i :] for i, line in enumerate(out.splitlines()[1:])
    ]
    assert (plain, noise) == (0, 3)
    documents, default, alone, merged, error = clear
    assert default > 0.8 * documents > 0.1
    assert alone > 0.8 * documents
    assert merged > 0.8 * documents
    assert 0.5 < error < 1.5
    assert min(noisy[1:3]) > -0.03


def small_effects(out):
    rows = [numbers(line) for line in out.splitlines()[1:]]
    assert [row[:2] for row in rows] == [[150, 2], [150, 2]]
    for _, _, beyond, largest, apart, error in rows:
        assert beyond == 0
        assert largest < 2
        assert apart < 2 * error < 2


def small_tables(out):
    rows = [numbers(line) for line in out.splitlines()[1:]]
    assert [row[0] for row in rows] == [150, 400]
    for _, _, k, pr2, ridge, ratio, alike, smallest in rows:
        assert k > 1
        assert pr2 > 0.6
        assert abs(pr2 / ridge - ratio) < 0.01
        assert alike == 0
        assert 0.01 < smallest <= 1 / k


def steering(out):
    found = table(out)
    steered = [row for name, row in found.items() if name.startswith("weight")]
    assert len(steered) == 6
    for pr2, words in steered:
        assert abs(pr2 - found["joint"][0]) < 0.1
        assert words < 0


def stop_words(out):
    rows = [re.split(r"\s{2,}", line.strip()) for line in out.splitlines()[1:]]
    pr2 = {row[1]: [float(n) for n in row[2:]] for row in rows}
    assert list(pr2)[::3] == ["english", "ridge on all words"]
    assert all(0.6 < score < 1 for scores in pr2.values() for score in scores)


def any_words(out):
    rows = re.findall(r"^toy reviews +(\D+?) +(\d+) +(\d+) +(\S+) +(\S+) +\S+ +(\d+)%", out, re.M)
    assert [row[0] for row in rows] == ["words", "any words"]
    assert int(rows[1][1]) > int(rows[0][1])  # pairs are columns too
    for _, _, nnz, r2, ridge, common in rows:
        assert int(nnz) > 1_000
        assert 0.6 < float(r2) < 1
        assert 0.6 < float(ridge) < 1
        assert int(common) < 10  # of what is shown


def run(out):
    found = table(out)
    assert 0.5 < float(re.search(r"true parameters ([\d.]+)", out)[1]) < 1
    assert found["null"][-1] == pytest.approx(0, abs=0.01)
    assert 0.2 < found["ours, joint"][-1] < 0.836
    assert found["ours, one thread"][-1] == found["ours, two threads"][-1] < 0
    growth = [numbers(line) for line in re.findall(r"^ +[\d,]+ +500 +10 .*$", out, re.M)]
    assert growth[0][-1] > growth[3][-1]  # more documents, less error


def kernels(out):
    found = table(out)
    for name in ("word_sums", "pair_products", "project", "sketch_sums"):
        assert found[name][-1] < 1e-12  # what its docstring says
    assert found["propagate"][-1] < 0.2


def number_of_topics(out):
    ((k, r2, words, npmi, own, common, large),) = re.findall(
        r"^toy reviews +300 \* +(\d+) +(\S+) +(\S+) +(\S+) +(\S+) +(\d+) +(\d+)$", out, re.M
    )
    assert 2 <= int(common) <= int(large) <= int(k) == 4
    assert float(r2) < 1
    assert -6 < float(words) < -3
    assert -1 <= float(npmi) <= 1
    assert 1 / 4 < float(own) <= 1


def many_topics(out):
    rows = re.findall(r"^(Spectral.*?)  +(5|40) +(\S+) +(\S+) +(\S+) +(\S+)$", out, re.M)
    assert len(rows) == 6
    for name, k, clock, processor, r2, words in rows:
        assert (float(clock) == float(processor) == 1) == (k == "5")
        assert r2 == "-" if name == "SpectralLDA" else 0.2 < float(r2) < 1
        assert -6 < float(words) < -3


def same_answers(out):
    """Of one version with itself, which are the same to the last bit."""
    found = re.findall(r"^simulated/(\S+?)(?:, k=10)?/([a-z ]+\w) +(\S+)$", out, re.M)
    assert len(found) == 20
    assert {name for name, *_ in found} >= {"AutoSLDA", "SpectralLDA", "MedLDA"}
    assert all(apart == "0.0e+00" for *_, apart in found)


def threads(out):
    rows = re.findall(r"^(\w+) +([12]) +(\S+) +(\S+) +(\S+) +(\S+)$", out, re.M)
    passes = ["adding", "word_sums", "pair_products", "sketch_sums", "whole"]
    assert [row[0] for row in rows] == 2 * passes
    for _, n, seconds, gain, user, system in rows:
        assert float(seconds) > 0
        assert float(gain) == 1 if n == "1" else float(gain) > 0.1
        assert float(user) + float(system) < 20  # times one thread's


def dask_scaling(out):
    """Seconds mean nothing here; what travels, is counted and is modelled does."""
    assert re.search(r"^speed: 4,000 documents; seconds, .* 2 workers \S+$", out, re.M)
    assert "transfers: shards: 0, 0.0 MB" in out
    assert re.search(r"at most [01] times \(wanted: once\): yes$", out, re.M)
    assert 200 < numbers(re.search(r"^memory: .*$", out, re.M)[0])[-1] < 2000  # MB
    bytes_, seconds, n_tasks = map(float, re.findall(r"\((\S+) by the model\)", out))
    assert (bytes_, seconds) == (1, 1)  # a line through one point
    assert 0.9 < n_tasks < 2.5  # so few documents may be gathered, after some of the passes
    rows = re.findall(r"^  \| 1e\+(\d\d) \| ([\d,]+) \|", out, re.M)
    assert rows[-1] == ("10", "100,000")


def text_to_report(out):
    found = table(out)
    assert found["topicprism"][0] > 0.6
    assert found["ratio of times"][0] == pytest.approx(
        found["topicprism fit, text to page"][0] / found["CountVectorizer().fit_transform"][0],
        rel=0.5,  # seconds are printed with two decimals
    )


SLOW = ("dask_scaling", "many_topics", "real_text", "relatives", "same_answers", "samplers_movie",
        "sketches_of_text", "stability")  # fmt: skip
SCRIPTS = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem in SLOW))
    for path in EXPERIMENTS + BENCHMARKS
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_experiments_and_benchmarks_run(script):
    done = subprocess.run(
        [sys.executable, script, "--quick"], capture_output=True, text=True, cwd=REPOSITORY
    )
    assert done.returncode == 0, done.stderr
    if script.stem != "real_text":  # a ridge has no likelihood
        assert all(math.isfinite(n) for n in numbers(done.stdout)), done.stdout
    globals()[script.stem](done.stdout)


def test_scores_of_one_version_are_the_same():
    script = REPOSITORY / "benchmarks" / "same_answers.py"
    run = subprocess.run(
        [sys.executable, script, "--scores", "--quick"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    before, now, gain = numbers(run.stdout.splitlines()[-2])
    assert before == now > 0.6
    assert gain == 0
    assert run.stdout.endswith("largest loss in predictive R2: 0.0000\n")


def test_the_full_attack_is_large():
    tree = ast.parse((REPOSITORY / "benchmarks" / "hostile.py").read_text())
    (sizes,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SIZES"
    )
    assert sizes["commands"][0] >= 4_000
    assert sizes["files"][0] >= 5_000
    assert all(full > quick > 0 for full, quick in sizes.values())


@pytest.mark.skipif(os.name != "posix", reason="it forks, kills and limits processes")
def test_hostile_input_ends_in_no_traceback_no_loss_and_no_wrong_answer():
    script = REPOSITORY / "benchmarks" / "hostile.py"
    run = subprocess.run(
        [sys.executable, script, "--quick"], capture_output=True, text=True, cwd=REPOSITORY
    )
    assert run.returncode == 0, run.stdout + run.stderr
    head, *rows = (line.rsplit(maxsplit=7) for line in run.stdout.splitlines())
    assert head[-4:] == ["traceback", "lost", "wrong", "hung"]
    assert len(rows) >= 9
    for name, tried, *ends in rows:
        assert int(tried.replace(",", "")) > 0, name
        assert ends[-4:] == ["0"] * 4, name
