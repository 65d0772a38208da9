"""Reading tables of texts and numbers, and writing rows."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import threading
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from malformed import MALFORMED

from topicprism.io import tables
from topicprism.io.failures import OutputError
from topicprism.io.tables import Options, TableError, formats, open_table, rows_to, streams, usable
from topicprism.io.tables.columns import quoted, remedy

ROWS = [
    ("a clean room, and quiet", 5.0),
    ('"rude" staff\nat the desk', 1.5),
    ("ça va très bien", 4.0),
]
HEADER = ["review", "stars"]


def as_csv(rows=ROWS, delimiter=",", header=HEADER):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows([header, *rows])
    return out.getvalue()


def as_json(rows=ROWS):
    return "".join(json.dumps(dict(zip(HEADER, row, strict=True))) + "\n" for row in rows)


def as_parquet(path, rows=ROWS):
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    texts, y = zip(*rows, strict=True)
    pq.write_table(pa.table({"review": list(texts), "stars": list(y)}), path)


def load(tmp_path, *names, stdin=b"", **options):
    folder = tmp_path / "copies"
    folder.mkdir(exist_ok=True)
    patterns = [n if n == "-" else str(tmp_path / n) for n in names]
    return open_table(patterns, Options(**options), io.BytesIO(stdin), folder)


def pairs(table, text=None, target=None):
    parts = [usable(c) for c in table.chunks(*table.choose(text, target))]
    return [pair for part in parts for pair in zip(part.texts, part.y, strict=True)]


# --- formats ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", as_csv().encode()),
        ("a.txt", as_csv().encode()),
        ("a.csv", as_csv(delimiter=";").encode()),
        ("a.csv", as_csv().replace("\r\n", "\n").encode()),
        ("a.tsv", as_csv(delimiter="\t").encode()),
        ("a.jsonl", as_json().encode()),
        ("a.unknown", as_json().encode()),
        ("a.jsonl", ("\n" + as_json().replace("\n", "\n\n")).encode()),
        ("a.csv", as_csv().encode("utf-8-sig")),
        ("a.csv", as_csv().encode("utf-16")),
        ("a.csv", as_csv().encode("utf-32")),
        ("a.jsonl", as_json().encode("utf-16")),
        ("a.csv.gz", gzip.compress(as_csv().encode(), mtime=0)),
        ("a.tsv.bz2", bz2.compress(as_csv(delimiter="\t").encode())),
        ("a.jsonl.xz", lzma.compress(as_json().encode())),
        ("misnamed.csv", gzip.compress(as_csv().encode(), mtime=0)),
    ],
)
def test_every_format_gives_the_same_rows(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert pairs(load(tmp_path, name)) == ROWS


def test_parquet_gives_the_same_rows(tmp_path):
    as_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").rename(tmp_path / "b.parquet")
    assert pairs(load(tmp_path, "b.parquet")) == ROWS
    (tmp_path / "b.parquet").rename(tmp_path / "nameless")
    assert pairs(load(tmp_path, "nameless")) == ROWS


def test_zstd_gives_the_same_rows(tmp_path):
    pa = pytest.importorskip("pyarrow")
    (tmp_path / "a.csv.zst").write_bytes(pa.compress(as_csv().encode(), "zstd", asbytes=True))
    with pa.CompressedOutputStream(str(tmp_path / "b.csv.zst"), "zstd") as out:
        out.write(as_csv().encode())
    assert pairs(load(tmp_path, "b.csv.zst")) == ROWS


def test_an_encoding_and_a_delimiter_may_be_named(tmp_path):
    (tmp_path / "a.csv").write_bytes(as_csv(delimiter="~").encode("cp1252"))
    assert pairs(load(tmp_path, "a.csv", encoding="cp1252", delimiter="~")) == ROWS


def test_quotes_may_be_ordinary_characters(tmp_path):
    (tmp_path / "a.tsv").write_text('text\ty\n"so they said\t3\n"again" and more\t4\n')
    rows = [('"so they said', 3.0), ('"again" and more', 4.0)]
    assert pairs(load(tmp_path, "a.tsv", quotes=False)) == rows


def test_several_files_and_globs_are_read_in_order(tmp_path):
    for i, name in enumerate(["b.csv", "a.csv", "z.jsonl"]):
        content = as_json([(f"text number {i} here", i)]) if "json" in name else None
        content = content or as_csv([(i, f"text number {i} here")], header=HEADER[::-1])
        (tmp_path / name).write_text(content)
    table = load(tmp_path, "z.jsonl", "*.csv")
    assert [y for _, y in pairs(table, "review", "stars")] == [2, 1, 0]
    chunks = list(table.chunks("stars"))
    assert [c.first for c in chunks] == [1, 1, 1]
    assert chunks[-1].done == 1


def test_standard_input_can_be_read_twice(tmp_path):
    table = load(tmp_path, "-", stdin=gzip.compress(as_csv().encode()))
    assert pairs(table) == pairs(table) == ROWS
    assert table.called == "standard input"


def test_a_pipe_can_be_read_twice(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=[as_csv()])
    writer.start()
    table = load(tmp_path, "pipe")
    writer.join()
    assert pairs(table) == pairs(table) == ROWS


def test_a_file_named_like_a_glob_is_that_file(tmp_path):
    (tmp_path / "a[1].csv").write_text(as_csv())
    assert pairs(load(tmp_path, "a[1].csv")) == ROWS


# --- columns ----------------------------------------------------------------------------


def test_columns_are_guessed_when_there_is_one_of_each(tmp_path):
    header = ["date", "title", "body", "stars"]
    rows = [["2020-01-01", "Nice", "we had a very nice stay", n] for n in (4, "", 5)]
    (tmp_path / "a.csv").write_text(as_csv(rows, header=header))
    assert load(tmp_path, "a.csv").choose(None, None) == ("body", "stars")


def test_an_index_of_pandas_is_no_response(tmp_path):
    (tmp_path / "a.csv").write_text("text,stars,__index_level_0__\na b c d,5,17\n")
    table = load(tmp_path, "a.csv")
    assert table.choose(None, None) == ("text", "stars")
    assert table.choose(None, "__index_level_0__") == ("text", "__index_level_0__")


def test_the_only_strings_are_the_text_even_if_short(tmp_path):
    (tmp_path / "a.csv").write_text("word,n\nroom,1\nbed,2\n")
    assert load(tmp_path, "a.csv").choose(None, None) == ("word", "n")


def test_what_cannot_be_guessed_is_asked_for_with_the_columns_listed(tmp_path):
    (tmp_path / "a.csv").write_text("id,review,stars\n1,a b c d,5\n")
    table = load(tmp_path, "a.csv")
    with pytest.raises(
        TableError, match=r"2 columns look like numbers.*--target, one of 'id', 'stars'$"
    ):
        table.choose(None, None)
    assert table.choose(None, "stars") == ("review", "stars")
    with pytest.raises(TableError, match="no column 'starts'; its columns are 'id', 'review', 'st"):
        table.choose(None, "starts")
    with pytest.raises(
        TableError, match="named as text and as response; name two columns, of 'id'"
    ):
        table.choose("stars", "stars")


def test_a_key_may_be_missing_from_the_first_object(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"a": "some words of text"}\n{"b": 2, "a": "more of them here"}\n'
    )
    assert pairs(load(tmp_path, "a.jsonl")) == [("more of them here", 2.0)]


def test_a_long_list_of_columns_is_cut(tmp_path):
    (tmp_path / "a.csv").write_text(",".join(f"c{i}" for i in range(50)) + "\n" + "1," * 49 + "1\n")
    with pytest.raises(TableError, match=r"'c19' and 30 more$"):
        load(tmp_path, "a.csv").choose(None, None)


def test_rows_left_out_are_counted_by_reason(tmp_path):
    rows = [
        {"text": "good room", "y": 1},
        {"text": "  ", "y": 2},
        {"text": None, "y": 2},
        {"y": 3},
        {"text": 17, "y": 3},
        {"text": "good bed"},
        {"text": "good bed", "y": "n/a"},
        {"text": "good bed", "y": float("nan")},
        {"text": "good bed", "y": "four"},
        {"text": "good bed", "y": 1e300},
        {"text": "good bed", "y": [4]},
        {"text": "bad bed", "y": " 4.5 "},
    ]
    lines = [json.dumps(row) for row in rows]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, "{nonsense"]))
    table = load(tmp_path, "a.jsonl", skip_damaged=True)
    part = usable(next(table.chunks("text", "y")))
    assert part.rows == [1, 12]
    assert part.y == [1, 4.5]
    assert part.example == f"row 9 of {tmp_path / 'a.jsonl'} has 'four'"
    assert part.left_out == Counter(
        {
            "empty text": 3,
            "text that is not a string": 1,
            "no response": 3,
            "response that is not a number": 2,
            "response of 1e+100 or beyond, or infinite": 1,
            "damaged row": 1,
        }
    )


def test_numbers_are_recognised_in_many_clothes():
    from decimal import Decimal

    given = ["4", " 4.5", "-1e3", 3, True, Decimal("2.5"), "", None, "x", "inf", 10**400, [1]]
    expected = [4, 4.5, -1000, 3, 1, 2.5, None, None, None, None, None, None]
    assert [tables.number(v) for v in given] == expected


# --- what cannot be read ----------------------------------------------------------------


@pytest.mark.parametrize("name", MALFORMED)
def test_what_cannot_be_read_is_one_sentence(tmp_path, name):
    content, sentence = MALFORMED[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=sentence) as caught:
        pairs(load(tmp_path, name))
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_a_column_that_is_there_twice_is_refused_when_asked_for(tmp_path):
    (tmp_path / "a.csv").write_text("stars,stars,text\n1,2,a b c d\n")
    with pytest.raises(TableError, match="has 2 columns named 'stars', expected one; rename"):
        load(tmp_path, "a.csv").choose("text", "stars")


def test_paths_that_are_no_files(tmp_path):
    (tmp_path / "folder").mkdir()
    for name, sentence in {
        "missing.csv": "there is no file .*missing.csv; check the name",
        "folder": "is a folder, but a file was expected; name its files, for example",
        "*.csv": "no file matches",
        "x" * 5000: "cannot be opened",
    }.items():
        with pytest.raises(TableError, match=sentence):
            load(tmp_path, name)


def test_an_unknown_encoding_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text(as_csv())
    for encoding in ("latin-99", "hex", "a\0b"):
        with pytest.raises(TableError, match=r"encoding '.*' is not known; try utf-8"):
            load(tmp_path, "a.csv", encoding=encoding)


def test_the_offset_of_a_wrong_byte_is_exact(tmp_path):
    good = ("text,y\n" + "é,1\n" * 70_000).encode()
    (tmp_path / "a.csv").write_bytes(good + b"\xff,2\n")
    with pytest.raises(TableError, match=rf"byte {len(good)} \(0xff, in line 70002\)"):
        pairs(load(tmp_path, "a.csv"), "text", "y")


def test_a_line_without_end_is_refused_before_it_is_held(tmp_path, monkeypatch):
    monkeypatch.setattr(streams, "MAX_LINE_CHARACTERS", 50_000)
    monkeypatch.setattr(formats, "MAX_LINE_CHARACTERS", 50_000)
    (tmp_path / "a.csv").write_text("text,y\n" + "x" * 3_000_000)
    (tmp_path / "b.csv").write_text("text,y\n1,1\n" + '"open\n' + "some line\n" * 300_000)
    (tmp_path / "c.jsonl").write_text('{"text": "' + "x" * 3_000_000)
    tracemalloc.start()
    for name, where in {"a.csv": "line 2", "b.csv": "row 2", "c.jsonl": "line 1"}.items():
        with pytest.raises(TableError, match=f"{where}: more than 50,000 characters.*never closed"):
            pairs(load(tmp_path, name), "text", "y")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_500_000  # the files have 3 million characters


def test_documents_longer_than_the_standard_librarys_limit_are_read(tmp_path):
    (tmp_path / "a.csv").write_text("text,y\n" + "word " * 100_000 + ",1\n")
    assert len(pairs(load(tmp_path, "a.csv"))[0][0]) == 500_000


def test_damaged_rows_are_left_out_when_asked(tmp_path):
    (tmp_path / "a.csv").write_text(
        'text,y\ngood one here now,1\n"a"b,2\nx,y,z\nlast of all here,3\n'
    )
    part = usable(next(load(tmp_path, "a.csv", skip_damaged=True).chunks("text", "y")))
    assert part.rows == [1, 4]
    assert part.left_out == {"damaged row": 2}


def test_a_terminal_is_no_table(tmp_path):
    class Terminal(io.BytesIO):
        def isatty(self):
            return True

    with pytest.raises(TableError, match=r"standard input is a terminal.*pipe one in"):
        open_table(["-"], Options(), Terminal(), tmp_path)


def test_without_pyarrow_parquet_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(TableError, match=r"needs pyarrow; run pip install 'topicprism\[tables\]'"):
        load(tmp_path, "a.parquet")


# --- memory -----------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "jsonl.gz"])
def test_the_reader_holds_one_chunk(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(formats, "CHUNK_CHARACTERS", 100_000)
    opener = gzip.open if ending.endswith("gz") else open
    row = '{{"text": "{}", "y": 1}}\n' if "json" in ending else "{},1\n"
    with opener(tmp_path / f"a.{ending}", "wt") as file:
        file.write("" if "json" in ending else "text,y\n")
        for _ in range(1_000):
            file.write(row.format("some words " * 500))  # 5.5 million characters in all
    table = load(tmp_path, f"a.{ending}")
    tracemalloc.start()
    done = [chunk.done for chunk in table.chunks("text", "y")]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(done) > 40
    assert done == sorted(done)
    assert peak < 1_000_000


# --- writing ----------------------------------------------------------------------------

COLUMNS = {"row": int, "prediction": float, "file": str}
VALUES = [[1, 2], [0.123456789, None], ["ä", 'a"b']]


@pytest.mark.parametrize("name", ["p.csv", "p.tsv", "p.jsonl", "p.csv.gz", "p.parquet"])
def test_what_is_written_can_be_read(tmp_path, name):
    if "parquet" in name:
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    with rows_to(path, tables.output_format(path, None), COLUMNS, io.StringIO()) as write:
        write(VALUES)
        write(VALUES)
        assert not path.exists()
    assert [p.name for p in tmp_path.iterdir()] == [name]
    (chunk,) = load(tmp_path, name).chunks(*COLUMNS)
    rows, predictions, files = chunk.values
    assert [int(r) for r in rows] == [1, 2, 1, 2]
    assert files == ["ä", 'a"b'] * 2
    assert [tables.number(p) for p in predictions[:2]] == [
        pytest.approx(0.123456789, rel=1e-5),
        None,
    ]


def test_a_failure_leaves_no_file(tmp_path):
    (tmp_path / "old.csv").write_text("old")
    for name in ("new.csv", "old.csv", "new.parquet"):
        path = tmp_path / name
        with (
            pytest.raises(ValueError, match=r"shorter than|different length|Column 1"),
            rows_to(path, tables.output_format(path, None), COLUMNS, io.StringIO()) as write,
        ):
            write([[1, 2], [0.5], ["a", "b"]])
    assert [p.name for p in tmp_path.iterdir()] == ["old.csv"]
    assert (tmp_path / "old.csv").read_text() == "old"


def test_an_interruption_keeps_the_rows_so_far(tmp_path):
    path = tmp_path / "p.csv"

    def interrupted(rows):
        with rows_to(path, "csv", COLUMNS, io.StringIO()) as write:
            for values in rows:
                write(values)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted([])
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyboardInterrupt):
        interrupted([VALUES])
    assert [p.name for p in tmp_path.iterdir()] == ["p.csv.part"]
    assert len((tmp_path / "p.csv.part").read_text().splitlines()) == 3


def test_rows_may_go_to_a_stream():
    out = io.StringIO()
    with rows_to(None, "jsonl", COLUMNS, out) as write:
        write(VALUES)
    assert json.loads(out.getvalue().splitlines()[1]) == {
        "row": 2, "prediction": None, "file": 'a"b',
    }  # fmt: skip


def test_places_where_nothing_can_be_written(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    for path, sentence in {
        tmp_path / "folder.csv": "is a folder, but a file to write was expected",
        tmp_path / "none" / "a.csv": "there is no folder .*none to write a.csv to; make it first",
        Path("/proc/a.csv"): "cannot be written",
    }.items():
        with pytest.raises(OutputError, match=sentence), rows_to(path, "csv", COLUMNS, None):
            pass


def test_the_name_tells_what_to_write():
    with pytest.raises(TableError, match=r"p.xls does not name a format; end it in .csv, .tsv"):
        tables.output_format(Path("p.xls"), None)
    with pytest.raises(TableError, match="Parquet cannot go to standard output; name a file"):
        tables.output_format(None, "parquet")
    assert tables.output_format(None, None) == "csv"
    assert tables.output_format(Path("p.xls"), "tsv") == "tsv"


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("4,5", "a decimal comma"),
        (" -1.234,56 ", "a decimal comma"),
        ("4,5 %", "a decimal comma"),
        ("1,234", "a comma: remove it first between thousands"),
        ("12,345,678.9", "a comma: remove it first between thousands"),
        ("45%", "a percent sign"),
        ("-4.5 %", "a percent sign"),
    ],
)
def test_numbers_written_otherwise_get_a_remedy(value, what):
    assert remedy(value).startswith(what)


@pytest.mark.parametrize("value", ["four, or 5", "%", ",", "", "room 4,5", "1,2,3", None, 4.5, "4"])
def test_what_is_no_number_gets_none(value):
    assert remedy(value) == ""


def test_long_values_are_quoted_to_the_end():
    assert quoted("short") == "'short'"
    assert quoted("x" * 99) == f"'{'x' * 37}...'"
    assert quoted(4.5) == "4.5"
