"""Model files, sketches and folders of shards in which something was changed."""

from __future__ import annotations

import json
import shutil
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from accidents import accident, inner_accident, sealed, with_header
from sklearn.base import is_classifier

import topicprism
from attacks import FINE, LONGEST, REFUSED, STARS, TEXTS, Hung, Tally, one_sentence, within
from topicprism import (
    AnchorLDA,
    AnchorSLDA,
    AutoSLDA,
    Corpus,
    DiscLDA,
    FileError,
    HybridSLDA,
    MedLDA,
    MedLDAClassifier,
    SpectralLDA,
    SpectralSLDA,
    VariationalSLDA,
    VariationalSLDAClassifier,
    load,
)
from topicprism.documents import OnDisk
from topicprism.documents.disk import MANIFEST
from topicprism.io.files import to_bytes
from topicprism.io.files.container import DIGEST, START, Contents, pack, unpack
from topicprism.show.report import page, summarise
from topicprism.spectral.sketch import Sketch
from topicprism.vectorizer import FastCountVectorizer, PrecomputedCounts

GOLDEN = Path(__file__).resolve().parents[2] / "tests" / "golden"
NEW = ["a friendly smile at breakfast", "the carpet: dirty, with mould", "", "bus bus bus walk"]
SHORT = {"burn_in": 2, "n_kept": 2, "random_state": 0}


def originals(quick: bool) -> dict[str, bytes]:
    """Files of several estimators, alone and in pipelines, and a sketch."""
    found = {path.name: path.read_bytes() for path in sorted(GOLDEN.glob("*.tp*"))}
    if quick:
        return {name: found[name] for name in list(found)[::2]}
    y = STARS
    for topics in (
        SpectralSLDA(3, alpha0=1.0, noise_variance=0.1, random_state=0),
        SpectralLDA(3, alpha0=1.0, random_state=0),
        AutoSLDA(2, random_state=0),
        HybridSLDA(2, **SHORT),
        MedLDA(2, **SHORT),
        MedLDAClassifier(2, **SHORT),
        VariationalSLDA(2, n_iterations=2),
        VariationalSLDAClassifier(2, n_iterations=2),
        AnchorLDA(2),
        AnchorSLDA(2),
        DiscLDA(4, n_iterations=2),
    ):
        y = STARS > 3 if is_classifier(topics) else STARS
        made = topicprism.fit(TEXTS, y, estimator=topics, max_df=1.0, min_df=1)
        made.info_ |= {"created": "today", "seconds": 1.0}  # so that a seed gives the same files
        found[f"{type(topics).__name__}.tprism"] = to_bytes(made)
        found[f"{type(topics).__name__} alone.tprism"] = to_bytes(made.topics)
    return found


def answers(thing: Any) -> list[Any]:
    """All that can be asked of what was loaded."""
    if isinstance(thing, Sketch):
        fitted = SpectralSLDA(2, alpha0=1.0, noise_variance=0.1, random_state=0).fit_sketch(thing)
        return [thing.first, thing.third, fitted.coef_, fitted.components_]
    topics = getattr(thing, "topics", thing)
    X: Any = NEW
    if topics is thing or isinstance(thing[0], PrecomputedCounts):
        X = np.arange(4 * topics.n_features_in_).reshape(4, -1) % 3
    found = [getattr(thing, name)(X) for name in ("transform", "predict") if hasattr(thing, name)]
    if topics is not thing and not is_classifier(topics):  # which has no page
        found.append(page.render(summarise(thing)))
    return found


def finite(found: list[Any]) -> bool:
    arrays = [np.asarray(a) for a in found if not isinstance(a, str)]
    return all(bool(np.isfinite(a).all()) for a in arrays if a.dtype.kind == "f")


def same(one: list[Any], two: list[Any]) -> bool:
    pairs = zip(one, two, strict=True)
    return all(a == b if isinstance(a, str) else np.array_equal(a, b) for a, b in pairs)


def ended(work: Callable[[], list[Any]], refusal: type[ValueError] = ValueError) -> Any:
    """What some work gives, or how it ended and why; answers may be of tiny or huge numbers."""
    try:
        with within(LONGEST), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return work()
    except Hung:
        return "hung", "took too long"
    except Exception as error:
        if isinstance(error, refusal) and one_sentence(error):
            return REFUSED, str(error)
        return "traceback", f"{type(error).__name__}: {error}"


def mutant(data: bytes, rng: np.random.Generator) -> tuple[bytes, bool]:
    """The file with something changed, and whether it was signed anew."""
    length = int.from_bytes(data[12:16], "little")
    match rng.integers(8):
        case 0 | 1 | 2:
            return accident(data, rng), False
        case 3:
            return sealed(accident(data[:-DIGEST], rng).ljust(START, b"\0") + bytes(DIGEST)), True
        case 4:
            arrays = data[START + length : -DIGEST].lstrip(b"\0")
            return with_header(data, accident(data[START : START + length], rng), arrays), True
        case 5:
            flipped = bytearray(data)
            at = int(rng.integers(START + length, len(data) - DIGEST))
            flipped[at] ^= 1 << int(rng.integers(8))
            return sealed(flipped), True
    contents = unpack(data)
    body, parts = json.loads(json.dumps(contents.body)), list(contents.arrays)
    for _ in range(int(rng.integers(1, 3))):
        try:
            inner_accident(body, parts, rng)
        except (TypeError, IndexError, ValueError):
            break  # nothing is left of what it would change
    return pack(Contents(body, parts, contents.library)), True


def attack(seed: int, n: int, folder: Path, quick: bool) -> dict[str, Tally]:
    """``n`` files, signed anew or not."""
    rng, files = np.random.default_rng(seed), originals(quick)
    tallies = {"files changed": Tally(), "files changed, signed anew": Tally()}
    expected = {}
    for name, data in files.items():
        (folder / name).write_bytes(data)
        expected[name] = answers(load(folder / name))
    for i in range(n):
        name = list(files)[i % len(files)]
        data, signed = mutant(files[name], rng)
        path = folder / f"mutant{Path(name).suffix}"
        path.write_bytes(data)
        tally = tallies["files changed, signed anew" if signed else "files changed"]
        end, why = _judged(path, signed, expected[name])
        tally.add(end, f"{name} {i} of seed {seed}, signed: {signed}", why)
    return tallies


def _judged(path: Path, signed: bool, expected: list[Any]) -> tuple[str, str]:
    loaded = ended(lambda: [load(path)], FileError)
    if isinstance(loaded, tuple):
        return loaded
    found = ended(lambda: answers(loaded[0]))
    if isinstance(found, tuple):
        return found
    if signed:
        return (FINE, "") if finite(found) else ("wrong", "numbers that are not finite")
    return (FINE, "") if same(found, expected) else ("wrong", "another answer than before")


# --- shards -----------------------------------------------------------------------------


def attack_shards(seed: int, n: int, folder: Path) -> dict[str, Tally]:
    """``n`` folders of shards, their manifest made right again or not."""
    rng = np.random.default_rng(seed)
    X = FastCountVectorizer().fit_transform(TEXTS)
    parts = [Corpus(X[i : i + 20], STARS[i : i + 20]) for i in range(0, 80, 20)]
    shutil.rmtree(folder / "whole", ignore_errors=True)
    OnDisk.write(folder / "whole", parts)
    expected = _learnt(folder / "whole")
    tallies = {"shards changed": Tally(), "shards changed, signed anew": Tally()}
    for i in range(n):
        shutil.rmtree(folder / "mutant", ignore_errors=True)
        shutil.copytree(folder / "whole", folder / "mutant")
        signed = _change(folder / "mutant", rng)
        found = ended(lambda: _learnt(folder / "mutant"))
        if isinstance(found, tuple):
            end, why = found
        else:
            right = finite(found) if signed else same(found, expected)
            end, why = (FINE, "") if right else ("wrong", "another answer than before")
        tally = tallies["shards changed, signed anew" if signed else "shards changed"]
        tally.add(end, f"shards {i} of seed {seed}", why)
    return tallies


def _learnt(folder: Path) -> list[Any]:
    docs = OnDisk.open(folder)
    fitted = SpectralSLDA(2, alpha0=1.0, noise_variance=0.1, random_state=0).fit_documents(docs)
    return [fitted.coef_, fitted.components_]


def _change(folder: Path, rng: np.random.Generator) -> bool:
    """Something goes wrong; whether the manifest is that of what is there now."""
    paths = sorted(folder.iterdir())
    shards = [path for path in paths if path.name != MANIFEST]
    one, two = (shards[i] for i in rng.choice(len(shards), 2, replace=False))
    match rng.integers(8):
        case 0:
            one.unlink()
        case 1:
            first, second = one.read_bytes(), two.read_bytes()
            one.write_bytes(second)
            two.write_bytes(first)
        case 2:
            shutil.copy(one, folder / f"{len(shards):06d}.shard")
        case 3 | 4:
            path = paths[rng.integers(len(paths))]
            path.write_bytes(accident(path.read_bytes(), rng))
        case 5 | 6:
            one.write_bytes(accident(one.read_bytes(), rng))
            _sign(folder)
            return True
        case _:
            path = folder / MANIFEST
            body = json.loads(path.read_text())
            inner_accident(body, [np.ones(2)], rng)
            path.write_text(json.dumps(body))
    return False


def _sign(folder: Path) -> None:
    path = folder / MANIFEST
    told = json.loads(path.read_text())
    data = [shard.read_bytes() for shard in sorted(folder.glob("*.shard"))]
    told["shards"] = [[len(d), zlib.crc32(d)] for d in data]
    path.write_text(json.dumps(told))
