"""How many samples of each benchmark a size means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from proctor.domain.errors import UserError
from proctor.metrics.power import discordance, samples_for_paired_shares
from proctor.planner.catalogue import CatalogueBenchmark, PlannerCatalogue
from proctor.planner.choice import Chosen
from proctor.planner.reading import Reading, Size

GENERATED = 200
"""Samples that a generated benchmark has when no count is given."""


def count_of(benchmark: CatalogueBenchmark, where: Mapping[str, Sequence[str]]) -> int | None:
    """How many samples a filter on categories leaves; None where it is not known."""
    if benchmark.samples is None or set(where) - {"category"}:
        return None
    if "category" not in where:
        return benchmark.samples
    return sum(benchmark.categories.get(name, 0) for name in where["category"])


def limits_of(reading: Reading, catalogue: PlannerCatalogue, chosen: Sequence[Chosen]) -> list[int | None]:
    """How many samples of each benchmark are meant; None of one of which none is said."""
    sizes = reading.sizes
    if not sizes:
        return [None] * len(chosen)
    if whole := _whole(reading, chosen):
        rest = limits_of(reading, catalogue, [item for item in chosen if item not in whole])
        return [None if item in whole else rest.pop(0) for item in chosen]
    named = sorted((item for item in chosen if item.at is not None), key=lambda item: item.at or 0)
    if len(sizes) > 1 and len(sizes) == len(named) and not any(size.is_total for size in sizes):
        pairs = zip(named, sorted(sizes, key=lambda size: size.at), strict=True)
        own = {item.benchmark: _count(size, item, catalogue) for item, size in pairs}
        return [own.get(item.benchmark) for item in chosen]
    sizes = _without_sum(sizes, len(chosen), len(reading.models))
    meant = {(size.kind, size.value) for size in sizes}
    if len(meant) > 1 and any(size.has_unit for size in sizes) and not all(size.has_unit for size in sizes):
        sizes = [size for size in sizes if size.has_unit]
        meant = {(size.kind, size.value) for size in sizes}
    if len(meant) > 1:
        said = " and ".join(reading.phrases.words(size.at) for size in sizes)
        raise UserError(
            f"The query names several sizes ({said}) and does not say which is of what: say one for each benchmark."
        )
    size = sizes[0]
    if size.is_total:
        return [max(1, math.ceil(size.value / len(chosen)))] * len(chosen)
    return [_count(size, item, catalogue) for item in chosen]


def _whole(reading: Reading, chosen: Sequence[Chosen]) -> list[Chosen]:
    """`40 of gsm8k and all of aime24`: those asked whole, where each size stands nearer to another one."""
    whole = [item for item in chosen if item.at in reading.whole]
    places = [item.at for item in chosen if item.at is not None]
    if not whole or len(whole) == len(chosen):
        return []
    nearest = [_nearest(size.at, places, reading.whole) for size in reading.sizes]
    return [] if any(at in reading.whole for at in nearest) else whole


def _nearest(size: int, places: Sequence[int], whole: Sequence[int]) -> int:
    return min(places, key=lambda at: (abs(at - size), at in whole))


def _without_sum(sizes: list[Size], benchmarks: int, models: int) -> list[Size]:
    """`50 each, 100 in total`: a total that is the sum of what is said of each says nothing more."""
    each = [size for size in sizes if not size.is_total]
    sums = {float(each[0].value) * part for part in (benchmarks, models, benchmarks * models)} if each else set()
    is_sum = len(each) == 1 and all(float(size.value) in sums for size in sizes if size.is_total)
    return each if is_sum else sizes


def _count(size: Size, item: Chosen, catalogue: PlannerCatalogue) -> int:
    if size.kind in ("count", "quick"):
        return int(size.value)
    if size.kind == "points":
        return samples_for_points(float(size.value))
    benchmark = catalogue.benchmark(item.benchmark)
    there = GENERATED if benchmark is None else (count_of(benchmark, item.where) or benchmark.samples or GENERATED)
    return max(1, math.ceil(round(there * float(size.value), 6)))


def limit_of(reading: Reading, item: Chosen, catalogue: PlannerCatalogue) -> int | None:
    """The size that a query says, for one benchmark; the one nearest to it where there are several."""
    return _count(reading.sizes[-1], item, catalogue) if reading.sizes else None


def samples_for_points(points: float) -> int:
    """Samples that show a difference of so many percentage points between two models, at worst, as `proctor power`."""
    difference = points / 100
    accuracy = 0.5 - difference / 2
    return samples_for_paired_shares(difference, discordance(accuracy, accuracy + difference, 0.0))
