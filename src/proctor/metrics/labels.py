"""What the numbers of a benchmark are called: known before anything is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from proctor import plugins
from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.evaluation import EvaluationFigures
from proctor.domain.scorer import Scorer, ScorerTraits, traits_of
from proctor.metrics.registry import metric_name

CONSISTENCY = "consistency"
CONSISTENCY_OF_WORDS = "consistency_of_words"
JUDGES = ("pairwise/", "reference/", "rubric/")
"""How the versions of judges begin, whatever the benchmark calls them."""


class HasMetrics(Protocol):
    @property
    def metrics(self) -> Mapping[str, MetricEstimate]: ...


def versioned_names(evaluations: Sequence[EvaluationFigures]) -> list[str]:
    """Each evaluation's benchmark, as NAME@VERSION where there are several versions of it among them."""
    versions = {(item.benchmark, item.version) for item in evaluations}
    several = Counter(name for name, _ in versions)
    return [
        f"{item.benchmark}@{item.version}" if several[item.benchmark] > 1 else item.benchmark for item in evaluations
    ]


def metrics_of(scorer: str, metrics: Sequence[str]) -> list[str]:
    """What is measured of one scorer: metrics written `scorer.metric` are its own, and then it has no others."""
    own = [name.removeprefix(f"{scorer}.") for name in metrics if name.startswith(f"{scorer}.")]
    return own or [name for name in metrics if "." not in metric_name(name)]


def metric_labels(scorers: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """Scorer by scorer, metric by metric: the first scorer's go by their own names, others by `scorer.metric`."""
    return [
        label if index == 0 else f"{scorer}.{label}"
        for index, scorer in enumerate(scorers)
        for label in _labels(metrics_of(scorer, metrics))
    ]


def _labels(metrics: Sequence[str]) -> list[str]:
    """Options are part of a label only where the same metric is measured in two ways."""
    names = [metric_name(one) for one in metrics]
    return [name if names.count(name) == 1 else one for name, one in zip(names, metrics, strict=True)]


MEAN_SCORE = "mean score"


def metric_title(label: str, metric: str, *, has_parts: bool) -> str | None:
    """What people read for a metric; None where that is its label. `has_parts`: there are scores between 0 and 1.

    The mean of such scores is no accuracy; an accuracy with a threshold is, because it is a share of samples.
    """
    name = metric_name(metric)
    is_mean = name == "mean" or (metric == "accuracy" and has_parts)
    if not is_mean or not label.endswith(name):
        return None
    return f"{label.removesuffix(name).replace('.', ' ')}{MEAN_SCORE}"


def metric_titles(items: Sequence[HasMetrics]) -> dict[str, str]:
    """What each metric is called where these stand together, by its label."""
    found: dict[str, str] = {}
    for item in items:
        for label, estimate in item.metrics.items():
            if found.get(label, label) == label:
                found[label] = estimate.title or label
    return found


def has_votes(scorer: str, version: str) -> bool:
    """Whether answers that this scorer marks can be told to be the same; of some it shows only once they are there."""
    return scorer_traits(scorer).has_votes and not version.startswith(JUDGES)


def scorer_traits(scorer: str) -> ScorerTraits:
    """What the scorer of a stored score says of itself; one that is not here any more is like most others."""
    try:
        return traits_of(plugins.load("scorers", scorer))
    except (plugins.PluginNotFoundError, plugins.BrokenPluginError):
        return ScorerTraits()


def hand_sizes(epochs: int) -> list[int]:
    """The k of pass@k: 1, the powers of two below the number of epochs, and that number."""
    return [*(1 << power for power in range((epochs - 1).bit_length())), epochs]


def pass_label(k: int) -> str:
    """At least one of k answers is right."""
    return f"pass@{k}"


def pass_all_label(k: int) -> str:
    """All of k answers are right."""
    return f"pass^{k}"


def majority_label(k: int) -> str:
    return f"majority@{k}"


def repeat_labels(scorer: str, version: str, epochs: int) -> list[str]:
    """What several epochs are measured by, beside the benchmark's own metrics; nothing for a single one."""
    if epochs == 1:
        return []
    sizes = hand_sizes(epochs)
    counted = [majority_label(epochs), CONSISTENCY] if has_votes(scorer, version) else []
    return [*map(pass_label, sizes), *map(pass_all_label, sizes), *counted, CONSISTENCY_OF_WORDS]


def all_labels(scorers: Sequence[Scorer], metrics: Sequence[str], epochs: int) -> list[str]:
    """The names of everything that will be measured, in their order."""
    labels = metric_labels([scorer.name for scorer in scorers], metrics)
    return labels + [name for scorer in scorers[:1] for name in repeat_labels(scorer.name, scorer.version, epochs)]


def is_of_right_answers(label: str) -> bool:
    """Whether a wrong answer lowers the number: how consistent answers are says nothing about right and wrong."""
    return label not in (CONSISTENCY, CONSISTENCY_OF_WORDS)


def is_of_repeats(label: str) -> bool:
    """Whether a name is one of those that several epochs are measured by."""
    name, _, size = label.replace("^", "@").partition("@")
    return label in (CONSISTENCY, CONSISTENCY_OF_WORDS) or (name in ("pass", "majority") and size.isdecimal())
