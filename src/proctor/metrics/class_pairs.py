"""Two systems' answers to the same samples as classes: how far apart their means over classes are, and how surely."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, repeat

from msgspec import Struct

from proctor.domain.estimate import Estimate, SampleScore
from proctor.metrics.classification import Answers, ClassCounts, Confusion, Measure, sorted_answers
from proctor.metrics.compare import PairedComparison, agree_with_test, detectable_by
from proctor.metrics.intervals import has_clusters, t_interval
from proctor.metrics.pairing import LeftOut, Mark
from proctor.metrics.permutation import sign_flip_test

ClassMarks = Mapping[str, SampleScore | None]
"""What each sample that was asked expected and got, by its id; None where it has no score."""


_NO_SPREAD = 1e-24


class _Cell(Struct, frozen=True):
    """Samples that are all alike: of one class, answered in the same way by A and in the same way by B."""

    group: str | None
    target: str
    a: Answers
    b: Answers


class PairedConfusion:
    """What A and what B took each sample for; memory grows with the classes and the groups, not with the samples."""

    def __init__(self, of: Measure) -> None:
        self._of = of
        self._cells: Counter[_Cell] = Counter()
        self.a, self.b = Confusion(of), Confusion(of)

    def add(self, a: SampleScore, b: SampleScore) -> None:
        """One sample, of the same class on both sides."""
        if a.target is None or not a.answers or not b.answers:
            return
        self.a.add(a)
        self.b.add(b)
        self._cells[_Cell(a.group, a.target, sorted_answers(a), sorted_answers(b))] += 1

    @property
    def n(self) -> int:
        return self._cells.total()

    @property
    def units(self) -> tuple[int, float]:
        """How many separate units there are, and how many of one size would say as much (Kish)."""
        if not self.is_clustered:
            return self.n, float(self.n)
        alone, sizes = self._sizes()
        return alone + len(sizes), self.n**2 / (alone + sum(size**2 for size in sizes.values()))

    @property
    def is_clustered(self) -> bool:
        """Whether samples share groups, and groups enough to show how groups differ."""
        alone, sizes = self._sizes()
        return has_clusters(alone, sizes.values())

    def _sizes(self) -> tuple[int, Counter[str]]:
        """How many samples have no group, and how many each group has."""
        sizes: Counter[str] = Counter()
        for cell, count in self._cells.items():
            if cell.group is not None:
                sizes[cell.group] += count
        return self.n - sizes.total(), sizes

    def shares(self) -> list[float]:
        """What each unit adds to the difference; the sum is the difference.

        A measure is a ratio (h / a): with H and S the sums over both systems and x and y their differences, the
        measures of a class are 2 (x S - H y) / (S^2 - y^2) apart. If the two swap their answers to a sample, its parts
        of x and y change their signs, H and S stay, and only the last term moves a little. So if the two were alike,
        every combination of signs would be as likely.
        """
        counts = (self.a.counts(), self.b.counts())
        factors = {name: _factors(self._of, name, *counts) for name in counts[0].expected}
        return list(self._by_unit(lambda cell: _share(cell, factors) / len(factors)))

    def stderr(self) -> float:
        """Of the difference, by the delta method at each system's own counts.

        Two that are each right (or wrong) in everything show no spread of their own; then the shares have one.
        """
        count, _ = self.units
        if count < 2:
            return 0.0
        sides = [(one, one.values(self._of)) for one in (self.a.counts(), self.b.counts())]

        def pull(cell: _Cell) -> float:
            a, b = (
                counts.pull_of(self._of, values, cell.target, answers)
                for (counts, values), answers in zip(sides, (cell.a, cell.b), strict=True)
            )
            return b - a

        own, shared = (math.fsum(part**2 for part in parts) for parts in (self._by_unit(pull), self.shares()))
        return math.sqrt((own if own > _NO_SPREAD else shared) * count / (count - 1))

    def _by_unit(self, part: Callable[[_Cell], float]) -> Iterator[float]:
        alone: list[tuple[float, int]] = []
        groups: dict[str, float] = defaultdict(float)
        is_clustered = self.is_clustered
        for cell, count in self._cells.items():
            if cell.group is None or not is_clustered:
                alone.append((part(cell), count))
            else:
                groups[cell.group] += count * part(cell)
        return chain(chain.from_iterable(repeat(one, count) for one, count in alone), groups.values())


def _factors(of: Measure, name: str, a: ClassCounts, b: ClassCounts) -> tuple[float, float]:
    """What a hit more and what an answer more of B add to the difference of a class."""
    expected = a.expected[name]
    if of == "recall":
        return 1 / expected, 0.0
    times, more = (2, expected) if of == "f1" else (1, 0.0)
    sizes = [one.answered.get(name, 0.0) + more for one in (a, b)]
    total, gap = sum(sizes), sizes[1] - sizes[0]
    if total == 0:
        return 0.0, 0.0
    if not all(sizes):  # never answered by one of the two: its precision counts 0
        return 1 / total, 0.0
    scale = 2 * times / (total**2 - gap**2)
    return scale * total, -scale * (a.hits.get(name, 0.0) + b.hits.get(name, 0.0))


def _share(cell: _Cell, factors: Mapping[str, tuple[float, float]]) -> float:
    found = 0.0
    for answers, sign in ((cell.b, 1), (cell.a, -1)):
        for answer in answers:
            if answer is not None and answer in factors:
                of_hit, of_answer = factors[answer]
                found += sign * (of_answer + (of_hit if answer == cell.target else 0.0)) / len(answers)
    return found


def compare_classes(
    of: Measure, a: ClassMarks, b: ClassMarks, *, names: tuple[str, str] = ("A", "B"), seed: int = 0, keep: int = 0
) -> PairedComparison:
    """Compare two systems on the mean over classes of their precision, recall or F1, on the samples both answered.

    Flips are of the marks: samples that only one of the two got right; the ids of the first `keep` are kept each way.
    """
    confusion, left_out = PairedConfusion(of), LeftOut()
    gained: list[str] = []
    lost: list[str] = []
    for name in sorted({*a, *b}):
        x, y = a.get(name), b.get(name)
        if x is None or y is None or x.target != y.target:
            left_out.add(_mark(name, a), _mark(name, b))
            continue
        confusion.add(x, y)
        if (x.value < 0.5) != (y.value < 0.5):
            (gained if x.value < 0.5 else lost).append(name)
    sides = (confusion.a.estimate(), confusion.b.estimate())
    if sides[0].value is None or sides[1].value is None:
        return PairedComparison(names, 0, *sides, Estimate(None, 0), left_out=left_out)
    difference = sides[1].value - sides[0].value
    outcome = sign_flip_test((share * confusion.n for share in confusion.shares()), seed=seed)
    shown = agree_with_test(_interval(confusion, difference), outcome.p_value)
    count, _ = confusion.units
    groups = count if confusion.is_clustered else 0
    test = f"{'clustered ' if groups else ''}{outcome.method}"
    return PairedComparison(
        names, confusion.n, *sides, shown, outcome.p_value, outcome.error, test, {}, detectable_by(shown, groups),
        len(gained), len(lost), tuple(gained[:keep]), tuple(lost[:keep]), left_out, groups, outcome.p_value,
    )  # fmt: skip


def _mark(name: str, side: ClassMarks) -> Mark | None:
    if name not in side:
        return None
    score = side[name]
    return (name, None if score is None else score.value, None, 1)


def _interval(confusion: PairedConfusion, difference: float) -> Estimate:
    stderr, (_, effective) = confusion.stderr(), confusion.units
    if stderr**2 < _NO_SPREAD:
        return Estimate(difference, confusion.n)
    low, high = t_interval(difference, stderr, max(1.0, effective - 1))
    method = "clustered-delta" if confusion.is_clustered else "delta"
    return Estimate(difference, confusion.n, stderr, max(-1.0, low), min(1.0, high), method)
