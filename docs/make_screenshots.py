"""Pictures of the report's page and of a plot, of a synthetic corpus::

    python docs/make_screenshots.py

writes docs/images/page-light.png, page-dark.png, page-phone.png and effects.png.  It needs
playwright and matplotlib (``pip install -e '.[dev]'``) and a Chromium, which
``python tests/chromium.py`` fetches where none is installed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import matplotlib
from playwright.sync_api import Browser, sync_playwright
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline

import topicprism
from topicprism.datasets import make_reviews
from topicprism.pipeline import TopicPipeline
from topicprism.show.plots import plot_effects
from topicprism.show.report import summarise, write_page

IMAGES = Path(__file__).parent / "images"
N_TRAIN, N_TEST = 8_000, 2_000
TYPED = "The bed was soft and the staff friendly, but the street was loud and the carpet dirty."
SHOTS = [  # file, width, height, colours, what is at the top
    ("page-light.png", 1200, 1180, "light", "body"),
    ("page-dark.png", 1200, 1000, "dark", "#topics"),
    ("page-phone.png", 390, 844, "light", "#try"),
]


def reviews_page(path: Path) -> TopicPipeline:
    """Learn topics from most reviews, and show how they do on the others."""
    texts, stars, _ = make_reviews(N_TRAIN + N_TEST, random_state=0)
    train, test = slice(N_TRAIN), slice(N_TRAIN, None)
    pipeline = topicprism.fit(texts[train], stars[train])
    ridge = make_pipeline(TfidfVectorizer(), RidgeCV()).fit(texts[train], stars[train])
    pipeline.info["scores"] = {
        "topicprism": pipeline.score(texts[test], stars[test]),
        "TF-IDF + ridge": ridge.score(texts[test], stars[test]),
        "mean": 0.0,
    }
    title = "Topics and stars of simulated hotel reviews"
    shown = texts[test], stars[test]
    write_page(summarise(pipeline, *shown, title=title, response="stars", held_out=True), path)
    return pipeline


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
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import chromium

    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        page = Path(scratch) / "page.html"
        pipeline = reviews_page(page)
        browser = chromium.launch(playwright)
        take(browser, page, IMAGES)
        browser.close()
    matplotlib.use("Agg")
    plot_effects(pipeline).figure.savefig(IMAGES / "effects.png", dpi=100)


if __name__ == "__main__":
    main()
