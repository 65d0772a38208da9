"""The shape of the package itself."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import topicprism

ROOT = Path(topicprism.__file__).parent
REPOSITORY = ROOT.parents[1]

# One line per floor.  A module may import from the floors above it, never from below.
FLOORS = [
    ["_typing", "limits", "defaults"],
    ["backends", "model", "tables"],
    ["corpus", "words"],
    ["moments", "parts", "whitening", "tensor", "engines", "datasets", "text", "effects"],
    ["sketching", "inference", "theory", "notebook"],
    ["centred", "recovery", "evaluation", "settings", "samplers", "refinement", "noise"],
    ["spectral", "calibration"],
    ["robust", "selection", "steering"],
    ["automatic"],
    ["estimators"],
    ["plots"],
    ["pipeline", "report"],
    ["files"],
    ["cli"],
    ["__main__"],
]
FLOOR = {name: i for i, names in enumerate(FLOORS) for name in names}


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("topicprism."):
            yield node.module.split(".")[1]


def test_imports_only_go_up():
    for path in ROOT.rglob("*.py"):
        here = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if here != "__init__":
            below = [t for t in imports(path) if t != here and FLOOR[t] >= FLOOR[here]]
            assert not below, f"{here} imports {below}, which is not above it"


def test_public_names_are_listed():
    """Three times: for readers, for type checkers and for those who run it."""
    tree = ast.parse((ROOT / "__init__.py").read_text())
    (checked,) = [node for node in tree.body if isinstance(node, ast.If)]
    homes = {node.module: [a.name for a in node.names] for node in checked.body}
    assert homes == {f"topicprism.{home}": names for home, names in topicprism._HOMES.items()}
    assert sorted(name for names in homes.values() for name in names) == topicprism.__all__
    assert {n for n in dir(topicprism) if not n.startswith("_")} == set(topicprism.__all__)
    for name in topicprism.__all__:
        assert getattr(topicprism, name).__module__.startswith("topicprism.")


def test_modules_are_found_without_an_import_of_their_own():
    code = "import topicprism as t; print(t.plots.plot_effects.__name__, t.datasets.__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.split() == ["plot_effects", "topicprism.datasets"], run.stderr
    with pytest.raises(AttributeError, match="module 'topicprism' has no attribute 'fitt'"):
        _ = topicprism.fitt
    assert not hasattr(topicprism, "_house")


def test_import_loads_nothing_optional_that_scikit_learn_does_not():
    heavy = ["matplotlib", "pandas", "polars", "pyarrow", "pyLDAvis", "torch", "cupy", "dask"]
    heavy += ["pyspark", "arviz"]

    def loaded(by):
        code = f"import sys; {by}; print(*[m for m in {heavy} if m in sys.modules])"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return set(run.stdout.split())

    assert loaded("import sklearn.base, sklearn.metrics; from topicprism import *") == loaded(
        "import sklearn.base, sklearn.metrics"
    )


def test_the_readme_example_runs():
    blocks = re.findall(r"```python\n(.*?)```", (REPOSITORY / "README.md").read_text(), re.S)
    example = blocks[0]
    assert len(example.strip().splitlines()) <= 12
    exec(compile(example, "README.md", "exec"), {})


def test_versions_agree():
    changelog = (REPOSITORY / "CHANGELOG.md").read_text()
    newest = re.search(r"^## (\S+)", changelog, re.M)
    assert newest is not None
    assert newest.group(1) == topicprism.__version__


def test_links_between_pages_lead_somewhere():
    for page in [REPOSITORY / "README.md", *(REPOSITORY / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"
