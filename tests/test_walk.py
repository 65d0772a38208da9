"""docs/tour.md has the walk of a text through ``fit``: it is the one that the code takes."""

import re
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from conftest import shorten_chains
from varied_texts import varied_texts

import topicprism

ROOT = Path(topicprism.__file__).parent
TOUR = ROOT.parents[1] / "docs" / "tour.md"
ROW = re.compile(r"^\| *\d+ \| `([\w/]+\.py)` \| `([\w.]+)` \|", re.M)
# Opened from everywhere, and named so in the tour: data classes, constants, regression, scores
DRAWERS = {
    "learn/result.py",
    "learn/defaults.py",
    "learn/__init__.py",
    "learn/ridge.py",
    "estimators/base.py",
}
# Files that are not walked through, and all that is called of them: named so in the tour as well
ASIDE = {
    "estimators/auto.py": {"AutoSLDA._request"},  # parameters only
    "pipeline/frames.py": {"_names", "collection_of", "columns", "packages_of"},  # of frames only
    "learn/prior_choice.py": {  # what another prior would do to effects
        *("PriorChoice.of", "PriorChoice.spread", "probabilities"),
    },
    "learn/model_regime.py": {"from_sketch"},  # it answers that there is no such model
    "learn/survey.py": {  # documents and words are counted and responses standardised
        *("Survey.check", "Survey.n_short", "Survey.n_tokens", "Survey.scale"),
        *("is_ordered", "standardised", "words_and_sample"),
    },
}
WALKED = ("pipeline/", "estimators/", "learn/")
SUBJECT = re.compile(r"subject(\d+)")
N_DOCUMENTS = 600  # enough to sample where chains are short


def calls(texts, y):
    """(file of the caller, file, function) of every call, the first time; and all files.

    Calls are those of this thread, in their order; files are those of all threads.
    """
    found, files = [], set()

    def opened(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            files.add(frame.f_code.co_filename.removeprefix(f"{ROOT}/"))

    def note(frame, event, _):
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(ROOT)) or code.co_name[0] == "<":
            return
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(str(ROOT)):
            caller = caller.f_back
        names = [f and f.f_code.co_filename.removeprefix(f"{ROOT}/") for f in (caller, frame)]
        found.append((*names, code.co_qualname))

    topicprism.fit(texts, y)  # so that nothing is imported or compiled on the way
    threading.setprofile(opened)
    sys.setprofile(note)
    try:
        topicprism.fit(texts, y)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(dict.fromkeys(found)), files | {file for _, file, _ in found}


@pytest.fixture(scope="module")
def walk():
    return ROW.findall(TOUR.read_text())


@pytest.fixture(scope="module")
def traced():
    """With a response that goes by subjects, which sampled topics find."""
    texts, _ = varied_texts(N_DOCUMENTS)
    with pytest.MonkeyPatch.context() as patched:
        shorten_chains(patched)
        return calls(texts, [1 + np.mean([int(n) % 5 for n in SUBJECT.findall(t)]) for t in texts])


@pytest.fixture(scope="module")
def made(traced):
    return traced[0]


def test_the_tour_is_the_walk_of_the_code(walk, made):
    order = [(file, function) for _, file, function in made]
    at = [order.index(stop) for stop in walk]
    assert at == sorted(at)


def test_no_stop_is_left_out(walk, made):
    files = {file for _, file, _ in made if file.startswith(WALKED)}
    assert files - DRAWERS - set(ASIDE) <= {file for file, _ in walk}


def test_little_is_called_of_files_that_are_not_walked_through(made):
    for name, functions in ASIDE.items():
        assert {function for _, file, function in made if file == name} == functions


def test_the_walk_is_short(walk, made):
    """A visit is the first call of a stop or of a module's function from a file of the walk."""
    files, read, entered = list(dict.fromkeys(file for file, _ in walk)), set(), []
    for caller, file, function in made:
        stop = (file, function)
        method = "." in function and stop not in walk  # of an object that is at hand
        if file in files and caller in {None, *files} - {file} and not method and stop not in read:
            read.add(stop)
            entered.append(file)
    visits = Counter(b for a, b in zip([None, *entered], entered, strict=False) if a != b)
    counted = re.search(r"(\d+) files, none entered more than (\w+) times", TOUR.read_text())
    assert counted is not None
    assert int(counted.group(1)) == len(files) <= 14
    assert max(visits.values()) == 3
    assert counted.group(2) == "three"


def test_all_files_that_are_opened_are_counted(traced):
    """Those of the walk, those named beside it, and all that is behind them."""
    files = traced[1]
    counted = re.search(r"functions of (\d+)\s+files are called, (\d+) of", TOUR.read_text())
    assert counted is not None
    assert int(counted.group(1)) == len(files)
    assert int(counted.group(2)) == sum(file.startswith(WALKED) for file in files)
