"""So many samples of each part of a benchmark: one entry of the plan for each language, or for each category."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.choice import Chosen
from proctor.planner.reading import Reading

MOST_PARTS = 12
"""So many entries of one benchmark at most; a plan with more of them is written as a file."""


def divided(chosen: Sequence[Chosen], reading: Reading, catalogue: PlannerCatalogue) -> list[Chosen]:
    """The benchmarks, each of them in its parts where a size is said of each part."""
    each = reading.sizes[0].each if len(reading.sizes) == 1 else ""
    found: list[Chosen] = []
    for item in chosen:
        parts = _parts(item, each, reading, catalogue, is_alone=len(chosen) == 1) if each else []
        if 1 < len(parts) <= MOST_PARTS:
            found += [Chosen(item.benchmark, {**item.where, "category": [part]}, item.at) for part in parts]
        else:
            found.append(item)
    return found


def _parts(item: Chosen, each: str, reading: Reading, catalogue: PlannerCatalogue, *, is_alone: bool) -> list[str]:
    """The languages or categories that are asked of a benchmark; none where `each` is said of something else."""
    benchmark = catalogue.benchmark(item.benchmark)
    if benchmark is None:
        return []
    kept = item.where.get("category", list(benchmark.categories))
    is_by_language = bool(kept) and set(kept) <= set(benchmark.languages)
    if each == "language":
        return kept if is_by_language else []
    if each == "category":
        return kept
    is_named = len(kept) == len(reading.languages if is_by_language else reading.categories)
    return kept if is_alone and is_named and "category" in item.where else []
