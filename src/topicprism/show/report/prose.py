"""Numbers and facts in words."""

from __future__ import annotations

from topicprism.scales import LOG, LOG1P
from topicprism.show import effects
from topicprism.show.markup import ISOLATE, POP, typeset, visible
from topicprism.show.report.facts import Fit, Summary, Topic
from topicprism.show.report.fitted import Fitted

FITTED = {LOG: "log of the response was fitted", LOG1P: "log of 1 + the response was fitted"}
N_COMMON = 12  # words above max_df that are listed


def number(value: float, digits: int = 3) -> str:
    """To so many significant digits, whole numbers in full, with a real minus sign."""
    if value == 0:
        return "0"
    if abs(value) >= 10 ** (digits - 1):
        text = f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.{digits - 1}e}"
    else:
        text = f"{value:#.{digits}g}"
    return typeset(text)


def fixed(value: float, places: int) -> str:
    """With so many decimals, as everywhere, and a real minus sign."""
    return typeset(effects.fixed(value, places))


def percent(share: float) -> str:
    return typeset(effects.percent(share))


def plural(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def sentences(s: Summary) -> tuple[str, ...]:
    """The summary paragraph."""
    whence = f" from {plural(s.n_documents, 'document')}" if s.n_documents else ""
    k, V = plural(len(s.topics), "topic"), plural(len(s.parameters.words), "different word")
    found = [f"{k} {'was' if len(s.topics) == 1 else 'were'} estimated{whence} with {V}."]
    found.append(_largest(s) if s.response is None else _extremes(s, s.response))
    if s.fit is not None:
        found.append(_explained(s.fit, s.fitted_response))
    if s.scores:
        listed = ", ".join(f"{visible(name)} {fixed(value, 2)}" for name, value in s.scores)
        found.append(f"Scores (pR\u00b2, of documents held out when it was fitted): {listed}.")
    return tuple(found)


def named(topic: Topic) -> str:
    words = ", ".join(f"{ISOLATE}{visible(word)}{POP}" for word in topic.name)
    return f"topic {topic.number} (\u201c{words}\u201d)"


def _largest(s: Summary) -> str:
    top = max(s.topics, key=lambda t: t.share)
    return f"The largest is {named(top)}, with {percent(top.share)} {s.share_of}."


def _extremes(s: Summary, response: str) -> str:
    ordered = sorted(s.topics, key=lambda t: t.effect or 0.0)
    low, high = ordered[0], ordered[-1]
    least, most = (fixed(t.effect or 0.0, s.decimals) for t in (low, high))
    if len(ordered) == 1:
        return f"The {s.mean_of} {response} is {most}."
    return (
        f"{s.mean_of.capitalize()} {response} ranges from {least} for a document of {named(low)} "
        f"only to {most} for a document of {named(high)} only."
    )


def _explained(fit: Fit, response: str) -> str:
    whose = {None: "", True: " held out of the fit", False: " of the training table"}[fit.held_out]
    on = f"On {plural(fit.n, 'document')}{whose}, the model"
    if fit.pr2 <= 0:
        return f"{on} predicts {response} no better than its mean."
    return f"{on} explains {percent(fit.pr2)} of the variance of {response}."


def _listed(words: tuple[str, ...]) -> str:
    more = f" and {len(words) - N_COMMON} more" if len(words) > N_COMMON else ""
    return ", ".join(visible(word) for word in words[:N_COMMON]) + more


def about(what: Fitted) -> tuple[tuple[str, str], ...]:
    """Settings and provenance, each with its name."""
    model = what.model
    facts = [
        ("Estimator", what.name),
        ("Topics", str(model.n_topics)),
        ("Sum of the Dirichlet parameters (\u03b1\u2080)", number(float(model.alpha.sum()))),
    ]
    if what.supervised:
        facts.append(("Noise variance", number(float(model.sigma**2))))
    if what.shown.scale is not None:
        facts.append(("Log", FITTED[what.shown.scale]))
    if model.burstiness:
        facts.append(("Repeated words", f"down-weighted (burstiness {model.burstiness:g})"))
    if what.reading is not None:
        low, high = what.reading.ngram_range
        facts += [
            ("Letters", "lower case" if what.reading.lowercase else "as written"),
            ("Stop words", plural(len(what.reading.stop_words), "word")),
            ("Terms", "single words" if (low, high) == (1, 1) else f"{low} to {high} words"),
        ]
        if what.reading.too_common:
            facts.append(("Too common to be counted", _listed(what.reading.too_common)))
    named = {name.replace("_", " ").capitalize(): value for name, value in what.info.items()}
    known = {name for name, _ in facts}
    facts += [(n, v) for n, v in named.items() if isinstance(v, str) and n not in known]
    return tuple(facts)
