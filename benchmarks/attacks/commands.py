"""Command lines: every command and option, over tables of every kind."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import random
import signal
import stat
import subprocess
import sys
import time
from argparse import Action
from typing import Any

import numpy as np

from attacks import (
    BAD,
    FINE,
    LONGEST,
    QUICK_FIT,
    REFUSED,
    WAITING,
    Home,
    Outcome,
    Tally,
    run,
    whole,
)
from attacks.tables import Made, any_table, sound
from topicprism import load
from topicprism.cli.arguments import parser

WEIGHTS = {"fit": 6, "predict": 8, "report": 3, "sketch": 3, "select": 2, "topics": 2, "merge": 2}
WEIGHTS |= {"stability": 1, "demo": 0.3, "warmup": 0.3}
ODD = ("", " ", "x", "-1", "0", "é", "\ud800", "a" * 5000, "--", "nan", "None", "9" * 40, "\x1b[2J")
FILES = ("a.csv", "m.tprism", "lda.tprism", "gibbs.tprism", "s.tpsketch", "t.tpsketch", "stop.txt")
STRANGE = ("none.csv", ".", "..", "", "*.csv", "[", "**", "nul\0.csv", "x" * 300, "dev/zero", "~")
STRANGE += ("dev/null", "/proc/self/mem", "/proc/self/status", "-", "a.csv/b", "\udcff.csv", "://x")
OUTPUTS = ("old.csv", "old.html", "old.tprism", "new.csv", "new.tsv.gz", "new.jsonl", "new.parquet")
OUTPUTS += ("new.html", "new.tprism", "new.tpsketch", "new.png", "n e w.svg", "é\n.csv", "dev/null")
OUTPUTS += (
    "dev/full",
    "a.csv",
    "m.tprism",
    "no/such/new.csv",
    "/proc/new.html",
    ".",
    "",
    "x" * 300,
)
COUNTS = ("1", "2", "3", "7", "0", "-1", "1.5", "x", "", "9" * 40, "٣", "²", " 3", "1e3")
NUMBERS = ("auto", "0.1", "1", "3.5", "0", "-1", "nan", "inf", "1e-300", "1e300", "1e-9", "x", "")
SHARES = ("0", "0.1", "0.5", "0.9", "1", "1.0", "2", "5", "-0.1", "nan", "1e-9", "x", "9" * 5000)
POOLS: dict[str, tuple[str, ...]] = {  # by option; all others get a count
    **dict.fromkeys(["text", "target", "keep"], ("text", "stars", "row", "prediction", "no", "")),
    **dict.fromkeys(["alpha0", "noise_variance"], NUMBERS),
    **dict.fromkeys(["min_df", "max_df", "held_out"], SHARES),
    **dict.fromkeys(["output", "report", "plot"], OUTPUTS),
    **dict.fromkeys(["n_topics", "max_words", "ngrams", "coordinates"], (*COUNTS, "9" * 9)),
    "folder": ("new", "a.csv", "", ".", "no/such", "x" * 300, "dev/null"),
    "delimiter": (",", ";", "\\t", "tab", "|", "", "ab", '"', "é", "\0", "\n", " ", "a", "\ud800"),
    "encoding": ("utf-8", "utf-16", "latin-1", "cp1252", "no", "rot13", "base64", "hex", "idna",
                 "utf-7", "punycode", "zlib", "undefined", "unicode_escape", "mbcs", "", "a\0"),
    "stop_words": ("english", "none", "stop.txt", "a.csv", "m.tprism", ".", "no", "dev/zero", ""),
    "jobs": ("1", "2", "-1", "0", "-2", "x", "9" * 40, "1025"),
    "seed": ("0", "1", "-1", "x", str(2**64), "9" * 40, "9" * 5000),
    "documents": ("1", "2", "9", "60", "300", "0", "-5", "x"),
    "runs": ("2", "3", "1", "0", "-1", "x", ""),  # more take long
    "title": ("a", "<script>", "\ud800", "\0", ""),
}  # fmt: skip


def attack(seed: int, n: int, home: Home) -> Tally:
    """``n`` command lines in this process."""
    tally, known = Tally(), load("m.tprism")
    _devices(home)
    for i in range(n):
        rng = random.Random(f"{seed} {i}")
        if rng.random() < 0.12:
            _same_answer(rng, home, known, tally)
        else:
            _anything(rng, home, tally)
        home.restore()
    return tally


def _devices(home: Home) -> None:
    """Copies of devices, for a mistake would cost the machine the real ones."""
    folder = home.folder / "dev"
    folder.mkdir()
    for name, minor in (("null", 3), ("zero", 5), ("full", 7)):
        try:
            os.mknod(folder / name, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        except OSError:
            return  # only root may


def _same_answer(rng: random.Random, home: Home, known: Any, tally: Tally) -> None:
    """Predictions of a sound table are those of its texts, however it was written."""
    made = sound(rng)
    (home.folder / made.name).write_bytes(made.data)
    home.before[made.name] = made.data
    argv = ["predict", "m.tprism", made.name, *made.options]
    argv += rng.choice(([], ["--text", "text"], ["--std"], ["--keep", "text"], ["--jobs", "2"]))
    done = run(argv)
    end = done.judged()
    if done.status == 0:
        rows = [*csv.DictReader(io.StringIO(done.out, newline=""))]
        got = [float(row["prediction"]) for row in rows]
        expected = known.predict([text for text, _ in made.rows or ()])
        kept = [row["text"] for row in rows] if "--keep" in argv else None
        right = len(got) == len(expected) and np.allclose(got, expected, rtol=1e-4)
        if not right or kept not in (None, [text for text, _ in made.rows or ()]):
            end = "wrong"
    elif end == REFUSED:
        end = "wrong"  # it is sound
    tally.add(end, argv, f"{done.err} {made.data[:300]!r}")
    del home.before[made.name]


def _anything(rng: random.Random, home: Home, tally: Tally) -> None:
    made = any_table(rng)
    name = made.name
    if rng.random() < 0.1:
        name = rng.choice(("a b.csv", "é.csv", "-x.csv", "[a].csv", "a\nb.csv", "\udcff.csv"))
    (home.folder / name).write_bytes(made.data)
    home.before[name] = made.data
    argv = _line(rng, made, name)
    done = run(argv, made.data)
    end = _judged(argv, done, home)
    tally.add(end, argv, f"{done.status} {done.err} {done.out[-200:]} {made.data[:300]!r}")
    del home.before[name]


def _line(rng: random.Random, made: Made, table: str) -> list[str]:
    command = rng.choices([*WEIGHTS], [*WEIGHTS.values()])[0]

    def file(*usual: str) -> str:
        odd = rng.random() < 0.12
        return rng.choice((*FILES, *STRANGE, *ODD)) if odd else rng.choice(usual)

    models = ("m.tprism", "m.tprism", "gibbs.tprism", "lda.tprism")
    tables = (table, table, table, "-", "a.csv")
    words: list[str] = []
    if command in ("predict", "report", "topics"):
        words.append(file(*models))
    if command in ("fit", "predict", "select", "sketch", "stability") or (
        command == "report" and rng.random() < 0.7
    ):
        words += [file(*tables) for _ in range(rng.choice((1, 1, 1, 2)))]
    if command == "merge":
        words += [file("s.tpsketch", "t.tpsketch") for _ in range(rng.choice((1, 2, 2, 3)))]
    words += [word for option in _options(rng, command) for word in option]
    if command == "warmup":
        words.append(rng.choice(ODD))  # for all of it takes long
    words += made.options if rng.random() < 0.5 else []
    return [command, *words]


def _options(rng: random.Random, command: str) -> list[list[str]]:
    """Some of the options that the parser knows, with values good and bad."""
    known: dict[str, Action] = {
        a.dest: a for a in parser().commands[command]._actions if a.option_strings
    }
    chosen = rng.sample(list(known), min(rng.choice((0, 1, 1, 2, 3, 5)), len(known)))
    if command in GOOD_OUTPUTS and rng.random() < 0.9:
        chosen = [c for c in chosen if c != "output"] + ["output"]
    made = [_option(rng, command, known[dest]) for dest in chosen]
    if command == "stability" and "runs" not in chosen:
        made.append(["--runs", "2"])
    if command in ("fit", "stability") and rng.random() < 0.5:
        made.append(QUICK_FIT)
    if rng.random() < 0.03:
        made.append([rng.choice(("--no-such", "--jsno", "-x", "--text"))])
    return made


GOOD_OUTPUTS = {
    "fit": ("new.tprism", "old.tprism"),
    "predict": ("new.csv", "old.csv", "new.jsonl", "new.parquet"),
    "report": ("new.html", "old.html"),
    "sketch": ("new.tpsketch",),
    "merge": ("new.tpsketch",),
    "stability": ("new.csv", "old.csv", "new.jsonl", "new.parquet"),
}


def _option(rng: random.Random, command: str, action: Action) -> list[str]:
    name = rng.choice(action.option_strings)
    if action.nargs == 0:
        return [name]
    pool: tuple[str, ...] = tuple(action.choices or POOLS.get(action.dest, COUNTS))
    if action.dest == "output" and rng.random() < 0.7:
        pool = GOOD_OUTPUTS.get(command, pool)
    if rng.random() < 0.08:
        pool = ODD
    value = rng.choice(pool)
    return [f"{name}={value}"] if rng.random() < 0.2 and name.startswith("--") else [name, value]


def _judged(argv: list[str], done: Outcome, home: Home) -> str:
    """Beside the way it ended: what it did to the files, and whether its answers are numbers."""
    end = done.judged(most=2 if argv[0] == "demo" else 1)
    named = {word.split("=")[-1] for word in argv} | {"t.tprism"}
    for name, data in home.changed().items():
        new = name not in home.before
        if data is None or (not new and name not in named) or name.startswith("."):
            return "lost"
        if not new and done.status != 0 and not (name.endswith(".tprism") and whole(name, data)):
            return "lost"
        told = argv[0] == "predict" and any(a.startswith("--output-format") for a in argv)
        if not told and not whole(name, data):  # else its name does not say what is in it
            return "lost"
    dev = home.folder / "dev"
    if any(not path.is_char_device() for path in dev.iterdir()):
        return "lost"
    return end if end in BAD or _numbers(argv, done) else "wrong"


def _numbers(argv: list[str], done: Outcome) -> bool:
    """Whether what was answered can be read, and has no number that is none."""
    if done.status != 0 or "--help" in argv or "-h" in argv:
        return True
    if "--json" in argv:
        try:
            json.loads(done.out, parse_constant=lambda _: 1 / 0)
        except (ValueError, ZeroDivisionError):
            return False
    if argv[0] == "predict" and done.out.startswith("row,prediction"):
        cells = [row["prediction"] for row in csv.DictReader(io.StringIO(done.out, newline=""))]
        return all(math.isfinite(float(cell)) for cell in cells if cell)
    return True


# --- processes of their own -------------------------------------------------------------

LINES = {
    "predict": ["predict", "m.tprism", "a.csv", "--std"],
    "to a file": ["predict", "m.tprism", "a.csv", "-o", "old.csv"],
    "fit": ["fit", "a.csv", "-o", "old.tprism", "--report", "old.html"],
    "page": ["report", "m.tprism", "a.csv", "-o", "old.html"],
    "topics": ["topics", "m.tprism", "--json"],
    "stability": ["stability", "a.csv", "--runs", "2", "-o", "old.csv", *QUICK_FIT],
    "mistake": ["predict", "m.tprism", "none.csv"],
}
CLOSED = ("", ">&-", "2>&-", "<&-", ">&- 2>&-", ">&- 2>&- <&-", "| true", "2>&1 | head -c 20")
ANSWERS = (0, 2, 130, 141, 143)


def attack_processes(seed: int, n: int, home: Home) -> Tally:
    """``n`` processes with streams closed, or stopped by a signal at a random moment."""
    rng, tally = random.Random(seed), Tally()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for i in range(n):
        which = rng.choice(list(LINES))
        stop = (None, signal.SIGTERM, signal.SIGINT)[i % 3]
        closed = rng.choice(CLOSED) if stop is None else ""
        line = (
            f'"$0" -m topicprism "$@" {closed}'
            if "|" in closed
            else f'exec "$0" -m topicprism "$@" {closed}'
        )
        child = subprocess.Popen(
            ["bash", "-o", "pipefail", "-c", line, sys.executable, *LINES[which]],
            cwd=home.folder, env=environment, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            if stop is not None:
                time.sleep(rng.uniform(0, 2))
                child.send_signal(stop)
            out, err = child.communicate(timeout=WAITING * LONGEST)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            tally.add("hung", (which, stop, closed))
            continue
        end = _end_of_process(child.returncode, Outcome(child.returncode, out, err), closed, home)
        # Python itself dies of a signal before it has read the first line of ours
        starting = not err or err.startswith("Could not import runpy module")
        early = stop is not None and child.returncode in (-stop, 1) and starting
        tally.add(FINE if early and not home.changed() else end, (which, stop, closed),
                  f"{child.returncode} {err}")  # fmt: skip
        home.restore()
    return tally


def _end_of_process(status: int, done: Outcome, closed: str, home: Home) -> str:
    for name, data in home.changed().items():
        if not whole(name, data) or name.startswith("."):
            return "lost"
    silent = "2>" in closed  # nobody can be told
    return (REFUSED if status else FINE) if silent and status in ANSWERS and "Traceback" not in (
        done.err + done.out
    ) else done.judged()  # fmt: skip
