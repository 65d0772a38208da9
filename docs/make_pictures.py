"""The pictures of README and docs, from one run of the command on 20,000 real hotel reviews::

    python docs/make_pictures.py     # some minutes

writes docs/images/terminal.svg (what the command prints), page-light.png, page-dark.png and
page-phone.png (parts of the page that it writes, none of which quotes a review) and effects.png.
The reviews are those of the folds of docs/real-text.md; where they are absent no picture is
made.  It needs playwright and matplotlib (``pip install -e '.[dev]'``) and a Chromium, which
``python tests/chromium.py`` fetches where none is installed.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib
from playwright.sync_api import Browser, sync_playwright

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), *(str(HERE.parent / name) for name in ("experiments", "tests"))]

IMAGES = HERE / "images"
COMMAND = "topicprism fit hotel_reviews.csv --report hotel_reviews.html"
TYPED = "The bed was soft and the staff friendly, but the street was loud and the carpet dirty."
SHOTS = [  # file, width, height, colours, what is at the top
    ("page-light.png", 1200, 1180, "light", "body"),
    ("page-dark.png", 1200, 1000, "dark", "#topics"),
    ("page-phone.png", 390, 844, "light", "#try"),
]


def fitted(folder: Path) -> list[str]:
    """Write the reviews as a table, run the command beside it and return what it prints."""
    from comparison.corpora import unseen

    texts, stars = unseen("hotel_reviews")
    with (folder / "hotel_reviews.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("review", "stars"), *zip(texts, stars.tolist(), strict=True)])
    words = [sys.executable, "-m", *COMMAND.split()]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return [f"$ {COMMAND}", *done.stdout.splitlines()]


def take(browser: Browser, page_path: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, width, height, colours, top in SHOTS:
        page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme=colours,
            reduced_motion="reduce",
        )
        page.goto(page_path.as_uri())
        page.locator("#document").fill(TYPED)
        page.wait_for_selector("#prediction strong")
        page.evaluate("document.activeElement.blur()")
        page.locator(top).evaluate("e => e.scrollIntoView()")
        page.screenshot(path=folder / name)
        page.close()


def main() -> None:
    import chromium
    from comparison.corpora import CORPORA
    from terminal_picture import drawn

    import topicprism

    if not CORPORA["hotel_reviews"].path.exists():
        sys.exit(f"{CORPORA['hotel_reviews'].path.name} is not there: no picture was made")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder = Path(scratch)
        (IMAGES / "terminal.svg").write_text(drawn(fitted(folder)))
        browser = chromium.launch(playwright)
        take(browser, folder / "hotel_reviews.html", IMAGES)
        browser.close()
        matplotlib.use("Agg")
        axes = topicprism.load(folder / "hotel_reviews.tprism").plot_effects()
    axes.figure.savefig(IMAGES / "effects.png", dpi=100)


if __name__ == "__main__":
    main()
