"""The shape of the package itself."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import topicprism

ROOT = Path(topicprism.__file__).parent
REPOSITORY = ROOT.parents[1]

# One line per floor.  A module may import from the floors above it, never from below.
FLOORS = [
    ["_typing", "limits", "defaults", "scales", "io"],
    ["kernels", "model", "io.tables"],
    ["backends"],
    ["validation"],
    ["documents"],
    ["datasets", "vectorizer", "inference"],
    ["evaluation"],
    ["samplers", "engines"],
    ["relatives"],
    ["spectral"],
    ["show"],
    ["learn"],
    ["estimators"],
    ["io.files"],
    ["pipeline"],
    ["resampling"],
    ["cli"],
    ["__main__"],
]
FLOOR = {name: i for i, names in enumerate(FLOORS) for name in names}


def place(module):
    """What stands on a floor: a module or folder of the package, or one of the folders of io."""
    _, *parts = module.split(".")
    pair = ".".join(parts[:2])
    return pair if pair in FLOOR else parts[0]


def module_of(path):
    """(module, package that its relative imports start from), of a file of the package."""
    parts = ("topicprism", *path.relative_to(ROOT).with_suffix("").parts)
    if parts[-1] == "__init__":
        return ".".join(parts[:-1]), ".".join(parts[:-1])
    return ".".join(parts), ".".join(parts[:-1])


MODULES = {module_of(path)[0]: path for path in ROOT.rglob("*.py")}
HOMES = {name: home for home, names in topicprism._HOMES.items() for name in names}


def resolved(name):
    """The module that a dotted name leads to: itself, or the one that its last part is at home in.

    A name of ``topicprism`` itself is at home in the module that it is fetched from.
    """
    if name in MODULES:
        return name
    base, _, last = name.rpartition(".")
    if base == "topicprism" and last in HOMES:
        return f"topicprism.{HOMES[last]}"
    return resolved(base) if base else None


def fetched(name, tree, package):
    """What ``import_module`` may be given: a name, an f-string, or any name that the file has.

    An f-string may lead to all modules under its beginning; ``__name__`` in it is the package.
    """
    if isinstance(name, ast.Constant):
        yield name.value
    elif isinstance(name, ast.JoinedStr):
        begin = ""
        for part in name.values:
            if not isinstance(part, ast.Constant) and ast.unparse(part.value) != "__name__":
                break
            begin += part.value if isinstance(part, ast.Constant) else package
        yield from (module for module in MODULES if module.startswith(begin))
    else:
        strings = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        yield from (v for v in strings if isinstance(v, str) and named_in_full(v))


def named_in_full(string):
    return string in MODULES or re.fullmatch(r"topicprism(\.\w+)+", string) is not None


def names_in(tree, package):
    """Every dotted name that is imported, wherever and in whatever form."""
    bound = {}  # names of the file for modules of the package
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
                if alias.name.split(".")[0] == "topicprism":
                    bound[alias.asname or "topicprism"] = (
                        alias.name if alias.asname else "topicprism"
                    )
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join(
                [*(above if node.level else []), *([node.module] if node.module else [])]
            )
            for alias in node.names:
                yield base if alias.name == "*" else f"{base}.{alias.name}"
        elif isinstance(node, ast.Call) and getattr(
            node.func, "attr", getattr(node.func, "id", "")
        ) in ("import_module", "__import__"):
            yield from fetched(node.args[0], tree, package)
    for node in ast.walk(tree):  # import topicprism; topicprism.fit(...)
        if isinstance(node, ast.Attribute) and ast.unparse(node).split(".")[0] in bound:
            first, *rest = ast.unparse(node).split(".")
            yield ".".join([bound[first], *rest])


def imports(source, package):
    """The modules of the package that a source imports, and the packages that they are in."""
    found = set()
    for name in names_in(ast.parse(source), package):
        module = resolved(name) if name.split(".")[0] == "topicprism" else None
        if module not in (
            None,
            "topicprism",
            name,
        ):  # a name in it: needed, also of a package around
            found.add(module)
        while module not in (None, "topicprism") and f"{package}.".find(f"{module}.") != 0:
            found.add(module)
            module = module.rpartition(".")[0]
    return found


def graph():
    """What each module imports; the root only fetches names when it is asked for them."""
    return {
        name: imports(path.read_text(), module_of(path)[1]) - {name}
        for name, path in MODULES.items()
        if name != "topicprism"
    }


def cycle(edges):
    """Modules that import each other in a circle, if there are any."""
    done, path = set(), []

    def visit(name):
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return None
        path.append(name)
        found = next((c for c in map(visit, sorted(edges.get(name, ()))) if c), None)
        path.pop()
        done.add(name)
        return found

    return next((c for c in map(visit, sorted(edges)) if c), None)


@pytest.mark.parametrize(
    ("source", "package", "expected"),
    [
        ("from topicprism.model import Model", "topicprism", {"model"}),
        ("from topicprism import model", "topicprism", {"model"}),
        ("from topicprism import fit, FileError", "topicprism", {"pipeline", "io", "io.files"}),
        ("from topicprism import __version__", "topicprism", set()),
        ("import topicprism.show.words", "topicprism", {"show", "show.words"}),
        ("import topicprism.model as c", "topicprism", {"model"}),
        ("import topicprism\ntopicprism.fit(1)", "topicprism", {"pipeline"}),
        ("import topicprism as t\nt.show.plots.x(1)", "topicprism", {"show", "show.plots"}),
        ("from topicprism.show import plots, order", "topicprism.show", {"show", "show.plots"}),
        ("from . import effects", "topicprism.show", {"show.effects"}),
        ("from .facts import Summary", "topicprism.show.report", {"show.report.facts"}),
        ("from ..words import top_ids", "topicprism.show.report", {"show.words"}),
        ("from ... import model", "topicprism.show.report", {"model"}),
        ("def f():\n    from topicprism import model", "topicprism", {"model"}),
        ("if TYPE_CHECKING:\n    from topicprism.model import Model", "topicprism", {"model"}),
        ("import_module('topicprism.io.tables')", "topicprism", {"io", "io.tables"}),
        ("N = {0: 'topicprism.model'}\nimport_module(N[0])", "topicprism.show", {"model"}),
        ("N = 'model'\nimport_module(N)", "topicprism.show", set()),
        ("import_module(f'topicprism.scal{x}')", "topicprism", {"scales"}),
        (
            "import_module(f'{__name__}.c{x}')",
            "topicprism.learn",
            {"learn.coefficients", "learn.crossfit"},
        ),
        ("from topicprism.vectorizer import *", "topicprism", {"vectorizer"}),
        ("import numpy.linalg\nfrom scipy import sparse", "topicprism", set()),
    ],
)
def test_every_form_of_import_is_seen(source, package, expected):
    assert imports(source, package) == {f"topicprism.{name}" for name in expected}


def test_imports_only_go_up():
    for name, targets in graph().items():
        here = place(name)
        for there in {place(target) for target in targets} - {here}:
            assert FLOOR[there] < FLOOR[here], f"{here} imports {there}, which is not above it"


def test_no_modules_import_each_other():
    assert cycle(graph()) is None
    was = {"model": {"notebook"}, "notebook": {"effects"}, "effects": {"words"}, "words": {"model"}}
    assert cycle(was) == ["effects", "words", "model", "notebook", "effects"]


def imported_from_elsewhere(path):
    """Top-level names of packages that are neither Python's own nor this one."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
        else:
            continue
        yield from {name.split(".")[0] for name in names}


def test_what_is_imported_is_declared():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    listed = [*project["dependencies"], *(one for extra in extras.values() for one in extra)]
    declared = {re.match(r"[\w-]+", one).group() for one in listed}
    imported = {"scikit-learn": "sklearn", "cupy-cuda12x": "cupy"}
    known = sys.stdlib_module_names | {"topicprism"} | {imported.get(d, d) for d in declared}
    found = {name for path in ROOT.rglob("*.py") for name in imported_from_elsewhere(path)}
    assert {"numba", "joblib", "threadpoolctl", "pyarrow"} <= found
    assert found <= known, f"{found - known} should be among the dependencies of pyproject.toml"


def test_what_tests_import_is_there():
    """A file of tests that cannot be imported may be left out without a word."""
    for path in Path(__file__).parent.glob("test_*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("topicprism"):
                if "spark" in node.module:
                    continue
                home = importlib.import_module(node.module)
                for name in (alias.name for alias in node.names):
                    there = hasattr(home, name) or f"{node.module}.{name}" in MODULES
                    assert there, f"{path.name}: {node.module} has no {name}"


DEFAULT = r"^(\w+(?:, \w+)*) : .*?default=(.+)$"  # in a docstring
KERNELS = {"jit", "inlined", "reordered", "plain", "kernel"}  # decorators of compiled functions
DOORS = {"topicprism.pipeline.fitted.fit", "topicprism.vectorizer.FastCountVectorizer.__init__"}


def functions(name, tree, within=""):
    """(dotted name, node) of every function of a module, methods and inner ones included."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            inner = f"{within}.{node.name}"
            if isinstance(node, ast.FunctionDef):
                yield f"{name}{inner}", node
            yield from functions(name, node, inner)


def size(node):
    """Lines of a function after its docstring."""
    first = node.body[bool(ast.get_docstring(node)) and len(node.body) > 1]
    return node.end_lineno - first.lineno + 1


def test_functions_fit_a_screen_and_modules_a_reading():
    """Keywords of the two doors for texts are spelt out, for whoever looks them up there."""
    for module, path in MODULES.items():
        source = path.read_text()
        assert len(source.splitlines()) <= 400, f"{module} is too long"
        for name, node in functions(module, ast.parse(source)):
            given = node.args
            n = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
            marks = {ast.unparse(mark).split("(")[0] for mark in node.decorator_list}
            assert size(node) <= 40, f"{name} does not fit a screen"
            assert n <= 9 or marks & KERNELS or name in DOORS, f"{name} has {n} arguments"


def test_an_engine_is_short_and_the_root_has_little_at_hand():
    """Documents elsewhere: an engine says where, and all else is shared."""
    for name in ("dask", "gpu", "spark"):
        source = MODULES[f"topicprism.engines.{name}"].read_text()
        assert len(source.splitlines()) <= 150, f"engines/{name}.py is too long"
    assert len(list(ROOT.glob("*.py"))) <= 16


def test_nothing_is_scattered():
    """What ``Client.scatter`` brought to a worker is lost with it; a plot may have points."""
    for module, path in MODULES.items():
        if not module.startswith("topicprism.show"):
            names = ast.walk(ast.parse(path.read_text()))
            assert "scatter" not in {getattr(node, "attr", None) for node in names}, module


def test_all_of_learning_is_read_at_a_glance():
    tree = ast.parse(MODULES["topicprism.learn.auto"].read_text())
    (learn,) = (node for name, node in functions("auto", tree) if name.endswith(".learn"))
    assert size(learn) <= 15


# What cuts documents by their place in the table, or by a draw that goes by it
BY_PLACE = re.compile(
    r"\w*(KFold|ShuffleSplit|TimeSeriesSplit)|(array|train_test|np\.[hv]?)_?split|cross_val\w*|"
    r"permutation|permuted|shuffle|check_cv"
)


def by_place(source):
    """Names of a source that such a function may be called by."""
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in getattr(node, "names", []) if isinstance(alias, ast.alias)]
        if isinstance(node, ast.Attribute):
            names = [node.attr, ast.unparse(node)]
        elif isinstance(node, ast.Name):
            names = [node.id]
        yield from set(filter(BY_PLACE.fullmatch, names))


def test_folds_go_by_keys_of_documents():
    """Never by rows: the order of a table, and copies in it, must not matter."""
    for name, path in MODULES.items():
        if name.split(".")[1:2] and name.split(".")[1] in ("learn", "estimators", "spectral"):
            assert not list(by_place(path.read_text())), f"{name} cuts documents by their place"
    bad = "from sklearn.model_selection import StratifiedKFold as F\nnp.array_split(rows, 5)\n"
    assert len(list(by_place(f"{bad}rng.permutation(n)\nnp.split(rows, 2)"))) == 4
    assert not list(by_place("'a b'.split()\nsplit_words(X, keys, seed)"))


def test_constants_have_a_reason_beside_them():
    path = MODULES["topicprism.learn.defaults"]
    lines = path.read_text().splitlines()
    fields = [
        field
        for kind in ast.parse(path.read_text()).body
        if isinstance(kind, ast.ClassDef)
        for field in kind.body
        if isinstance(field, ast.AnnAssign)
    ]
    assert len(fields) > 80
    for field in fields:
        written = "\n".join(lines[field.lineno - 1 : field.end_lineno])
        assert "  # " in written, f"{written.strip()}: why?"


def documented_defaults():
    """(what is documented, parameter, default as it is written, default)."""
    for module, path in MODULES.items():
        if ", default=" not in path.read_text():
            continue
        for name, made in vars(importlib.import_module(module)).items():
            if getattr(made, "__module__", None) != module or not callable(made):
                continue
            for names, value in re.findall(DEFAULT, inspect.getdoc(made) or "", re.M):
                given, listed = inspect.signature(made).parameters, names.split(", ")
                values = value.split(" and ") if " and " in value else [value] * len(listed)
                for one, written in zip(listed, values, strict=True):
                    yield name, one, written, given[one].default


def test_defaults_are_those_that_are_documented():
    found = list(documented_defaults())
    assert len(found) > 80
    for name, parameter, written, default in found:
        if isinstance(default, type):
            same = written == f"np.{default.__name__}"
        else:
            same = ast.literal_eval(written) == default
        assert same, f"{name}({parameter}={default!r}) is documented as {written}"


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
    code = "import topicprism as t; print(t.show.plots.plot_effects.__name__, t.datasets.__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.split() == ["plot_effects", "topicprism.datasets"], run.stderr
    with pytest.raises(AttributeError, match="module 'topicprism' has no attribute 'fitt'"):
        _ = topicprism.fitt
    assert not hasattr(topicprism, "_house")


def test_import_loads_nothing_optional_that_scikit_learn_does_not():
    heavy = ["matplotlib", "pandas", "polars", "pyarrow", "pyLDAvis", "torch", "cupy", "dask"]
    heavy += ["distributed", "pyspark", "arviz"]

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


PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_captions_say_what_is_pictured():
    """Whether documents are real or simulated; and no picture is kept that no page shows."""
    shown = set()
    for page in PAGES:
        for caption, picture in re.findall(r"!\[(.*?)\]\((.+?)\)", page.read_text(), re.S):
            shown.add((page.parent / picture).resolve())
            assert re.search(r"\b(real|simulated)\b", caption), f"{page.name}: {picture}"
    assert shown >= {path.resolve() for path in (REPOSITORY / "docs" / "images").iterdir()}


def test_scripts_that_pages_name_are_there():
    for page in PAGES:
        named = re.findall(r"\b(?:experiments|benchmarks|docs|tests)/[\w/]+\.py", page.read_text())
        for script in named:
            assert (REPOSITORY / script).exists(), f"{page.name} names {script}"


def test_tests_that_pages_name_are_there():
    for page in PAGES:
        for file, name in re.findall(r"\b(test_\w+\.py)(?:::(test_\w+))?", page.read_text()):
            found = REPOSITORY / "tests" / file
            assert found.exists(), f"{page.name} names {file}"
            assert not name or f"def {name}" in found.read_text(), f"{page.name} names {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_figures_that_no_script_prints_are_in_the_notebook(page):
    marks = re.findall(r"by hand|not reproducible", page.read_text())
    assert not marks or page.name == "notebook.md", "move these figures to docs/notebook.md"
