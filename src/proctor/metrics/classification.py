"""Precision, recall and F1 of answers that name a class, averaged over the classes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import exp, fsum, log, sqrt
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict

from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.intervals import WITHIN, has_clusters, t_interval
from proctor.metrics.metric import Accumulator, Metric, accumulate

Measure = Literal["precision", "recall", "f1"]
Answers = tuple[str | None, ...]
MAX_CLASSES = 100
"""More are not listed one by one; they are averaged all the same."""
NO_INTERVAL = "no interval: no spread"
_NO_SPREAD = 1e-12


class ClassScore(Struct, frozen=True):
    """One class; `precision` is None where it was never answered."""

    precision: float | None
    recall: float
    f1: float
    support: int
    """How many samples expected it."""


class ClassCounts(Struct, frozen=True):
    """By class; the epochs of a sample share its one vote."""

    hits: Mapping[str, float]
    answered: Mapping[str, float]
    expected: Mapping[str, float]

    def scores(self) -> dict[str, ClassScore]:
        found = {}
        for name in sorted(self.expected):
            hits, answered, expected = self.hits.get(name, 0.0), self.answered.get(name, 0.0), self.expected[name]
            precision = hits / answered if answered else None
            f1 = 2 * hits / (answered + expected)
            found[name] = ClassScore(precision, hits / expected, f1, round(expected))
        return found

    def values(self, of: Measure) -> dict[str, float]:
        """The measure of each class; one that was never answered counts 0, as is usual."""
        return {name: getattr(score, of) or 0.0 for name, score in self.scores().items()}

    def pull_of(self, of: Measure, values: Mapping[str, float], target: str, answers: Answers) -> float:
        """How one sample's answers move the mean over classes, to first order."""
        pulls = (
            self.pull(of, values[name], name, target, answer)
            for answer in answers
            for name in {target, answer or target} & values.keys()
        )
        return fsum(pulls) / (len(answers) * len(values))

    def pull(self, of: Measure, score: float, name: str, target: str, answer: str | None) -> float:
        """How one answer moves the measure of a class, to first order."""
        is_answer, is_target = name == answer, name == target
        if of == "precision":
            return (is_target - score) / self.answered[name] if is_answer else 0.0
        if of == "recall":
            return (is_answer - score) / self.expected[name] if is_target else 0.0
        hit = 2 * (is_answer and is_target)
        return (hit - score * (is_answer + is_target)) / (self.answered.get(name, 0.0) + self.expected[name])


def sorted_answers(score: SampleScore) -> Answers:
    """What the epochs answered; their order says nothing."""
    return tuple(sorted(score.answers, key=lambda answer: (answer is None, answer or "")))


class Confusion:
    """What was taken for what; memory grows with the classes and the groups, not with the samples."""

    def __init__(self, of: Measure) -> None:
        self._of = of
        self._samples: Counter[tuple[str | None, str, Answers]] = Counter()

    def add(self, score: SampleScore) -> None:
        if score.target is not None and score.answers:
            self._samples[score.group, score.target, sorted_answers(score)] += 1

    def classes(self) -> dict[str, ClassScore]:
        """All classes that were expected, by name; an answer that names none of them is an answer of no class."""
        return self.counts().scores()

    def estimate(self) -> Estimate:
        counts = self.counts()
        classes = counts.scores()
        if not classes:
            return Estimate(None, 0)
        values = counts.values(self._of)
        value, n = fsum(values.values()) / len(values), self._samples.total()
        listed = {name: asdict(score) for name, score in classes.items()} if len(classes) <= MAX_CLASSES else None
        stderr, effective, prefix = self._error(counts, values)
        if stderr < _NO_SPREAD:  # no spread is not certainty, and there is no bound to put in its place
            return Estimate(value, n, method=NO_INTERVAL, classes=listed)
        # On the scale of log odds the interval stays between 0 and 1 and covers better near either end.
        low, high = t_interval(log(value / (1 - value)), stderr / (value * (1 - value)), max(1.0, effective - 1))
        return Estimate(value, n, stderr, 1 / (1 + exp(-low)), 1 / (1 + exp(-high)), f"{prefix}delta", listed)

    def counts(self) -> ClassCounts:
        hits: dict[str, float] = defaultdict(float)
        answered: dict[str, float] = defaultdict(float)
        expected: dict[str, float] = defaultdict(float)
        for (_, target, answers), count in self._samples.items():
            expected[target] += count
            for answer in answers:
                if answer is not None:
                    answered[answer] += count / len(answers)
                if answer == target:
                    hits[target] += count / len(answers)
        return ClassCounts(hits, answered, expected)

    def _error(self, counts: ClassCounts, values: Mapping[str, float]) -> tuple[float, float, str]:
        """The standard error by the delta method, how many separate samples would say as much, and how it took groups.

        What each sample adds to the mean over classes is summed within its group first.
        """
        squares, sizes, units = 0.0, 0.0, 0
        groups: dict[str, tuple[float, int]] = {}
        is_within = self._is_within_group()
        for (group, target, answers), count in self._samples.items():
            pull = counts.pull_of(self._of, values, target, answers)
            if group is None or is_within:
                squares, sizes, units = squares + count * pull**2, sizes + count, units + count
            else:
                before, size = groups.get(group, (0.0, 0))
                groups[group] = (before + count * pull, size + count)
        squares += fsum(pull**2 for pull, _ in groups.values())
        sizes += sum(size**2 for _, size in groups.values())
        units += len(groups)
        n = self._samples.total()
        stderr = sqrt(squares * units / (units - 1)) if units > 1 else 0.0
        return stderr, n * n / sizes, WITHIN if is_within else "clustered-" if units < n else ""

    def _is_within_group(self) -> bool:
        """Whether nearly all samples share one group: it cannot show how groups differ."""
        sizes: Counter[str | None] = Counter()
        for (group, _, _), count in self._samples.items():
            sizes[group] += count
        alone = sizes.pop(None, 0)
        return any(size > 1 for size in sizes.values()) and not has_clusters(alone, sizes.values())


class MacroAverage(Struct, frozen=True):
    """The plain mean over classes of their precision, recall or F1."""

    of: Measure

    @property
    def name(self) -> str:
        return f"macro_{self.of}"

    @property
    def reads_answers(self) -> bool:
        return True

    def start(self) -> Accumulator:
        return Confusion(self.of)

    def measure(self, scores: Iterable[SampleScore]) -> Estimate:
        return accumulate(self.start(), scores)


def create_f1() -> Metric:
    return MacroAverage("f1")


def create_precision() -> Metric:
    return MacroAverage("precision")


def create_recall() -> Metric:
    return MacroAverage("recall")
