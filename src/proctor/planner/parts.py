"""So many samples of each part of a benchmark: one entry of the plan for each language, or for each category."""

from __future__ import annotations

from collections.abc import Sequence

from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.choice import Chosen
from proctor.planner.reading import Reading, Unsupported

MAX_PARTS = 12
"""So many entries of one benchmark at most; a plan with more of them is written as a file."""


def divided(chosen: Sequence[Chosen], reading: Reading, catalogue: PlannerCatalogue) -> list[Chosen]:
    """The benchmarks, each of them in its parts where a size is said of each part."""
    each = reading.sizes[0].each if len(reading.sizes) == 1 else ""
    found: list[Chosen] = []
    for item in chosen:
        parts = _parts(item, each, reading, catalogue, is_alone=len(chosen) == 1) if each else []
        if 1 < len(parts) <= MAX_PARTS:
            found += [Chosen(item.benchmark, {**item.where, "category": [part]}, item.at) for part in parts]
        else:
            found.append(item)
    return found


def undivided(chosen: Sequence[Chosen], reading: Reading, catalogue: PlannerCatalogue) -> list[Unsupported]:
    """A size of each language or category that no benchmark of the plan can be divided by."""
    phrases, each = reading.phrases, reading.sizes[0].each if len(reading.sizes) == 1 else ""
    if each not in ("language", "category"):
        return []
    counts = [len(_parts(item, each, reading, catalogue, is_alone=False)) for item in chosen]
    said = next((at for at, item in enumerate(phrases.items) if item.means("part") is not None), None)
    if said is None or any(0 < count <= MAX_PARTS for count in counts):
        return []
    why = (
        f"a size is of a whole benchmark, and is divided into {MAX_PARTS} parts at most: name the parts that are meant"
    )
    return [Unsupported(phrases.words(said), why)]


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
    named = reading.languages if is_by_language else [*reading.groups, *reading.categories]
    is_named = len(kept) == len(named)
    return kept if is_alone and is_named and "category" in item.where else []
