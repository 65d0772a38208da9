"""Files that are no tables, and the sentence each must get."""

import bz2
import gzip
import lzma

GOOD = b'review,stars\r\n"clean, quiet",5\r\n"""rude"" staff\nat the desk",1.5\r\nfine,4\r\n'
MALFORMED = {
    "empty.csv": (b"", "is empty, but a table with a header and rows was expected"),
    "blank.csv": (b"\n\n \n", "has nothing but blank lines; expected a header and rows"),
    "header.csv": (b"review,stars\n", "has columns .'review', 'stars'. but no row"),
    "binary.csv": (bytes(range(256)) * 9, r"looks binary .byte 0 is NUL.*if it is UTF-16"),
    "utf16.csv": (GOOD.decode().encode("utf-16-le"), "byte 1 is NUL.*--encoding utf-16-le"),
    "late_nul.csv": (GOOD + b"x,1\n" * 40_000 + b"a\0b,2\n", "line 400.*: a NUL character"),
    "latin.csv": (GOOD + "é,1\n".encode("latin-1"), r"not UTF-8: byte \d+ \(0xe9, in line 6\)"),
    "cut.csv": (b"review,stars\nabc\xc3", "not UTF-8: byte|ends within a character"),
    "quote.csv": (GOOD + b'"never closed,3\nmore,4\n', "row 4: .*never closed.*--no-quotes"),
    "stray.csv": (GOOD + b'"a"b,3\n', "row 4: ',' expected after '\"'; double the quotes"),
    "ragged.csv": (GOOD + b"a,b,c\n", "row 4: 3 fields, but the header has 2; quote fields"),
    "short.csv": (GOOD + b"alone\n", "row 4: 1 field, but the header has 2"),
    "twice.csv": (b"stars,stars,text\n1,2,a b c d\n", "2 columns|columns look like numbers"),
    "cut.csv.gz": (gzip.compress(GOOD * 99)[:-20], "damaged or cut short .*copy or download it"),
    "flipped.csv.gz": (gzip.compress(GOOD)[:30] + b"\xff" * 40, "damaged or cut short"),
    "cut.csv.bz2": (bz2.compress(GOOD)[:-9], "damaged or cut short"),
    "cut.csv.xz": (lzma.compress(GOOD)[:-9], "damaged or cut short"),
    "array.json": (b'[{"text": "a", "y": 1}]', r"one JSON array.*jq -c '\.\[\]'"),
    "number.jsonl": (b'{"text": "a b", "y": 1}\n17\n', "'17' is no JSON object, .* 4} was"),
    "broken.jsonl": (b'{"text": "a b", "y": 1}\n{"text"\n', "row 2: not JSON .*--skip-damaged"),
    "deep.jsonl": (b'{"text": ' + b"[" * 99_999 + b"\n", "row 1: not JSON"),
    "not.parquet": (GOOD, "not a whole Parquet file .*write it again"),
    "cut.parquet": (b"PAR1" + GOOD, "not a whole Parquet file"),
    "parquet.csv": (b"PAR1" + GOOD, "is Parquet, but csv was asked for"),
    "sheet.csv": (b"PK\x03\x04" + GOOD, "is a zip archive or a spreadsheet; unpack it"),
    "paper.csv": (b"%PDF-1.7\n" + GOOD, "is a PDF; extract its text"),
    "words.csv": (b"a,b\nroom,bed\n", "no column looks like numbers"),
    "numbers.csv": (b"a\n1\n2\n", "no column looks like texts"),
    "endless.csv": (b"review,stars\n" + b"x" * (17 << 20), "line 2: more than 16,777,216 charac"),
}
