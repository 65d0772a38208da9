"""Whose method an estimator is: the one place where references stand."""

from __future__ import annotations

from dataclasses import dataclass, replace

BETWEEN = " and "  # authors, as BibTeX has it


@dataclass(frozen=True)
class Source:
    """A publication, and what of an estimator it is the source of."""

    part: str
    key: str
    kind: str  # of BibTeX: article or inproceedings
    authors: str
    title: str
    venue: str
    year: int
    note: str = ""

    @property
    def named(self) -> str:
        """The authors as a sentence has them."""
        *first, last = (" ".join(reversed(a.split(", "))) for a in self.authors.split(BETWEEN))
        return f"{', '.join(first)} and {last}"

    @property
    def bibtex(self) -> str:
        venue = "journal" if self.kind == "article" else "booktitle"
        fields = {"title": self.title, "author": self.authors, venue: self.venue}
        fields |= {"year": str(self.year)} | ({"note": self.note} if self.note else {})
        wide = max(map(len, fields))
        lines = ",\n".join(f"  {name:<{wide}} = {{{value}}}" for name, value in fields.items())
        return f"@{self.kind}{{{self.key},\n{lines}\n}}"


SPECTRAL = Source(
    "spectral method",
    "ren2018spectral",
    "article",
    "Ren, Yong and Wang, Yining and Zhu, Jun",
    "Spectral Learning for Supervised Topic Models",
    "IEEE Transactions on Pattern Analysis and Machine Intelligence",
    2018,
    "arXiv:1602.06025",
)
TENSORS = Source(
    "decomposition of moments",
    "anandkumar2014tensor",
    "article",
    "Anandkumar, Animashree and Ge, Rong and Hsu, Daniel and Kakade, Sham M. and Telgarsky, Matus",
    "Tensor Decompositions for Learning Latent Variable Models",
    "Journal of Machine Learning Research",
    2014,
)
SLDA = Source(
    "model (supervised LDA)",
    "blei2007supervised",
    "inproceedings",
    "Blei, David M. and McAuliffe, Jon D.",
    "Supervised Topic Models",
    "Advances in Neural Information Processing Systems",
    2007,
)
LDA = Source(
    "model (LDA)",
    "blei2003latent",
    "article",
    "Blei, David M. and Ng, Andrew Y. and Jordan, Michael I.",
    "Latent Dirichlet Allocation",
    "Journal of Machine Learning Research",
    2003,
)
VARIATIONAL = replace(SLDA, part="variational EM for supervised LDA")
CLASSES = Source(
    "variational EM for classes",
    "wang2009simultaneous",
    "inproceedings",
    "Wang, Chong and Blei, David M. and Fei-Fei, Li",
    "Simultaneous Image Classification and Annotation",
    "IEEE Conference on Computer Vision and Pattern Recognition",
    2009,
)
MARGIN = Source(
    "Gibbs sampler of a margin loss",
    "zhu2014gibbs",
    "article",
    "Zhu, Jun and Chen, Ning and Perkins, Hugh and Zhang, Bo",
    "Gibbs Max-margin Topic Models with Data Augmentation",
    "Journal of Machine Learning Research",
    2014,
)
ANCHORS = Source(
    "recovery from anchor words",
    "arora2013practical",
    "inproceedings",
    "Arora, Sanjeev and Ge, Rong and Halpern, Yonatan and Mimno, David and Moitra, Ankur and "
    "Sontag, David and Wu, Yichen and Zhu, Michael",
    "A Practical Algorithm for Topic Modeling with Provable Guarantees",
    "International Conference on Machine Learning",
    2013,
)
SUPERVISED_ANCHORS = Source(
    "response beside the co-occurrences",
    "nguyen2015anchor",
    "inproceedings",
    "Nguyen, Thang and Boyd-Graber, Jordan and Lund, Jeffrey and Seppi, Kevin and Ringger, Eric",
    "Is Your Anchor Going Up or Down? Fast and Accurate Supervised Topic Models",
    "Conference of the North American Chapter of the Association for Computational Linguistics",
    2015,
)
TRANSFORMED = Source(
    "transformation of topics by class",
    "lacostejulien2008disclda",
    "inproceedings",
    "Lacoste-Julien, Simon and Sha, Fei and Jordan, Michael I.",
    "DiscLDA: Discriminative Learning for Dimensionality Reduction and Classification",
    "Advances in Neural Information Processing Systems",
    2008,
)

SOURCES = {
    "AutoSLDA": (SPECTRAL, SLDA),
    "SpectralSLDA": (SPECTRAL, SLDA),
    "SpectralLDA": (SPECTRAL, TENSORS, LDA),
    "HybridSLDA": (SPECTRAL, SLDA),
    "GibbsSLDA": (SLDA,),
    "MedLDA": (MARGIN,),
    "MedLDAClassifier": (MARGIN,),
    "VariationalSLDA": (VARIATIONAL,),
    "VariationalSLDAClassifier": (CLASSES,),
    "AnchorLDA": (ANCHORS, LDA),
    "AnchorSLDA": (SUPERVISED_ANCHORS, ANCHORS),
    "DiscLDA": (TRANSFORMED,),
}


def sources_of(estimator: type) -> tuple[Source, ...]:
    """Those of an estimator, or of the one that it is a kind of."""
    names = (kind.__name__ for kind in estimator.__mro__)
    return next((SOURCES[name] for name in names if name in SOURCES), ())
