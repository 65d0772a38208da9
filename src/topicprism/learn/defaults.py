"""Every constant that results of learning depend on, with its reason or what chose it.

Scores and intervals have theirs in :mod:`topicprism.evaluation`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelDefaults:
    """Of the regime "model" (:mod:`topicprism.learn.model_regime`)."""

    max_topics: int = 26  # with 6 spare coordinates a sketch of 32: whole vector lanes
    min_documents_per_topic: int = 5  # fewer are near-duplicates, not a topic
    spectrum_gap: float = 1.15  # of an eigenvalue over the next: text has no such gap at the edge
    trace_standard_errors: float = 5.0  # beyond chance (experiments/automatic.py: no false alarm)
    doubtful_noise_edge: float = 0.05  # eigenvalues 3 to 10 of reviews are 0.06 to 0.3: less noise
    # hides none of them, with more the documents are asked (experiments/small_tables.py)
    min_r2_share: float = 0.85  # of the R2 of topics fitted to the response, less r2_tolerance:
    r2_tolerance: float = 0.01  # simulated sLDA has shares of 0.89 to 0.98, reviews 0.1 and less
    check_documents: int = 500  # are predicted first: where their R2 is check_r2 or more, that of
    check_r2: float = 0.25  # TEXT.trial_documents is not below 0, standard errors being 0.04
    alpha0_range: tuple[float, float] = (0.1, 100.0)  # where alpha0 is sought
    alpha0_end: float = 1.001  # times an end of it, or less, is there: it was not found within
    alpha0_halvings: int = 9  # of that range on a log scale: to one per cent
    alpha0_restarts: int = 20  # of the power method, while alpha0 is sought
    usual_alpha0: float = 1.0  # where moments bound it from below only, or the bound if larger
    alpha0_points: int = 10  # of that range, at which coefficients are computed: 2.2-fold steps
    coefficient_levels: int = 41  # errors of alpha0 at which coefficients are computed; not tuned
    coefficient_folds: int = 20  # a standard error from 20 values is itself known to 16 %
    jackknife_folds: int = 10  # for that of the noise variance, known to 24 %
    jackknife_restarts: int = 10  # of the power method in each of these
    noise_documents: int = 20_000  # used for the noise variance (experiments/second_look.py)
    noise_folds: int = 5  # of documents that topics are learnt without; ten and twenty: no gain
    noise_tolerance: float = 0.075  # standard error over value: two of these are 15 %
    noise_splits: int = 2  # of the words of each document, at most
    noise_deal_tolerance: float = 0.1  # of one split; with more, words are split once more
    noise_restarts: int = 20  # of the power method, for topics learnt without a fold
    noise_sweeps: int = 3  # of inference over a document: proportions need not be exact, since
    noise_long_sweeps: int = 8  # the words of the other half decide; of long documents at most
    noise_inference_tolerance: float = 0.03  # so many, or until nothing moves by more
    noise_word_types: int = 2_000  # of which the other half is made, the most frequent
    noise_corpus_share: float = 0.05  # of all words in a document's expected ones: none has 0


@dataclass(frozen=True)
class TextDefaults:
    """Of the regime "text" (:mod:`topicprism.learn.text_regime`); chosen on training documents.

    ``docs/real-text.md`` has the figures, ``docs/notebook.md`` what else was tried.
    """

    candidates: tuple[int, ...] = (3, 5, 10, 20)  # numbers of topics that are tried
    documents_per_topic: int = 20  # with fewer, a number of topics is not tried
    r2_tolerance: float = 0.05  # share of predictive R2 that is given up for more topics to read
    more_topics: tuple[int, ...] = (30, 50)  # tried as long as this share of the topics at least
    large_share: float = 0.9  # are not small (EFFECTS.min_share) or alike
    n_topics_of_few: int = 3  # where documents are too few to try any
    n_topics_unsupervised: int = (
        10  # without a response there is no score to compare; a common default
    )
    held_out: float = 0.25  # of the documents, at most, to try numbers of topics on
    few_documents: int = 2_000  # with fewer documents or words, folds in place of one part held
    few_words: int = 100_000  # out and of halves; as SAMPLED.min_documents and min_words:
    few_folds: int = 5  # models of 400 of 500 documents are nearer to those of all than of 250
    min_fold_documents: int = 10  # with fewer there are no folds; not tuned
    trial_documents: int = 4_000  # to fit a trial; half as many are held out: R2 to about 0.02
    likelihood_documents: int = 2_000  # held out, whose words are scored
    learn_documents: int = 20_000  # more change R2 by less than 0.005 (hotel reviews)
    rounds: int = 8  # of refinement; 15 and 40 lose R2
    trial_rounds: int = 5  # trials are only compared with each other; not tuned
    sweeps: int = 5  # over a document in a round; not tuned
    word_prior: float = 0.05  # added to the count of every word in every topic
    alpha0_grid: tuple[float, ...] = (3.0, 10.0)  # 30 and more: coefficients beyond any response
    alpha0_grid_unsupervised: tuple[float, ...] = (1.0, 3.0, 10.0)  # words held out choose
    alpha0_tolerance: float = 0.01  # of R2, given up for a smaller alpha0
    tensor_alpha0: float = 0.5  # of 0.1, 0.3, 0.5 and 1: within 0.005 of each other
    tensor_restarts: int = 30  # of the power method; not tuned
    signal_z: float = 4.0  # standard errors of E[y x] beyond chance, for topics of the response
    signal_z_of_few: float = 1.0  # at 4, most cuts of 1,000 sentences get none; folds show chance
    response_alike: float = 0.85  # similarity of two topics of the response at most: EFFECTS.alike
    # is 0.9, and smoothing makes them a little more alike; 0.85 and none were compared
    occurrences: float = 2.0  # of a word, of whose association with the response half is taken:
    # 0 predicts worse, 1 and 5 about as well (docs/notebook.md)
    steps_apart: tuple[float, ...] = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0)  # times their distance
    agreement: float = 0.3  # experiments/response_topics.py
    agreement_folds: int = 6  # in which halves of documents are made in ten ways
    ranking_folds: int = 10  # a direction that is in one of them only is near-duplicates
    prior_sum: float = 3.0  # while topics are refined; not tuned
    response_share: float = 0.85  # of that prior, for the topics of the response
    burstiness: float = 0.75  # 0 and 1 predict worse
    smoothing: float = 0.01  # of each topic, the words' frequencies: no word is impossible
    max_slope: float = 25.0  # of the variance of a response on that of its mean, which is 1 in the
    # model; not tuned: without a limit one odd document gave all others a thousandfold deviation
    noise_floor: float = 0.1  # of the mean square residual, at least, is noise
    penalties: tuple[float, float, int] = (-6.0, 0.0, 13)  # of the ridge regression, per document:
    # powers of ten from, to, and how many, of which cross-validation chooses; not tuned


@dataclass(frozen=True)
class SketchDefaults:
    """Of text of which there is a sketch only (:mod:`topicprism.learn.sketch_regime`).

    ``experiments/sketches_of_text.py`` prints what they lead to.
    """

    n_topics: int = 3  # 5 and 10 predict worse
    n_response: int = 3  # topics of the response; two halves of the documents cannot be compared
    alpha0: float = 3.0  # 10 predicts worse on four of five corpora
    documents: int = 3_000  # drawn; other draws of as many change R2 by 0.01
    coordinates: int = 10  # of these documents; 3 and 16 and more predict worse
    penalty: float = 0.1  # times the radius of noise in E[x x]; 0 and 0.2 predict worse
    smallest: float = 1e-3  # share of the largest variance that a direction must have
    max_moment: float = 1e40  # per document, of a standardised response: its third power is finite
    chance: tuple[float, float] = (0.35, 0.75)  # share of chance in E[y x]: from the first on
    # differences of coefficients shrink, to nothing at the second


@dataclass(frozen=True)
class SteeringDefaults:
    """Of :mod:`topicprism.learn.hybrid`; ``experiments/steering.py`` prints what they do."""

    strength: float = 2.0  # 4 predicts no better and loses twice the likelihood
    decay: float = 0.9  # of the earlier shifts
    standard_errors: float = 1.5  # of a gradient that may be noise; 1, 2 and none lose
    sweeps: int = 5  # over a document, as in a round of TEXT
    prior_sum: float = 3.0  # of the steered topics, as TEXT.prior_sum
    burstiness: float = 0.25  # 0 loses 0.003 to 0.03 of R2
    cross_fitted_share: float = 0.5  # of the response; without it 0.01 to 0.03 of R2 are lost
    cross_fitted_folds: int = 5  # of documents that are predicted by the others; not tuned
    response_weight: float = 0.1  # with 1, amazon_products lose 0.01 to 0.02
    few_documents: int = 2_000  # with fewer, or with fewer words, topics stay close
    few_words: int = 100_000  # to the spectral ones (experiments/few_documents.py)
    word_prior: float = 0.3  # on text
    word_prior_beside_another: float = 0.01  # where the spectral topics are the prior
    start_sigma: tuple[float, float] = (0.1, 1.0)  # standard deviations of the response: with less
    # noise, topics that a chain begins with would hardly change; more is none explained
    n_fixed_eta_sweeps: int = 20  # with the spectral coefficients, in the regime "model"


@dataclass(frozen=True)
class SampledTextDefaults:
    """Of :mod:`topicprism.learn.sampled_text`; strength of steering and so on are STEERING's.

    ``experiments/chains.py`` prints what response, sweeps, priors and strength lead to, on hotel
    reviews that no table uses and on training parts of one fold of film and product reviews;
    starts were compared by hand (``docs/notebook.md``).
    """

    max_documents: int = 40_000  # sampled; of 20,000, topics of film reviews fit new words worse
    min_documents: int = 2_000  # with fewer, or with fewer words, gradients are too uncertain:
    min_words: int = 100_000  # topics are those of text_regime (experiments/few_documents.py)
    n_topics: int = 20  # to begin with; those that halves of the documents do not confirm go
    min_r2_share: float = (
        0.7  # of the R2 of topics fitted to the response; not tuned: one corpus of tests had 0
    )
    response: str = "assignments"  # what it depends on; "mixture": the chain moves more slowly
    sweeps: tuple[int, int] = (80, 160)  # at first, and averaged; 100 and 300 change little
    half_sweeps: tuple[int, int] = (60, 90)  # the same of each half of the documents
    alpha0: float = 2.0  # of the proportions, in the chain; 1: likelihood and coherence are lower
    learn_alpha: bool = False  # learnt, some topics grow large and two samples agree less
    word_prior: float = 0.3  # 0.1: topics of two samples agree less
    max_repeats: int = 100  # of a word in a document that has fewer other words; not tuned
    chain_burstiness: float = 0.25  # of repeated words in the chain; 0: words shown cohere less
    rounds: int = 1  # of refinement after the chain, with TEXT.word_prior: likelihood rises by 0.01
    alpha0_grid: tuple[float, ...] = (1.0, 3.0, 10.0)  # of the prior at prediction
    burstiness_grid: tuple[float, ...] = (0.25, 0.0, 0.75)  # of repeated words at prediction
    steer_strength: float = 3.0  # 2: 0.01 of R2 less; 4: likelihood falls (docs/notebook.md)
    prior_tolerance: float = 0.002  # of R2, given up for a smaller alpha0


@dataclass(frozen=True)
class EffectDefaults:
    """Of :mod:`topicprism.learn.crossfit`."""

    alike: float = 0.9  # similarity of two topics of one model that are one
    r2_tolerance: float = 0.005  # given up for topics that are found again
    r2_tolerance_of_few: float = 0.02  # with fewer documents than TEXT.few_documents
    min_share: float = 0.01  # of the words, for a topic to be shown
    min_unexplained: float = 0.1  # 1 - leverage, at least, that a residual is divided by: beyond,
    # one document that a coefficient depends on alone would decide its standard error
    min_half_documents: int = 20  # with fewer in a half there are no standard errors
    difference_prior: float = 4.0  # degrees of freedom of the variance fitted to all topics
    prior_uncertainty: float = 2.0  # times that of R2 by documents, since topics differ, too: with
    # 1, a quarter of the effects of 800 hotel reviews differ beyond 1.96 standard errors, with 2
    # none (by hand, ten pairs of samples; experiments/small_effects.py)
    prior_draws: int = 2_000  # of the R2 of priors: probabilities to 0.01
    prediction_z: float = 2.0  # of a correlation with held-out responses that is beyond chance


MODEL, TEXT, SKETCH = ModelDefaults(), TextDefaults(), SketchDefaults()
STEERING, SAMPLED, EFFECTS = SteeringDefaults(), SampledTextDefaults(), EffectDefaults()
