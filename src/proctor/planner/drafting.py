"""From what a query says to a plan: what was said, what had to be assumed and why, and what else it could mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, field

from proctor.domain.errors import UserError
from proctor.planner.catalogue import CatalogueBenchmark, PlannerCatalogue
from proctor.planner.choice import DEFAULT, Choice, Chosen, choose_benchmarks
from proctor.planner.effects import sizes_without_effect, without_effect
from proctor.planner.limits import GENERATED, count_of, limits_of
from proctor.planner.parts import divided, undivided
from proctor.planner.phrases import Understood
from proctor.planner.reader import not_understood
from proctor.planner.reading import Reading, Unsupported
from proctor.planner.refusals import READ_IN, foreign_script, refuse_nothing
from proctor.planner.slots.options import SAMPLING
from proctor.planner.suggestions import suggestions

USUAL_LIMIT = 100

ANSWER_TOKENS = 2048
"""The longest answer that is assumed where a cost limit needs one."""

Values = dict[str, Any]


class Assumed(Struct, frozen=True):
    field: str
    value: Any
    why: str


class Drafted(Struct):
    """A plan's values and everything that is said beside them."""

    values: Values
    reading: Reading
    choice: Choice
    understood: list[Understood] = field(default_factory=list)
    assumed: list[Assumed] = field(default_factory=list)
    alternatives: list[Values] = field(default_factory=list)
    unsupported: list[Unsupported] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def not_understood(self) -> list[str]:
        return not_understood(self.reading)


def draft(reading: Reading, catalogue: PlannerCatalogue, *, is_change: bool = False) -> Drafted:
    """The plan that a query means; a UserError where it contradicts itself."""
    if not is_change:
        refuse_nothing(reading, catalogue)
    choice = choose_benchmarks(reading, catalogue)
    if not choice.chosen and is_change:
        choice.chosen = [Chosen(DEFAULT)]  # what a plan loses says nothing of what it has
    if not choice.chosen:
        left_out = ", ".join(dict.fromkeys(reading.excluded_benchmarks))
        raise UserError(f"The query leaves out every benchmark that it names ({left_out}): name one to run.")
    told = [] if is_change else undivided(choice.chosen, reading, catalogue)
    if not is_change:
        choice.chosen = divided(choice.chosen, reading, catalogue)
    _read_variant(reading, choice, catalogue)
    drafted = Drafted({}, reading, choice, unsupported=list(reading.unsupported))
    _assume_spelling(drafted)
    _put_models(drafted, catalogue)
    drafted.values["benchmarks"] = _entries(drafted, catalogue, choice.chosen, is_told=True)
    for name, why in choice.reasons:
        drafted.assumed.append(Assumed("benchmarks", name, why))
    _put_options(drafted, catalogue)
    _put_sizes_understood(drafted)
    if not is_change:
        drafted.unsupported += without_effect(drafted.understood, choice, catalogue)
    drafted.unsupported += sizes_without_effect(reading) + told
    _add_alternatives(drafted, catalogue)
    _note_missing_keys(drafted, catalogue)
    _check_rules(drafted)
    drafted.notes += suggestions(reading.phrases, drafted.not_understood, choice.chosen, catalogue)
    return drafted


def _read_variant(reading: Reading, choice: Choice, catalogue: PlannerCatalogue) -> None:
    """`zero-shot` is a variant where every benchmark that is meant has one of this name."""
    known = [catalogue.benchmark(item.benchmark) for item in choice.chosen]
    has_variant = all(item is not None and "zero-shot" in item.variants for item in known)
    is_written = re.search(r"zero[ -]?shot", reading.phrases.text, re.IGNORECASE)
    if has_variant and is_written and reading.options.get("shots") == 0 and "variant" not in reading.options:
        del reading.options["shots"]
        reading.options["variant"] = "zero-shot"
        reading.phrases.understood[:] = [
            Understood(one.text, "benchmarks.variant", "zero-shot") if one.field == "benchmarks.shots" else one
            for one in reading.phrases.understood
        ]


def _assume_spelling(drafted: Drafted) -> None:
    for written, name in drafted.reading.corrections:
        drafted.assumed.append(Assumed("query", name, f"{written!r} is no name here; {name!r} is one letter away"))
    if drafted.reading.budget_without_currency:
        why = "no currency is named: a budget is in US dollars, as prices are"
        drafted.assumed.append(Assumed("limits.cost_usd", float(drafted.reading.cost_usd or 0), why))
    for low, high in drafted.reading.ranges:
        drafted.assumed.append(Assumed("query", high, f"between {low:g} and {high:g}: the upper end is taken"))
    phrases = drafted.reading.phrases
    for at in sorted(phrases.used):
        if (taken := phrases.items[at].means("vague")) is not None:
            drafted.assumed.append(
                Assumed("query", int(taken), f"{phrases.words(at)!r} names no number: it is taken as this")
            )
    for name in drafted.reading.unlisted:
        drafted.assumed.append(Assumed("models", name, "no list here has it: it is taken as it is written"))


def _put_models(drafted: Drafted, catalogue: PlannerCatalogue) -> None:
    reading = drafted.reading
    names = list(reading.models)
    for name, why in dict.fromkeys(reading.model_notes):
        if name in names or name in reading.judge:
            drafted.assumed.append(Assumed("models" if name in names else "judge", name, why))
    if not names:
        is_comparison = reading.then is not None or reading.until == "decided"
        names = catalogue.small(catalogue.keys)[: 2 if is_comparison else 1]
        why = "no model is named; the newest small model of a provider whose key is set"
        if not names:
            names, why = [catalogue.local], "no model is named and no key of a provider is set; this one needs none"
        drafted.assumed += [Assumed("models", name, why) for name in names]
    drafted.values["models"] = names


def _put_options(drafted: Drafted, catalogue: PlannerCatalogue) -> None:
    reading, values = drafted.reading, drafted.values
    options = reading.options
    for name in ("epochs", "seed", "cache", "batch", "offline"):
        if name in options:
            values[name] = options[name]
    sampling = {name: options[name] for name in SAMPLING if name in options}
    limits: Values = {}
    if reading.cost_usd is not None:
        limits["cost_usd"] = _plain(float(reading.cost_usd))
        if "max_tokens" not in sampling and _needs_bound(drafted, catalogue):
            sampling["max_tokens"] = ANSWER_TOKENS
            why = "a cost limit holds only where the longest answer is known"
            drafted.assumed.append(Assumed("sampling.max_tokens", ANSWER_TOKENS, why))
    if reading.minutes is not None:
        limits["minutes"] = reading.minutes
    if "concurrency" in options:
        limits["concurrency"] = options["concurrency"]
    if reading.vary:
        values["matrix"] = dict(reading.vary)
    if reading.until:
        values["until"] = reading.until
    values |= {name: part for name, part in (("sampling", sampling), ("limits", limits)) if part}
    _put_judge(drafted, catalogue)


def _needs_bound(drafted: Drafted, catalogue: PlannerCatalogue) -> bool:
    known = [catalogue.benchmark(item.benchmark) for item in drafted.choice.chosen]
    is_free = all(
        name.partition("/")[0] in ("local", "demo", "ollama", "vllm", "python") for name in drafted.values["models"]
    )
    return not is_free and any(item is not None and item.max_tokens is None for item in known)


def _put_judge(drafted: Drafted, catalogue: PlannerCatalogue) -> None:
    reading = drafted.reading
    judge = list(reading.judge)
    asking = [item.benchmark for item in drafted.choice.chosen if _needs_judge(catalogue, item.benchmark)]
    if not judge and asking:
        asked = {name.partition("/")[0] for name in drafted.values["models"]}
        houses = sorted(catalogue.keys or ("openai",), key=lambda house: house in asked)
        name = next((found for found in map(catalogue.flagship, houses) if found), None)
        if name is not None:
            judge = [name]
            drafted.assumed.append(Assumed("judge", name, f"{asking[0]} is marked by a judge and none is named"))
    if judge and not asking:
        why = f"no benchmark of the plan is marked by a judge ({', '.join(i.benchmark for i in drafted.choice.chosen)})"
        drafted.unsupported.append(Unsupported("judge", why))
    if judge:
        drafted.values["judge"] = judge


def _needs_judge(catalogue: PlannerCatalogue, name: str) -> bool:
    benchmark = catalogue.benchmark(name)
    return benchmark is not None and benchmark.needs_judge


def _entries(
    drafted: Drafted, catalogue: PlannerCatalogue, chosen: Sequence[Chosen], *, is_told: bool = False
) -> list[Any]:
    """The benchmarks as a plan file writes them, with filters, sizes and what is said of how they are asked."""
    limits = limits_of(drafted.reading, catalogue, chosen)
    found = []
    for index, item in enumerate(chosen):
        benchmark = catalogue.benchmark(item.benchmark) or CatalogueBenchmark(item.benchmark)
        entry: Values = {"benchmark": item.benchmark}
        if item.where:
            entry["where"] = {name: list(words) for name, words in item.where.items()}
        _put_limit(drafted, entry, benchmark, limits[index], index, is_told)
        _put_manner(drafted, entry, benchmark, is_told)
        found.append(entry if len(entry) > 1 else item.benchmark)
    return found


def _put_limit(
    drafted: Drafted, entry: Values, benchmark: CatalogueBenchmark, limit: int | None, index: int, is_told: bool
) -> None:
    there = count_of(benchmark, entry.get("where", {}))
    if benchmark.samples is None and limit is not None and limit > GENERATED and not benchmark.categories:
        entry["count"] = limit
        return
    if limit is not None:
        entry["limit"] = limit
        if there is not None and limit > there and is_told:
            drafted.notes.append(f"{benchmark.name} has {there:,} such samples, fewer than {limit:,}: all are asked.")
        return
    if drafted.reading.wants_all or drafted.reading.until or (there is not None and there <= USUAL_LIMIT):
        return
    if benchmark.needs_sandbox and benchmark.name == "requirements":
        return
    entry["limit"] = USUAL_LIMIT
    if is_told:
        size = "all" if there is None else f"all {there:,}"
        why = f"no size is named; {size} would cost more, and a seed draws the same {USUAL_LIMIT} again"
        drafted.assumed.append(Assumed(f"benchmarks[{index}].limit", USUAL_LIMIT, why))


def _put_manner(drafted: Drafted, entry: Values, benchmark: CatalogueBenchmark, is_told: bool) -> None:
    options, reading = drafted.reading.options, drafted.reading
    refused: list[tuple[str, str]] = []
    if "shots" in options:
        if benchmark.has_examples:
            entry["shots"] = options["shots"]
        elif options["shots"]:
            refused.append((f"{options['shots']} shots", f"{benchmark.name} has no worked examples to show"))
    if "variant" in options:
        if options["variant"] in benchmark.variants:
            entry["variant"] = options["variant"]
        else:
            named = ", ".join(benchmark.variants) or "none"
            refused.append((str(options["variant"]), f"{benchmark.name} has no such variant (it has: {named})"))
    if reading.levels:
        if benchmark.samples is None:
            entry["level"] = reading.levels
        elif benchmark.name != "math":
            refused.append((f"level {reading.levels}", f"{benchmark.name} has no levels"))
    if "shots" in reading.vary and not benchmark.has_examples:
        refused.append(("shots", f"{benchmark.name} has no worked examples to show"))
    if is_told:
        drafted.unsupported += [Unsupported(text, why) for text, why in refused]


def _put_sizes_understood(drafted: Drafted) -> None:
    """What sizes set, now that it is known of which benchmarks; other fields get their place in the plan."""
    reading = drafted.reading
    places: dict[str, int] = {}
    for index, item in enumerate(drafted.choice.chosen):
        places.setdefault(item.benchmark, index)
    is_one = len(drafted.choice.chosen) == 1
    whole = "benchmarks[0]" if is_one else "benchmarks[*]"
    for name, at in reading.benchmarks:
        plain = name.removeprefix("?")
        if plain in places and not any(one.value == plain for one in drafted.understood):
            drafted.understood.append(Understood(reading.phrases.words(at), f"benchmarks[{places[plain]}]", plain))
    for one in reading.phrases.understood:
        name = one.field
        for part in ("benchmarks.shots", "benchmarks.variant", "where.category", "level"):
            if name == part:
                name = f"{whole}.{part.removeprefix('benchmarks.')}"
        drafted.understood.append(Understood(one.text, name, one.value))
    entries = [entry if isinstance(entry, dict) else {} for entry in drafted.values["benchmarks"]]
    limits = [entry.get("limit", entry.get("count")) for entry in entries]
    named = sorted((item for item in drafted.choice.chosen if item.at is not None), key=lambda item: item.at or 0)
    for index, size in enumerate(sorted(reading.sizes, key=lambda size: size.at)):
        is_own = len(reading.sizes) > 1 and len(reading.sizes) == len(named)
        is_own = is_own and not any(one.is_total for one in reading.sizes)
        place = places[named[index].benchmark] if is_own else 0
        text = reading.phrases.words(*_around(reading, size.at))
        drafted.understood.append(
            Understood(text, f"benchmarks[{place}].limit" if is_own else f"{whole}.limit", limits[place])
        )
        if not size.has_unit:
            drafted.assumed.append(
                Assumed(f"{whole}.limit", limits[place], f"{text} has no unit: it is taken as samples")
            )
        if size.kind == "points":
            why = f"what shows {size.value:g} points between two models, at worst (proctor power)"
            drafted.assumed.append(Assumed(f"{whole}.limit", limits[place], why))
        if size.kind == "quick":
            drafted.assumed.append(Assumed(f"{whole}.limit", limits[place], f"a quick look is {size.value} samples"))


def _around(reading: Reading, at: int) -> list[int]:
    """A size with its unit."""
    phrases, places = reading.phrases, [at]
    for step in (-1, 1):
        near = at + step
        while 0 <= near < len(phrases.items) and phrases.items[near].kind in (
            "sample",
            "percent",
            "only",
            "points",
            "see",
            "each",
        ):
            places.append(near)
            near += step
    return sorted(places)


def _add_alternatives(drafted: Drafted, catalogue: PlannerCatalogue) -> None:
    for chosen in drafted.choice.alternatives:
        drafted.alternatives.append({**drafted.values, "benchmarks": _entries(drafted, catalogue, chosen)})
    for low, high in drafted.reading.ranges:  # the lower end is near, too
        entries = [
            {**entry, "limit": int(low)} if isinstance(entry, dict) and entry.get("limit") == high else entry
            for entry in drafted.values["benchmarks"]
        ]
        if low >= 1 and entries != drafted.values["benchmarks"]:
            drafted.alternatives.append({**drafted.values, "benchmarks": entries})


def _note_missing_keys(drafted: Drafted, catalogue: PlannerCatalogue) -> None:
    if other := foreign_script(drafted.reading):
        drafted.notes.append(f"Words in a script that is not read here changed nothing ({other}): {READ_IN}.")
    asked = [str(name) for name in (*drafted.values["models"], *drafted.values.get("judge", ()))]
    for house in dict.fromkeys(name.partition("/")[0] for name in asked):
        if house in ("openai", "anthropic", "google") and house not in catalogue.keys:
            drafted.notes.append(
                f"No key of {house} is set here: a run needs it ('proctor models' names the variable)."
            )


def _check_rules(drafted: Drafted) -> None:
    reading = drafted.reading
    if reading.until and int(reading.options.get("epochs", 1)) > 1:
        raise UserError("The query wants several epochs and a stop rule; a stop rule counts samples, each asked once.")
    if reading.until == "decided" and len(drafted.values["models"]) < 2:
        raise UserError("'Until it is decided' compares models: name at least two.")
    if reading.vary.get("shots") and any(isinstance(e, dict) and "shots" in e for e in drafted.values["benchmarks"]):
        raise UserError("The query says shots twice: as one number, and as several to compare.")


def _plain(value: float) -> float | int:
    return int(value) if value.is_integer() else value
