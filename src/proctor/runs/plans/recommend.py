"""Which benchmarks fit a need, and after a run: where to look next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from proctor.domain.documents.evaluation import EvaluationSummary
from proctor.domain.documents.recommendation import (
    Recommendations,
    RecommendedBenchmark,
    RecommendedCost,
    WeakCategory,
)
from proctor.domain.errors import UserError
from proctor.planner.catalogue import CatalogueBenchmark, PlannerCatalogue
from proctor.planner.choice import choose_benchmarks, members
from proctor.planner.languages import NAMES_OF_LANGUAGES
from proctor.planner.limits import count_of, samples_for_points
from proctor.planner.reader import not_understood, read_query
from proctor.planner.reading import Reading
from proctor.planner.slots.topics import subjects_meant
from proctor.planning.plan_file import plan_from

if TYPE_CHECKING:
    from proctor.runs.resolve import PlanContext
    from proctor.stores.database import Database

POINTS = 5.0
SHOWN = 6
MIN_SAMPLES = 5
"""Samples below which a category says nothing of its own."""
COST_SAMPLES = 100
SHORT = 4
"""Words of so few letters say nothing of what a benchmark is about."""


def recommend(query: str, catalogue: PlannerCatalogue) -> Recommendations:
    """Benchmarks that fit a description, the best first; a UserError where it describes nothing."""
    reading = read_query(query, catalogue)
    languages = list(reading.languages)
    # A benchmark that is known by name and not here says what it is about.
    subjects = sorted({*subjects_meant(reading), *(subject for _, subject in reading.absent)})
    spoken = {item.name: words for item in catalogue.benchmarks if (words := _spoken_of(item, reading))}
    if not (languages or subjects or reading.form or reading.benchmarks or reading.categories or spoken):
        raise UserError(
            "Nothing here is a language, a subject, a form or a benchmark. Try: --for 'German maths, short answers'."
        )
    is_about = bool(languages or subjects)
    scored = [
        (len(why), item, why)
        for item in catalogue.benchmarks
        if (why := _reasons(item, reading, subjects, spoken.get(item.name, [])))
        and not (is_about and why[0].startswith("its answers"))
    ]
    asked = sum(map(bool, (languages, subjects or reading.benchmarks, reading.form)))
    whole = [one for one in scored if one[0] >= asked]
    own = [one for one in scored if one[1].is_own and one not in whole]
    fitting = [*whole, *own] if whole else scored
    ranked = sorted(fitting, key=lambda one: (-one[0], not one[1].is_own, one[1].name))[:SHOWN]
    choice = choose_benchmarks(reading, catalogue)
    uncovered = [gap.sentence for gap in choice.gaps]
    uncovered += [f"there is no benchmark {text!r} here" for text, _ in reading.absent]
    if not whole and not uncovered:
        uncovered = [f"no benchmark here is all of it at once: {_asked_text(reading, subjects)}"]
    return Recommendations(
        asked={"languages": languages, "subjects": subjects, "forms": [reading.form] if reading.form else []},
        benchmarks=[_recommended(item, why, reading) for _, item, why in ranked],
        uncovered=uncovered,
        not_understood=not_understood(reading),
    )


def _asked_text(reading: Reading, subjects: Sequence[str]) -> str:
    languages = [NAMES_OF_LANGUAGES.get(name, name) for name in reading.languages]
    return ", ".join([*languages, *subjects, *([f"{reading.form} answers"] if reading.form else [])])


def _spoken_of(item: CatalogueBenchmark, reading: Reading) -> list[str]:
    """Words of the query that a project's own benchmark has in its name, its description or its categories."""
    if not item.is_own:
        return []
    said = {word for text in (item.name, item.description, *item.categories) for word in _words(text)}
    items = (one for one in reading.phrases.items if one.kind in ("unknown", "subject", "group", "category"))
    asked = dict.fromkeys(word for one in items for word in _words(reading.phrases.text[one.start : one.end]))
    return [word for word in asked if word in said]


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[^\W\d_]+", text.lower()) if len(word) > SHORT or not word.isascii()]


def _reasons(
    item: CatalogueBenchmark, reading: Reading, subjects: Sequence[str], spoken_of: Sequence[str]
) -> list[str]:
    why = []
    if spoken_of:
        why.append(f"the project's own; it speaks of {', '.join(spoken_of)}")
    spoken = [name for name in reading.languages if name in (item.tags.get("language"), *item.languages)]
    if spoken:
        why.append(f"in {', '.join(NAMES_OF_LANGUAGES.get(name, name) for name in spoken)}")
    fields = [group for group in reading.groups if members(item, group)]
    if item.name in {name.removeprefix("?") for name, _ in reading.benchmarks}:
        why.append("it is what the words name")
    elif fields:
        why.append(f"has categories for {', '.join(fields)}")
    elif item.tags.get("subject") in subjects:
        why.append(f"about {item.tags['subject']}")
    if reading.form and item.tags.get("form") == reading.form:
        why.append(f"its answers are {reading.form}")
    return why


def _recommended(item: CatalogueBenchmark, why: Sequence[str], reading: Reading) -> RecommendedBenchmark:
    words = [name for name in reading.languages if name in item.languages]
    words += [name for group in reading.groups for name in members(item, group)]
    where = {"category": sorted(words)} if words else {}
    return RecommendedBenchmark(
        benchmark=item.name,
        why=why,
        tags=dict(item.tags),
        where=where,
        samples=count_of(item, where),
        samples_for_5_points=samples_for_points(POINTS),
    )


def with_costs(
    found: Recommendations, models: Sequence[str], context: PlanContext, database: Database | None
) -> Recommendations:
    """The same with what 100 samples of each would cost, from the data where it is at hand, and from earlier runs."""
    priced = [
        replace(item, costs=[_cost(item, model, context, database) for model in models]) for item in found.benchmarks
    ]
    return replace(found, benchmarks=priced)


def _cost(item: RecommendedBenchmark, model: str, context: PlanContext, database: Database | None) -> RecommendedCost:
    from proctor.runs.plans.dry_run import estimate_run
    from proctor.runs.resolve import resolve_without_keys

    entry = {"benchmark": item.benchmark, "limit": COST_SAMPLES, **({"where": item.where} if item.where else {})}
    try:
        plan = plan_from({"models": [model], "benchmarks": [entry]})
        evaluations, _ = resolve_without_keys(plan, context)
        estimate = estimate_run(plan, evaluations, database).cost
    except UserError as error:
        return RecommendedCost(model, None, str(error))
    return RecommendedCost(model, estimate.value_usd, f"{COST_SAMPLES} samples; {estimate.basis}")


def recommend_after(reference: str, catalogue: PlannerCatalogue, database: Database) -> Recommendations:
    """Where the models of a run are weak beyond chance, and which benchmarks look closer."""
    from proctor.runs.read import read_run

    run = read_run(database, reference)
    weak = [one for item in run.evaluations for one in _weak(item)]
    names = list(dict.fromkeys(one.benchmark for one in weak))
    found = []
    for name in names:
        known = catalogue.benchmark(name)
        categories = list(dict.fromkeys(one.category for one in weak if one.benchmark == name))
        tags = dict(known.tags) if known is not None else {}
        there = None if known is None else count_of(known, {"category": categories})
        why = ["more samples of the weak categories narrow their intervals"]
        found.append(_look_closer(name, why, tags, {"category": categories}, there))
        subject = tags.get("subject")
        alike = [item for item in catalogue.benchmarks if item.tags.get("subject") == subject and item.name != name]
        reason = [f"also about {subject}: shows whether the weakness is the benchmark's own"]
        found += [_look_closer(item.name, reason, dict(item.tags), {}, item.samples) for item in alike[:2]]
    return Recommendations(asked={}, benchmarks=found, uncovered=[], not_understood=[], weak=weak)


def _look_closer(
    name: str, why: Sequence[str], tags: dict[str, str], where: dict[str, list[str]], samples: int | None
) -> RecommendedBenchmark:
    needed = samples_for_points(POINTS)
    return RecommendedBenchmark(
        benchmark=name, why=why, tags=tags, where=where, samples=samples, samples_for_5_points=needed
    )


def _weak(item: EvaluationSummary) -> list[WeakCategory]:
    """Categories whose whole interval lies below the model's value on all samples."""
    found = []
    for category, metrics in (item.categories or {}).items():
        for metric, estimate in metrics.items():
            overall = item.metrics.get(metric)
            if overall is None or overall.value is None or estimate.value is None or not estimate.ci95:
                continue
            low, high = estimate.ci95
            if estimate.n >= MIN_SAMPLES and high < overall.value:
                found.append(
                    WeakCategory(
                        item.model, item.benchmark, category, metric, estimate.value, (low, high), estimate.n,
                        overall.value,
                    )
                )  # fmt: skip
            break
    return found
