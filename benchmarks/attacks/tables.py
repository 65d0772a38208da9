"""Tables of every kind: written in many ways from known rows, or wrong in some way."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import random
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from accidents import accident
from malformed import MALFORMED

from attacks import STARS, TEXTS

TRICKY = (
    'He said "clean, but: dirty"; the\tbus',
    "two\nlines of breakfast",
    "Frühstück with a smile — garden",
    "=SUM(A1) friendly pool",
    "station 'map' \\ walk, street",
)
ROWS = [*zip([*TEXTS[:30], *TRICKY], STARS[:35].tolist(), strict=True)]
PACKED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
CELLS = ("", " ", "nan", "NaN", "inf", "-inf", "null", "NA", "3", "-1.5", "1e308", "1e-320", "1,5")
CELLS += ("2020-01-01", "12:30:00", "P3D", "10%", "$4", "true", "0x1F", "٣", "1_000", "9" * 400)
CELLS += ("a friendly smile", "the dirty carpet", 'say "bus"', "'", '"', "\ufeff", "\u2028", "🚍")
CELLS += ("word " * 400, "x" * 20_000, "=1+1", "a\x00b", "a\rb", "\x1a", "i̇", "\ud800")
NAMES = ("text", "stars", "text", "", " ", "a,b", 'q"', "row", "prediction", "Ü", "x" * 300, "1")


@dataclass(frozen=True)
class Made:
    """A table; ``rows`` is what it says if it is sound, ``options`` what reads it."""

    name: str
    data: bytes
    rows: list[tuple[str, float]] | None = None
    options: list[str] = field(default_factory=list)


def sound(rng: random.Random) -> Made:
    """The same rows in one of many ways to write them."""
    rows = rng.sample(ROWS, rng.randint(1, len(ROWS)))
    kind = rng.choice(("csv", "csv", "tsv", "jsonl", "parquet"))
    if kind == "parquet":
        texts, stars = map(list, zip(*rows, strict=True))
        return Made("t.parquet", parquet({"text": pa.array(texts), "stars": pa.array(stars)}), rows)
    packed = rng.choice(list(PACKED))
    encoding = rng.choice(("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"))
    options = [] if encoding in ("utf-8", "utf-8-sig", "utf-16") else ["--encoding", encoding]
    if kind == "jsonl":
        text = "".join(json.dumps({"text": t, "stars": y}) + "\n" for t, y in rows)
    else:
        mark = "\t" if kind == "tsv" else rng.choice(",;|")
        options += ["--delimiter", mark] if rng.random() < 0.5 or len(rows) < 9 else []
        text = _csv([("text", "stars"), *rows], mark, rng)
    data = PACKED[packed](text.encode(encoding))
    return Made(f"t.{kind}{packed}", data, rows, options)


def _csv(rows: list[tuple[object, ...]], mark: str, rng: random.Random) -> str:
    file = io.StringIO(newline="")
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC))
    ends = rng.choice(("\n", "\r\n"))
    csv.writer(file, delimiter=mark, quoting=quoting, lineterminator=ends).writerows(rows)
    return file.getvalue()


def parquet(columns: dict[str, pa.Array] | list[tuple[str, pa.Array]]) -> bytes:
    pairs = list(columns.items()) if isinstance(columns, dict) else columns
    file = io.BytesIO()
    pq.write_table(pa.table([a for _, a in pairs], names=[n for n, _ in pairs]), file)
    return file.getvalue()


def any_table(rng: random.Random) -> Made:
    """Sound, known to be malformed, of random cells, hit by an accident, or no table at all."""
    made = rng.choice((sound, sound, _malformed, _cells, _cells, _cells, _hit, _types, _noise))
    return made(rng)


def _malformed(rng: random.Random) -> Made:
    name = rng.choice([n for n in MALFORMED if n != "endless.csv" or rng.random() < 0.05])
    return Made(name, MALFORMED[name][0])


def _cells(rng: random.Random) -> Made:
    """Columns of cells of many kinds, perhaps of few kinds each, some rows too long or short."""
    width, height = rng.choice((1, 2, 2, 3, 5)), rng.choice((0, 1, 2, 5, 20, 40))
    names = [rng.choice(NAMES) for _ in range(width)]
    kinds = [rng.sample(CELLS, rng.choice((1, 2, 4, 9))) for _ in range(width)]
    rows = [[rng.choice(kind) for kind in kinds] for _ in range(height)]
    if rng.random() < 0.7:  # so that more than reading is tried
        names[:2], kinds[:2] = ["text", "stars"][:width], kinds[:2]
        for i, row in enumerate(rows):
            row[0] = row[0] if rng.random() < 0.2 else TEXTS[i]
            row[1:2] = row[1:2] if rng.random() < 0.2 else [str(STARS[i])][: width - 1]
    for row in rows if rng.random() < 0.15 else []:
        row[rng.randint(0, width) :] = rng.choice(([], ["x", "y"]))
    if rng.random() < 0.3:
        lines = [json.dumps(dict(zip(names, map(_loose, row, [rng] * width), strict=False)))
                 for row in rows]  # fmt: skip
        return Made("t.jsonl", "\n".join(lines).encode("utf-8", "surrogatepass"))
    text = _csv([names, *rows], rng.choice(",,;\t"), rng)
    return Made("t.csv", text.encode(rng.choice(("utf-8", "latin-1", "utf-16")), "ignore"))


def _loose(cell: str, rng: random.Random) -> object:
    """A cell of JSON lines, which have types."""
    odd = (None, True, 3, -0.5, 10**400, float("nan"), [cell], {"a": cell}, [], {}, 1e999)
    return cell if rng.random() < 0.8 else rng.choice(odd)


def _hit(rng: random.Random) -> Made:
    made, numbers = sound(rng), np.random.default_rng(rng.getrandbits(32))
    data = made.data
    for _ in range(rng.choice((1, 1, 3, 20))):
        data = accident(data, numbers) if len(data) > 1 else data
    return Made(made.name, data, None, made.options)


def _types(rng: random.Random) -> Made:
    """Parquet of columns that Python has few or no values for."""
    n = rng.choice((0, 1, 3, 30))
    far, huge = 2**31 - 1, 2**62

    def ints(kind: pa.DataType) -> pa.Array:
        return pa.array([rng.choice((0, 1, far, -far, None)) for _ in range(n)], kind)

    def longs(kind: pa.DataType) -> pa.Array:
        return pa.array([rng.choice((0, huge, -huge, None)) for _ in range(n)], kind)

    made = {
        "date": lambda: ints(pa.int32()).cast(pa.date32()),
        "when": lambda: longs(pa.timestamp(rng.choice(("ms", "us", "ns")))),
        "long": lambda: longs(pa.duration(rng.choice(("s", "ms", "us", "ns")))),
        "time": lambda: pa.array([rng.choice((0, 1, None)) for _ in range(n)], pa.time64("us")),
        "bytes": lambda: pa.array([rng.choice((b"\xff\xfe", b"ab", None)) for _ in range(n)]),
        "list": lambda: pa.array([[1]] * n, pa.list_(pa.int8())),
        "record": lambda: pa.array([{"a": 1} for _ in range(n)], pa.struct([("a", pa.int8())])),
        "none": lambda: pa.nulls(n),
        "short": lambda: pa.array(np.arange(n, dtype="f2")),
        "coded": lambda: pa.array(TEXTS[:n]).dictionary_encode(),
        "large": lambda: pa.array(TEXTS[:n], pa.large_string()),
        "exact": lambda: ints(pa.int64()).cast(pa.decimal128(30, 5)),
        "truth": lambda: pa.array([rng.choice((True, False, None)) for _ in range(n)], pa.bool_()),
        "text": lambda: pa.array(TEXTS[:n], pa.string()),
        "stars": lambda: pa.array(STARS[:n], pa.float64()),
        "not text": lambda: pa.Array.from_buffers(
            pa.string(), n, pa.array([b"\xff\xfe"] * n, pa.binary()).buffers()
        ),
    }  # fmt: skip
    chosen = ["text", "stars"] if rng.random() < 0.6 else []
    chosen += rng.choices(list(made), k=rng.randint(0, 4))
    rng.shuffle(chosen)
    return Made("t.parquet", parquet([(name, made[name]()) for name in chosen]))


def _noise(rng: random.Random) -> Made:
    data = rng.randbytes(rng.choice((0, 1, 3, 100, 5000)))
    if rng.random() < 0.5:
        data = bytes(b % 96 + 31 for b in data)
    return Made(
        rng.choice(("t.csv", "t.tsv", "t.jsonl", "t.parquet", "t.csv.gz", "t.csv.zst")), data
    )
