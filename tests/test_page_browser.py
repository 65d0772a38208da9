"""The page in a real browser."""

import json
import re
import runpy
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import chromium
import numpy as np
import pytest
from numpy.testing import assert_allclose
from pages import HOSTILE, documents, hostile, nasty_texts, pipeline, reviews
from sklearn.feature_extraction.text import CountVectorizer
from varied_texts import varied_texts

import topicprism
from topicprism.inference import EPInference, infer, posterior
from topicprism.show.report import summarise, write_page
from topicprism.show.report.colouring import Colouring
from topicprism.show.report.fitted import fitted
from topicprism.show.words import top_ids


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        try:
            running = chromium.launch(playwright)
        except chromium.NoBrowser as error:
            pytest.skip(str(error))
        yield running
        running.close()


@pytest.fixture(scope="module")
def made():
    return reviews(ngram_range=(1, 2), stop_words=["the"])


@pytest.fixture(scope="module")
def paths(made, tmp_path_factory):
    """An ordinary page and a hostile one."""
    folder = tmp_path_factory.mktemp("pages")
    ordinary, wild = folder / "ordinary.html", folder / "hostile.html"
    write_page(summarise(made, *documents(made, 300), response="stars", held_out=True), ordinary)
    texts = [" ".join(HOSTILE) + f" plain{i % 5}" * 9 for i in range(20)]
    facts = summarise(
        hostile(), texts, np.arange(20.0), title=" ".join(HOSTILE), response=HOSTILE[1]
    )
    write_page(facts, wild)
    return {"ordinary": ordinary, "hostile": wild}


@pytest.fixture
def visit(browser, paths):
    """Opens pages, and fails in the end if one complained, or asked for anything but itself."""
    opened, trouble = [], []

    def open_page(name="ordinary", width=1200, height=900, path=None, **settings):
        page = browser.new_page(viewport={"width": width, "height": height}, **settings)
        address = (path or paths[name]).as_uri()
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        page.on("request", lambda r: r.url.split("#")[0] != address and trouble.append(r.url))
        page.goto(address)
        opened.append(page)
        return page

    yield open_page
    for page in opened:
        page.close()
    assert trouble == []


def read(page, texts, what):
    """What the page's script makes of each text; JSON both ways, for half pairs of surrogates."""
    code = (
        f"s => JSON.stringify(JSON.parse(s).map(t => {{ const r = topicprism.read(t); {what} }}))"
    )
    return json.loads(page.evaluate(code, json.dumps(texts)))


def words_shown(page):
    return page.locator("#words tbody th").all_inner_texts()


def test_every_section_is_there(visit):
    page = visit()
    assert page.locator("h1").inner_text() == "Topics and stars"
    sections = page.locator("main > section")
    names = [s.get_attribute("id") for s in sections.all()]
    assert names == ["effects", "topics", "documents", "try", "fit", "choice", "about"]
    assert page.locator("nav a").count() == len(names)
    assert page.locator(".effects tbody tr").count() == 5
    assert page.locator(".map .spot").count() == 5
    assert page.locator(".example").count() == 15
    assert page.locator(".chart").count() == 5
    for chart in page.locator(".chart .plot").all():
        box = chart.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 200


def test_the_box_answers_as_python_does(visit, made):
    page = visit()
    texts = nasty_texts(made, 150) + documents(made, 50, seed=3)[0]
    got = read(page, texts, "return [r.h, r.y, r.counts, r.found.map(t => t.token), r.std]")
    model = made["topics"].model_
    X = made["counts"].transform(texts)
    h = infer(model, X)
    analyse = CountVectorizer(stop_words=["the"]).build_analyzer()
    assert [g[3] for g in got] == [analyse(text) for text in texts]
    assert [g[2] for g in got] == rows(X)
    assert_allclose([g[0] for g in got], h, atol=1e-6)  # the same arithmetic in the same order
    assert_allclose([g[1] for g in got], h @ model.eta, atol=1e-6)
    assert_allclose([g[4] for g in got], made.predict(texts, return_std=True)[1], atol=1e-6)
    assert np.abs(np.diff(h @ model.eta)).max() > 0.5  # or all answers are alike


def rows(X):
    """Pairs of column and count, in the order of the columns."""
    bounds = pairwise(X.indptr.tolist())
    return [np.stack([X.indices[a:b], X.data[a:b]], axis=1).tolist() for a, b in bounds]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # a tolerance of 0
@pytest.mark.parametrize("features", ["mixture", "assignments"])
@pytest.mark.parametrize("how", [EPInference(), EPInference(max_sweeps=23, tolerance=0)])
@pytest.mark.parametrize(("alpha0", "burstiness"), [(3.6, 0.0), (0.5, 0.75), (100.0, 0.75)])
def test_the_box_answers_as_python_does_for_any_model(
    visit, tmp_path, features, how, alpha0, burstiness
):
    """Peaked topics, small and large priors, short documents and some that converge slowly."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(300)]
    mu = rng.dirichlet(np.full(300, 0.05), 12).T
    mu[mu < 1e-4] = 0.0
    alpha = rng.gamma(0.3, size=12) + 1e-3
    made = pipeline(
        words, mu, 1e3 * rng.standard_normal(12), alpha * alpha0 / alpha.sum(), burstiness
    )
    made["topics"].features_ = features
    made["topics"].predictive_variance_ = np.array([0.2, 0.8])
    facts = summarise(made)
    stopped = replace(facts.parameters, max_sweeps=how.max_sweeps, tolerance=how.tolerance)
    write_page(replace(facts, parameters=stopped), tmp_path / "page.html")
    page = visit(path=tmp_path / "page.html")
    lengths = [*rng.integers(1, 600, 80), 5000, 20_000]
    texts = ["", *(" ".join(rng.choice(words, n)) for n in lengths)]
    got = read(page, texts, "return [r.h, r.y, r.std]")
    X = made["counts"].transform(texts)
    known = posterior(made["topics"].model_, X, how)
    assert_allclose([g[0] for g in got], known.h, atol=1e-6)
    assert_allclose([g[1] for g in got], fitted(made).predict(X, known.h), rtol=1e-6, atol=1e-6)
    variance = known.variance(made["topics"].model_.eta)
    if features == "assignments":
        m = np.maximum(X.sum(axis=1), 1)
        variance = variance * ((alpha0 + m) / m) ** 2
    assert_allclose([g[2] for g in got], np.sqrt(0.2 + 0.8 * variance), rtol=1e-6)


def test_the_box_answers_as_a_fit_of_varied_text_does(visit, tmp_path):
    texts, y = varied_texts(400)
    made = topicprism.fit(texts[:300], y[:300], n_jobs=1)
    write_page(summarise(made), tmp_path / "page.html")
    got = read(visit(path=tmp_path / "page.html"), texts[300:], "return [r.y, r.std]")
    y_hat, std = made.predict(texts[300:], return_std=True)
    assert made.model.burstiness > 0
    assert_allclose([g[0] for g in got], y_hat, atol=1e-6)
    assert_allclose([g[1] for g in got], std, atol=1e-6)


@pytest.mark.parametrize("lowercase", [True, False])
def test_the_page_cuts_words_as_python_does_at_every_character(visit, tmp_path, lowercase):
    made = pipeline(["room", "bed"], np.ones((2, 2)), [0, 1], lowercase=lowercase)
    write_page(summarise(made), tmp_path / "page.html")
    page = visit(path=tmp_path / "page.html")
    known = [*range(0xDC00), *range(0xE000, 0x33000), *range(0xE0000, 0xE0200)]  # no letters beyond
    text = " ".join(f"x{chr(c)}yz" for c in known)
    code = "s => JSON.stringify(topicprism.tokens(JSON.parse(s)).map(t => t.token).join(' '))"
    got = json.loads(page.evaluate(code, json.dumps(text)))
    assert got == " ".join(re.findall(r"(?u)\b\w\w+\b", text.lower() if lowercase else text))


def test_the_slider_ranks_words_by_relevance(visit, made):
    page = visit()
    model, names = made["topics"].model_, made["counts"].get_feature_names_out()
    share = np.array(page.evaluate("JSON.parse(document.getElementById('facts').text).share"))
    page.locator(".picker button").nth(2).click()
    seen = []
    for weight in (0.6, 1.0, 0.0, 0.33):
        page.locator("#weight").fill(str(weight))
        expected = top_ids(model, 20, "relevance", weight, model.mu @ share, share)[2]
        seen.append(words_shown(page))
        assert seen[-1] == [str(names[w]) for w in expected]
    assert seen[1] != seen[2]
    assert page.locator("output").inner_text() == "0.33"
    first = page.locator("#words tbody tr").first
    assert first.locator("rect").count() == 2


def test_choosing_a_topic_works_by_mouse_and_keyboard(visit):
    page = visit()
    page.locator(".picker button").nth(0).click()
    assert page.locator("#chosen").inner_text().endswith("Topic 1: stars 4.80")
    before = words_shown(page)
    page.locator(".spot[data-topic='4']").focus()
    page.keyboard.press("Enter")
    assert page.locator("#chosen").inner_text().endswith("Topic 4: stars 1.90")
    assert words_shown(page) != before
    pressed = page.locator("[aria-pressed=true]")
    assert [p.get_attribute("data-topic") for p in pressed.all()] == ["4", "4"]
    page.locator(".spot[data-topic='5'] circle").click(force=True)
    assert page.locator("#chosen").inner_text().endswith("Topic 5: stars 1.20")
    page.locator("#weight").focus()
    top = words_shown(page)
    page.keyboard.press("Home")
    assert words_shown(page) != top


def test_typing_a_document_shows_topics_response_and_colours(visit, made):
    page = visit()
    text = "The STAFF was friendly, the zzyzx carpet dirty."
    page.locator("#document").focus()
    page.keyboard.type(text)
    page.wait_for_selector("#prediction strong")
    h = infer(made["topics"].model_, made["counts"].transform([text]))[0]
    shown = page.locator("#prediction strong").inner_text()
    y_hat, std = made.predict([text], return_std=True)
    assert shown == f"{y_hat[0]:.2f}"
    assert page.locator("#prediction").inner_text().endswith(f", standard deviation {std[0]:.2f}")
    assert "2 of them not in the vocabulary" in page.locator("#answer").inner_text()
    assert page.locator("#read").inner_text() == text
    what = fitted(made)
    colouring = Colouring(what.reading, made["counts"].vocabulary_, what.model.mu)
    expected = [(p.text, p.topic) for p in colouring.pieces(text, h) if p.topic]
    coloured = page.locator("#read .w").all()
    got = [(w.inner_text(), int(w.get_attribute("title").split()[1][:-1])) for w in coloured]
    assert got == expected
    top = page.locator("#answer tbody tr").first
    assert top.locator(".badge").inner_text() == str(h.argmax() + 1)
    page.locator("#clear").click()
    assert page.locator("#answer").inner_text() == ""
    page.locator("#example").click()
    assert page.locator("#prediction strong").count() == 1


def test_the_box_says_when_it_knows_nothing(visit, tmp_path):
    common = reviews()
    common.info |= {"too_common": ["everywhere", 3]}
    write_page(summarise(common, response="stars"), tmp_path / "page.html")
    page = visit(path=tmp_path / "page.html")
    page.locator("#document").fill("zzyzx Everywhere qwerty unheard")
    page.wait_for_selector("#prediction strong")
    said = page.locator("#answer").inner_text()
    assert "No word of this text is in the vocabulary: the prediction uses the prior only." in said
    assert "4 words read, 1 of them too common to be counted, 3 of them not in" in said
    assert page.locator("#answer table").count() == 0
    titles = [w.get_attribute("title") for w in page.locator("#read .unknown").all()]
    assert titles == ["not in the vocabulary", "too common to be counted", *titles[:1] * 2]
    shown = page.locator("#prediction strong").inner_text()
    assert shown == f"{common.predict([''])[0]:.2f}"
    page.locator("#document").fill("everywhere a dirty carpet")
    page.wait_for_selector("#answer table")
    said = page.locator("#answer").inner_text()
    assert "3 words read, 1 of them too common to be counted." in said
    assert "No word" not in said


def test_the_box_says_what_has_not_converged(visit, tmp_path):
    made = reviews()
    facts = summarise(made, response="stars")
    stopped = replace(facts, parameters=replace(facts.parameters, max_sweeps=1))
    write_page(stopped, tmp_path / "page.html")
    page = visit(path=tmp_path / "page.html")
    text = "a dirty carpet in the hotel room, friendly staff " * 300
    page.locator("#document").fill(text)
    page.wait_for_selector("#answer table")
    assert "did not converge: topics and prediction may be" in page.locator("#answer").inner_text()
    page.locator("#document").fill("a dirty carpet")
    page.locator("#read", has_text=re.compile("^a dirty carpet$")).wait_for()
    assert "converge" not in page.locator("#answer").inner_text()


def test_the_page_colours_a_document_as_python_does(visit, made):
    page = visit()
    what = fitted(made)
    colouring = Colouring(what.reading, made["counts"].vocabulary_, what.model.mu)
    texts = nasty_texts(made, 60, seed=5)
    code = "return r.found.map((t, i) => [t.token, Array.from(r.topics[i])])"
    h = what.infer(made["counts"].transform(texts))
    for mix, got in zip(h, read(page, texts, code), strict=True):
        if got:
            spelt, topics = zip(*got, strict=True)
            assert_allclose(topics, colouring.probabilities(list(spelt), mix), atol=1e-6)


def test_hostile_words_and_documents_are_shown_as_text(visit):
    page = visit("hostile")
    for details in page.locator("details").all():
        details.evaluate("d => d.open = true")
    page.locator("#weight").fill("1")
    page.locator("#document").fill(" ".join(t.replace("\ud83d", "") for t in HOSTILE))
    page.wait_for_selector("#prediction strong")
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("Object.prototype.toString.call({}.pwned)") == "[object Undefined]"
    assert page.locator("img, iframe, object, embed, base").count() == 0
    assert page.locator("script").count() == 2
    assert "<script>window.pwned=1</script>" in page.locator("h1").inner_text()
    assert "<script>window.pwned=1</script>" in words_in_all_topics(page)
    assert "<script>window.pwned=1</script>" in page.locator("#read").inner_text()
    assert "\u202e" not in page.locator("body").inner_text()
    assert page.evaluate("document.characterSet") == "UTF-8"


def words_in_all_topics(page):
    found = set()
    for button in page.locator(".picker button").all():
        button.click()
        found.update(words_shown(page))
    return found


def test_the_policy_stops_what_is_not_the_pages_own(browser, paths):
    page = browser.new_page()
    stopped = []
    page.on("console", lambda message: stopped.append(message.text))
    page.goto(paths["ordinary"].as_uri())
    page.evaluate("""() => {
        const s = document.createElement("script");
        s.textContent = "window.pwned = 1";
        document.body.append(s);
        new Image().src = "https://example.invalid/x.png";
        document.body.setAttribute("style", "color: red");
    }""")
    page.wait_for_timeout(50)
    assert page.evaluate("window.pwned") is None
    assert len([m for m in stopped if "Content Security Policy" in m]) >= 3
    page.close()


def test_the_keyboard_reaches_everything(visit):
    page = visit()
    wanted = page.evaluate("""() => {
        const all = document.querySelectorAll(
            "a[href], button, input, textarea, summary, [tabindex='0']");
        const seen = [...all].filter((e) => e.checkVisibility() && !e.closest("#try .choice"));
        seen.forEach((e, i) => (e.dataset.order = i));
        return seen.length;
    }""")
    radios = page.locator("input[type=radio]:visible").count()
    reached = set()
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        order = page.evaluate("document.activeElement.dataset.order ?? null")
        if order is not None:
            reached.add(order)
            style = "getComputedStyle(document.activeElement)"
            ring = page.evaluate(f"[{style}.outlineStyle, document.activeElement.tagName]")
            assert ring[0] != "none" or ring[1] == "g"  # its circle has the ring
    assert len(reached) == wanted - radios // 2  # arrows move between two radio buttons
    page.locator("details.topic summary").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.locator("details.topic").nth(1).evaluate("d => d.open")


def test_a_screen_reader_finds_its_way(visit):
    page = visit()
    levels = [int(h.evaluate("h => h.tagName[1]")) for h in page.locator("h1, h2, h3").all()]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    nameless = page.evaluate("""() => [...document.querySelectorAll(
        "button, a, input, textarea, [role=button], [role=img]")].filter((e) =>
        !(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.length)).length""")
    assert nameless == 0
    silent = "svg:not([aria-hidden]):not([role])"
    assert page.locator(f"{silent}").evaluate_all(
        "all => all.every((svg) => svg.closest('[role=img], [aria-hidden]'))"
    )
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("html").get_attribute("lang") == "en"
    behind = page.locator("figure:has(.chart)").all()
    assert all(figure.locator("details table").count() == 1 for figure in behind)


def contrast(page, text, behind):
    """Of the colours of two custom properties, as WCAG has it."""
    shades = []
    for name in (text, behind):
        colour = page.evaluate(
            """name => {
            const e = document.body.appendChild(document.createElement("i"));
            e.style.color = `var(${name})`;
            const colour = getComputedStyle(e).color;
            e.remove();
            return colour;
        }""",
            name,
        )
        rgb = np.array([int(c) / 255 for c in re.findall(r"\d+", colour)[:3]])
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        shades.append(linear @ [0.2126, 0.7152, 0.0722])
    dark, light = sorted(shades)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_are_legible_and_can_be_changed(visit, scheme):
    page = visit(color_scheme=scheme)

    def brightness():
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(c) for c in re.findall(r"\d+", colour)[:3])

    assert (brightness() < 200) == (scheme == "dark")
    for text in ("--ink", "--soft", "--accent"):
        for behind in ("--page", "--card"):
            assert contrast(page, text, behind) > 4.5  # WCAG AA
    before = brightness()
    page.locator("#theme").click()
    assert abs(brightness() - before) > 400
    assert contrast(page, "--ink", "--page") > 4.5
    page.locator("#theme").click()
    assert brightness() == before


@pytest.mark.parametrize("name", ["ordinary", "hostile"])
def test_a_phone_does_not_scroll_sideways(visit, name):
    page = visit(name, width=360, height=740)
    page.locator("#document").fill("friendly staff " * 20 + "w" * 300)
    page.wait_for_selector("#prediction strong")
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("document.body.scrollWidth") <= 360
    small = page.evaluate("""() => [...document.querySelectorAll("p, td, th, text, dd, li")].filter(
        (e) => e.checkVisibility() && parseFloat(getComputedStyle(e).fontSize) < 12).length""")
    assert small == 0
    cut = (
        "[...document.querySelectorAll('pre')].filter((e) => e.scrollWidth > e.clientWidth).length"
    )
    assert page.evaluate(cut) == 0


def test_words_in_the_tables_of_a_phone_are_not_cut(visit):
    """The first column is wide enough for each word of a topic's name to stand on one line."""
    page = visit(width=360, height=740)
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    cut = page.evaluate("""() => {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const range = document.createRange(), cut = [];
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            if (!node.parentElement.closest(".numbers tbody th")) continue;
            for (const word of node.data.matchAll(/\\S+/g)) {
                range.setStart(node, word.index);
                range.setEnd(node, word.index + word[0].length);
                if (range.getClientRects().length > 1) cut.push(word[0]);
            }
        }
        return cut;
    }""")
    assert cut == []


def test_a_thumb_finds_slider_and_buttons(visit):
    page = visit(width=360, height=740)
    page.locator("#document").fill("friendly staff")
    page.wait_for_selector("#prediction strong")
    for target in page.locator(".choice label, #weight, .picker button").all():
        assert target.bounding_box()["height"] >= 44


@pytest.mark.parametrize("width", [360, 1200])
def test_a_short_interval_shows_beside_its_dot(visit, tmp_path, width):
    sure = reviews()
    sure["topics"].coef_std_[:] = 1e-4
    write_page(summarise(sure, response="stars"), tmp_path / "page.html")
    page = visit(path=tmp_path / "page.html", width=width)
    for strip in page.locator(".strip").all():
        dot = strip.locator("circle").bounding_box()
        ends = [end.bounding_box() for end in strip.locator(".interval.end").all()]
        assert len(ends) == 2
        for end in ends:
            assert end["y"] < dot["y"] - 1
            assert end["y"] + end["height"] > dot["y"] + dot["height"] + 1


def test_words_can_be_coloured_by_effect(visit):
    page = visit()
    word = page.locator("#documents .example .w.c3").first
    before = word.evaluate("w => getComputedStyle(w).backgroundColor")
    page.locator("#documents input[value=effect]").check()
    assert word.evaluate("w => getComputedStyle(w).backgroundColor") != before


def test_without_script_the_page_still_tells(browser, paths):
    page = browser.new_page(java_script_enabled=False)
    page.goto(paths["ordinary"].as_uri())
    assert page.locator(".effects tbody tr").count() == 5
    assert page.locator(".example").count() == 15
    assert "works without its script" in page.locator("noscript").inner_text()
    page.close()


def test_pictures_are_taken_by_a_script(browser, paths, tmp_path):
    script = Path(__file__).parents[1] / "docs" / "make_pictures.py"
    runpy.run_path(str(script))["take"](browser, paths["ordinary"], tmp_path)
    sizes = {p.name: p.stat().st_size for p in tmp_path.iterdir()}
    assert set(sizes) == {"page-light.png", "page-dark.png", "page-phone.png"}
    assert min(sizes.values()) > 10_000
