"""What of a reading has an effect on the plan: a phrase that was read and changes nothing is told as such."""

from __future__ import annotations

import re
from collections.abc import Sequence

from proctor.planner.catalogue import CatalogueBenchmark, PlannerCatalogue
from proctor.planner.choice import SUBJECT_OF, Choice, members
from proctor.planner.names import squash
from proctor.planner.phrases import Understood
from proctor.planner.reading import Reading, Unsupported
from proctor.planner.slots.topics import GROUPS

_FIRST = (
    r"(?:first|erste[nr]?|primer[oa]s|premi[eè]re?s|最初の|先頭の|앞에서부터|앞에서|처음|前)\s*$",
    r"\s*(?:primer[oa]s|premi[eè]re?s)\b",
)


def without_effect(understood: list[Understood], choice: Choice, catalogue: PlannerCatalogue) -> list[Unsupported]:
    """Topics of the query that the plan does not follow; they are taken out of what was understood."""
    idle = [one for one in understood if not _acts(one, choice, catalogue)]
    understood[:] = [one for one in understood if one not in idle]
    named = ", ".join(item.benchmark for item in choice.chosen)
    left_out = f"there is none of it to leave out in {named}"
    kept = f"{named} cannot be narrowed to it"
    return [Unsupported(one.text, left_out if one.field.endswith(".except") else kept) for one in idle]


def _acts(one: Understood, choice: Choice, catalogue: PlannerCatalogue) -> bool:
    name = one.field.removesuffix(".except")
    kind, value = name.rpartition(".")[2], str(one.value)
    if kind not in ("subject", "language", "category", "form") or any(
        value in (g.subject, g.language) for g in choice.gaps
    ):
        return True
    benchmarks = [(item, catalogue.benchmark(item.benchmark)) for item in choice.chosen]
    known = [(item.where.get("category", ()), benchmark) for item, benchmark in benchmarks if benchmark is not None]
    if len(known) < len(benchmarks):
        return True
    if one.field.endswith(".except"):
        return kind == "subject" or any(_has(benchmark, kind, value) for _, benchmark in known)
    return any(_is_of(benchmark, where, kind, value) for where, benchmark in known)


def _has(benchmark: CatalogueBenchmark, kind: str, value: str) -> bool:
    """Whether a benchmark has samples that could be left out."""
    if kind == "language":
        return value in benchmark.languages or benchmark.tags.get("language") != value
    return bool(_categories(benchmark, value)) or not benchmark.categories


def _is_of(benchmark: CatalogueBenchmark, where: Sequence[str], kind: str, value: str) -> bool:
    """Whether what is asked of a benchmark is of this subject, language, category or form."""
    if kind == "subject":
        return value in (benchmark.tags.get("subject"), SUBJECT_OF.get(benchmark.name)) or bool(where)
    if kind == "category":
        wanted = _categories(benchmark, value)
        return bool(wanted and wanted & set(where or wanted)) or len(benchmark.categories) == 1
    if kind == "language":
        return value == benchmark.tags.get("language") or value in benchmark.languages
    return value == benchmark.tags.get(kind)


def _categories(benchmark: CatalogueBenchmark, value: str) -> set[str]:
    """The categories of a benchmark that a field or a category's name means."""
    if value in GROUPS:
        return set(members(benchmark, value))
    wanted = squash(value)
    return {name for name in benchmark.categories if wanted in (squash(name), squash(f"high_school_{name}"))}


def sizes_without_effect(reading: Reading) -> list[Unsupported]:
    """What is said of sizes and no plan can hold: the first samples."""
    phrases, told = reading.phrases, list[Unsupported]()
    for size in reading.sizes:
        item = phrases.items[size.at]
        before = re.search(_FIRST[0], phrases.text[: item.start].lower())
        behind = re.match(_FIRST[1], phrases.text[item.end :].lower())
        if size.kind == "count" and (before or behind):
            word = (before or behind)[0].strip()  # type: ignore[index]
            told.append(Unsupported(word, "a size draws samples by the seed, the same ones again, not the first"))
    return told
