"""Hostile input to topicprism: how often it ends in a traceback, a lost file or a wrong answer.

    python benchmarks/hostile.py             # minutes on two cores; the counts of each attack
    python benchmarks/hostile.py --quick     # seconds, for the test suite
    python benchmarks/hostile.py --seed 7    # other inputs

Command lines over tables of every kind; files that were changed, with a checksum that is right
for what they hold now or not; processes that are killed while they write; a full disk; memory
that runs out.  An input is answered, or refused with one sentence.  What counts as a defect:

    traceback   an exception that reaches the user, status 70, a crash
    lost        a file that is gone, half-written, or was not to be written, or a temporary left
    wrong       another answer than that of the same data, numbers that are none, no sentence
    hung        no end within half a minute of processor time

Everything happens in a temporary folder; devices are copies, and the full disk is one that
only this process sees.  The exit status is 1 if there was any defect.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import reduce
from operator import add
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]  # where its parts are

from attacks import BAD, FINE, REFUSED, Home, Tally, commands, damage, kills, limits  # noqa: E402

# of each attack: how many, and how many with --quick
SIZES = {
    "commands": (4400, 130),
    "processes": (36, 2),
    "files": (6000, 260),
    "shards": (800, 30),
    "kills": (150, 15),
    "disk": (150, 12),
    "memory": (120, 8),
}
PARTS = 2  # processes, and shares of each attack


def share(part: int, seed: int, quick: bool, only: str | None) -> dict[str, Tally]:
    """One part of each attack, in a folder of its own."""
    parts = 1 if quick else PARTS
    size = {name: both[quick] // parts for name, both in SIZES.items()}
    started = time.perf_counter()
    found: dict[str, Tally] = {}
    there = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="hostile-", ignore_cleanup_errors=True) as name:
        top = Path(name)
        for folder in ("home", "files", "limits"):
            (top / folder).mkdir()
        home, own = Home(top / "home"), seed * 1000 + part
        attacks = {
            "commands": lambda: {"command lines": commands.attack(own, size["commands"], home)},
            "files": lambda: damage.attack(own, size["files"], top / "files", quick),
            "shards": lambda: damage.attack_shards(own, size["shards"], top / "files"),
            "processes": lambda: {
                "streams closed, signals": commands.attack_processes(own, size["processes"], home)
            },
            "kills": lambda: {"killed while writing": kills.attack(own, size["kills"], home)},
            "memory": lambda: {"little memory": limits.attack_memory(own, size["memory"], home)},
            "disk": lambda: {
                "full disk": limits.attack_disk(own, size["disk"], top / "limits", home)
            },
        }
        for what in [only] if only else attacks:
            found |= attacks[what]()
            if not quick:
                spent = time.perf_counter() - started
                print(f"part {part}: {what} done after {spent:.0f} s", file=sys.stderr)
        os.chdir(there)
    return found


def shown(found: dict[str, Tally]) -> str:
    columns = ("tried", FINE, REFUSED, *BAD)
    lines = [f"{'':28}" + "".join(f"{c:>11}" for c in columns)]
    for name, tally in [*found.items(), ("all", reduce(add, found.values()))]:
        counts = [tally.ends.total(), *(tally.ends[c] for c in columns[1:])]
        lines.append(f"{name:28}" + "".join(f"{n:11,}" for n in counts))
    return "\n".join(lines)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="a small part, in seconds")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--show", type=int, default=20, metavar="N", help="defects in full")
    options.add_argument("--only", choices=SIZES, help="one attack alone")
    args = options.parse_args()
    if args.quick:
        parts = [share(0, args.seed, True, args.only)]
    else:
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(PARTS, mp_context=spawn) as pool:
            jobs = [pool.submit(share, part, args.seed, False, args.only) for part in range(PARTS)]
            parts = [job.result() for job in jobs]
    found = {name: reduce(add, (part[name] for part in parts)) for name in parts[0]}
    print(shown(found))
    defects = [(name, defect) for name, tally in found.items() for defect in tally.defects]
    for name, defect in defects[: args.show]:
        print(f"\n{name}: {defect}")
    return int(bool(defects))


if __name__ == "__main__":
    sys.exit(main())
