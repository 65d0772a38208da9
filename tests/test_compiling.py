"""Kernels run wherever they are installed, and their machine code is kept where it can be."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import topicprism
from topicprism.cli import main
from topicprism.cli.commands.warmup import kernels
from topicprism.kernels import compiling

ROOT = Path(topicprism.__file__).parent


def double(x):
    return 2 * x


def test_every_kernel_is_compiled_in_one_place():
    """And the modules that have some are listed, for code to be new when one of them is."""
    found = set()
    for path in ROOT.rglob("*.py"):
        module = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
        source = path.read_text()
        assert "njit" not in source or module == compiling.__name__, f"{module} uses njit"
        if "from topicprism.kernels.compiling import" in source or "@kernel" in source:
            found.add(module)
    assert found == set(compiling.MODULES)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return tmp_path


def run():
    """Whether the code came from the cache."""
    made = compiling.compiled()(double)
    assert made(1.5) == 3.0
    return bool(made.stats.cache_hits)


def test_a_cache_of_modules_that_are_gone_is_compiled_anew(folder, monkeypatch):
    """As after a new version that calls them by other names."""
    assert not run()
    (index,) = folder.rglob("*.nbi")
    content = pickle.dumps(numba.__version__) + b"ctopicprism.gone\nx\n."
    index.write_bytes(content + compiling._digest(content))
    assert not run()
    assert run()


DAMAGE = {
    "truncated": lambda data: data[: len(data) // 2],
    "garbage": lambda data: bytes(range(256)),
    "a pickle that asks for memory": lambda data: b"\x80\x04r\xff\xff\xff\x7f.",
    "empty": lambda data: b"",
    "one bit": lambda data: data[:-200] + bytes([data[-200] ^ 1]) + data[-199:],
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_damaged_cache_is_compiled_anew(folder, damage, ending):
    assert [run(), run()] == [False, True]
    (file,) = folder.rglob(f"*.{ending}")
    file.write_bytes(DAMAGE[damage](file.read_bytes()))
    assert [run(), run()] == [False, True]


def test_code_is_old_once_any_module_with_kernels_has_changed(folder, monkeypatch):
    assert [run(), run()] == [False, True]
    monkeypatch.setattr(compiling, "_stamp", lambda: b"of other files")
    assert [run(), run()] == [False, True]


def test_a_full_disk_costs_time_only(folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compiling._Files, "save", full)
    monkeypatch.setattr(compiling, "_warned", compiling.Lock())
    with pytest.warns(compiling.UncachedWarning, match="written .No space left on device., and"):
        assert not run()
    assert not run()  # and no second word about it


def as_nobody():
    """How to start Python without the right to write, or the reason why that cannot be."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv to take that away")
    reads = "-all,+dac_read_search"  # Python may be in root's own folder
    return [
        *["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
        *[f"--inh-caps={reads}", f"--ambient-caps={reads}", f"--bounding-set={reads}"],
    ]


WORK = """
import topicprism
from topicprism.kernels import cpu
from topicprism.kernels import gibbs as _kernels
from topicprism.vectorizer.kernels import spell
import numpy as np
print(cpu.first_not_a_count(np.array([1.0, 0.5])), _kernels.pick(np.ones(8), np.ones(1), 0.5, 2))
print(topicprism.__file__, len(cpu.first_not_a_count.stats.cache_hits))
"""


def test_it_runs_without_a_home_on_a_tree_that_cannot_be_written(tmp_path):
    skip = shutil.ignore_patterns("__pycache__")
    tree, cache = tmp_path / "tree", tmp_path / "cache"
    shutil.copytree(ROOT, tree / "topicprism", ignore=skip)
    for path in [tree, *tree.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tree), "HOME": "/nonexistent"}

    def work(user, **more):
        command = [*user, sys.executable, "-c", WORK]
        done = subprocess.run(command, env=env | more, cwd="/", capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        answers, where = done.stdout.splitlines()
        assert answers == "1 0"
        assert where.startswith(str(tree))
        return done.stderr, where[-1]

    said, hits = work(as_nobody())
    assert said.count("UncachedWarning: machine code cannot be kept, as no folder for it can") == 1
    assert "set NUMBA_CACHE_DIR to a folder that can be written" in said
    assert hits == "0"
    assert work([], NUMBA_CACHE_DIR=str(cache)) == ("", "0")
    for path in [cache, *cache.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert work(as_nobody(), NUMBA_CACHE_DIR=str(cache)) == ("", "1")  # it can be read


FIT = """
import numpy as np
import topicprism
from small_texts import small_texts
texts, y = small_texts()
made = topicprism.fit(texts, y, n_topics=3)
print(topicprism.__file__, np.corrcoef(made.predict(texts), y)[0, 1] > 0.8)
"""


def test_a_fit_runs_without_a_home_on_a_tree_that_cannot_be_written(tmp_path):
    """With the machine code of this tree, which is copied: to compile it takes minutes."""
    tree = tmp_path / "tree"
    shutil.copytree(ROOT, tree / "topicprism")
    for path in [tree, *tree.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    places = os.pathsep.join([str(tree), str(Path(__file__).parent)])
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": places, "HOME": "/nonexistent"}
    command = [*as_nobody(), sys.executable, "-W", "ignore", "-c", FIT]
    done = subprocess.run(command, env=env, cwd="/", capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tree / 'topicprism' / '__init__.py'} True\n"


def test_warmup_leaves_no_kernel_out(capsys):
    assert main(["warmup", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    made = kernels()
    inlined = {"topicprism.kernels.aligned", "topicprism.kernels.many"}  # all of it, into others
    assert {name.rpartition(".")[0] for name in made} == set(compiling.MODULES) - inlined
    assert [name for name, kernel in made.items() if kernel._cache.n_kept() == 0] == []
    assert said["kernels"] == len(made)
    assert said["compiled"] >= len(made)
    assert all(list(Path(folder).glob("*.nbc")) for folder in said["folders"])


def test_warmup_without_a_place_gets_a_sentence(capsys, monkeypatch):
    made = next(iter(kernels().values()))
    monkeypatch.setattr(made, "_cache", compiling.Nowhere())
    assert main(["warmup"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("topicprism warmup: machine code cannot be kept, as no folder for it")
