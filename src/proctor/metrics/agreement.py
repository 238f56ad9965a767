"""How far judges agree beyond chance. None means undefined: there was nothing to agree or disagree on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import accumulate, pairwise
from math import fsum
from random import Random
from typing import Literal, TypeVar

Label = TypeVar("Label", bound=Hashable)


def cohen_kappa(
    a: Sequence[Label], b: Sequence[Label], *, weights: Literal["linear", "quadratic"] | None = None
) -> float | None:
    """Cohen's kappa of two judges; with weights, labels are ordered and near misses count less."""
    if len(a) != len(b):
        raise ValueError(f"both judges must rate the same items, not {len(a)} and {len(b)}")
    if not a:
        return None
    pairs, left, right = Counter(zip(a, b, strict=True)), Counter(a), Counter(b)
    labels = {*left, *right}
    places = {label: i for i, label in enumerate(sorted(labels, key=_order) if weights else labels)}

    def penalty(x: Label, y: Label) -> float:
        gap = abs(places[x] - places[y])
        return float(gap > 0) if weights is None else float(gap if weights == "linear" else gap * gap)

    observed = fsum(count * penalty(x, y) for (x, y), count in pairs.items()) / len(a)
    expected = fsum(left[x] * right[y] * penalty(x, y) for x in left for y in right) / len(a) ** 2
    return 1 - observed / expected if expected else None


def _order(label: object) -> tuple[str, object]:
    """Numbers in their order, other labels by kind and then in theirs."""
    return ("", label) if isinstance(label, int | float) else (type(label).__name__, label)


def fleiss_kappa(ratings: Iterable[Sequence[Label]]) -> float | None:
    """Fleiss' kappa: each item rated by the same number of judges, not necessarily the same ones."""
    totals: Counter[Label] = Counter()
    items, judges, agreed = 0, 0, 0
    for rating in ratings:
        if items and len(rating) != judges:
            raise ValueError(f"each item needs {judges} ratings, not {len(rating)}; see krippendorff_alpha")
        items, judges = items + 1, len(rating)
        counts = Counter(rating)
        agreed += sum(count * (count - 1) for count in counts.values())
        totals += counts
    if not items or judges < 2:
        return None
    observed = agreed / (items * judges * (judges - 1))
    expected = fsum((count / (items * judges)) ** 2 for count in totals.values())
    return (observed - expected) / (1 - expected) if len(totals) > 1 else None


Level = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(units: Iterable[Sequence[Label | None]], level: Level = "nominal") -> float | None:
    """Krippendorff's alpha: any number of judges, missing ratings (None) allowed.

    At the ordinal and interval level labels are numbers.
    """
    totals: Counter[Label] = Counter()
    shares: dict[tuple[Label, Label], float] = {}
    for unit in units:
        counts = Counter(label for label in unit if label is not None)
        raters = counts.total()
        if raters < 2:
            continue
        totals += counts
        for x in counts:
            for y in counts:
                if x != y:
                    shares[x, y] = shares.get((x, y), 0.0) + counts[x] * counts[y] / (raters - 1)
    if len(totals) < 2:
        return None
    distance = _distance(totals, level)
    observed = fsum(share * distance(x, y) for (x, y), share in shares.items())
    expected = fsum(totals[x] * totals[y] * distance(x, y) for x in totals for y in totals)
    return 1 - (totals.total() - 1) * observed / expected


def _distance(totals: Counter[Label], level: Level) -> Callable[[Label, Label], float]:
    if level == "nominal":
        return lambda x, y: float(x != y)
    numbers = {label: _number(label) for label in totals}
    if level == "ordinal":
        ordered = sorted(totals, key=numbers.__getitem__)
        # The place of a label is the middle of its block when all ratings stand in one queue.
        steps = ((totals[x] + totals[y]) / 2 for x, y in pairwise(ordered))
        numbers = dict(zip(ordered, accumulate(steps, initial=0.0), strict=True))
    elif level != "interval":
        raise ValueError(f"no level {level!r}; it is one of nominal, ordinal, interval")
    return lambda x, y: (numbers[x] - numbers[y]) ** 2


def _number(label: object) -> float:
    if not isinstance(label, int | float):
        raise ValueError(f"ordinal and interval ratings are numbers, not {label!r}")
    return float(label)


DRAWS = 4_000
_SEED = 20_230_119


def kappa_interval(both: int, first: int, second: int, neither: int) -> tuple[float, float] | None:
    """95 % interval of Cohen's kappa of two judges who say yes or no: how often both did, either alone, neither.

    It is the credible interval under Jeffreys' prior, which judges who agreed every time do not shrink to nothing. None
    where kappa itself is undefined.
    """
    counts = (both, first, second, neither)
    kappa = _kappa_of(*counts)
    if kappa is None:
        return None
    random = Random(_SEED)
    found = sorted(
        drawn
        for _ in range(DRAWS)
        if (drawn := _kappa_of(*(random.gammavariate(count + 0.5, 1.0) for count in counts))) is not None
    )
    edge = len(found) // 40
    return min(found[edge], kappa), max(found[-1 - edge], kappa)


def _kappa_of(both: float, first: float, second: float, neither: float) -> float | None:
    total = both + first + second + neither
    if not total:
        return None
    a, b = (both + first) / total, (both + second) / total
    expected = a * b + (1 - a) * (1 - b)
    return None if expected == 1 else ((both + neither) / total - expected) / (1 - expected)
