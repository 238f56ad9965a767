"""A plan and a sentence that changes it: only what is said changes, and what changed is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from msgspec import Struct

from proctor.domain.errors import UserError
from proctor.domain.text import shorten
from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.choice import Chosen
from proctor.planner.drafting import Drafted, Values, draft
from proctor.planner.phrases import Understood
from proctor.planner.reading import Reading

Change = tuple[str, Any, Any]


class Refined(Struct):
    drafted: Drafted
    changes: list[Change]


def refine(reading: Reading, catalogue: PlannerCatalogue, base: Mapping[str, Any]) -> Refined:
    """The plan `base` with what the query says; what it does not speak of stays as it is."""
    values: Values = deepcopy(dict(base))
    is_adding = any(item.kind == "difference" for item in reading.phrases.items)
    removed = _removed(reading)
    drafted = draft(reading, catalogue, is_change=True)
    if reading.models:
        given = [] if not is_adding else _as_list(values["models"])
        values["models"] = [*given, *(name for name in reading.models if name not in given)]
    if removed:
        kept = [item for item in _as_list(values["models"]) if _name(item, "model") not in removed]
        benchmarks = [item for item in _as_list(values["benchmarks"]) if _name(item, "benchmark") not in removed]
        if not kept or not benchmarks:
            raise UserError("That would leave a plan without any model or benchmark.")
        values |= {"models": kept, "benchmarks": benchmarks}
    names_benchmarks = bool(
        reading.benchmarks or reading.subjects or reading.languages or reading.groups or reading.categories
    )
    if names_benchmarks:
        _change_benchmarks(values, drafted, is_adding=is_adding)
    _change_entries(values, reading, catalogue)
    for name in ("epochs", "seed", "cache", "batch", "offline", "until", "judge", "matrix"):
        if name in drafted.values and (name != "judge" or reading.judge):
            values[name] = drafted.values[name]
    for name in ("sampling", "limits"):
        if name in drafted.values:
            values[name] = {**(values.get(name) or {}), **drafted.values[name]}
    drafted.assumed = [one for one in drafted.assumed if _still_holds(one.field, reading, names_benchmarks)]
    if not names_benchmarks:
        drafted.alternatives = []
    drafted.values = values
    drafted.understood = [_placed(one, values) for one in drafted.understood]
    before, after = dict(_flat(dict(base))), dict(_flat(values))
    if before == after and not reading.phrases.understood:
        raise UserError(f"Nothing of {shorten(reading.phrases.text, 80)!r} changes this plan.")
    names = [*before, *(name for name in after if name not in before)]
    changes = [(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)]
    return Refined(drafted, changes)


def _placed(one: Understood, values: Values) -> Understood:
    """What set a model, at the place that the model has in the changed plan."""
    names = [_name(item, "model") for item in _as_list(values["models"])]
    if one.field.startswith("models[") and one.value in names:
        return Understood(one.text, f"models[{names.index(str(one.value))}]", one.value)
    return one


def _still_holds(name: str, reading: Reading, names_benchmarks: bool) -> bool:
    if name.startswith("models"):
        return bool(reading.models)
    if name.startswith("benchmarks["):
        return bool(reading.sizes)
    return names_benchmarks or name != "benchmarks"


def _removed(reading: Reading) -> set[str]:
    """Models and benchmarks that the query takes out: behind `remove`, or behind `without`."""
    phrases, found = reading.phrases, set(reading.excluded_benchmarks)
    found |= {one.value for one in phrases.understood if one.field == "models.except"}
    for at, item in enumerate(phrases.items):
        follows = phrases.items[at + 1 : at + 3] if item.kind == "remove" else []
        named = next((one for one in follows if one.kind in ("model", "benchmark", "bench")), None)
        if named is not None:
            found.add(named.value)
            reading.models[:] = [name for name in reading.models if name != named.value]
            reading.benchmarks[:] = [pair for pair in reading.benchmarks if pair[0] != named.value]
            phrases.use(at)
    return found


def _change_benchmarks(values: Values, drafted: Drafted, *, is_adding: bool) -> None:
    given = _as_list(values["benchmarks"])
    chosen: list[Chosen] = drafted.choice.chosen
    known = {_name(item, "benchmark"): item for item in given}
    new = [
        known.get(item.benchmark, entry) if not item.where else entry
        for item, entry in zip(chosen, drafted.values["benchmarks"], strict=True)
    ]
    if is_adding:
        new = [*given, *(item for item in new if _name(item, "benchmark") not in known)]
    values["benchmarks"] = new


def _change_entries(values: Values, reading: Reading, catalogue: PlannerCatalogue) -> None:
    """Sizes, shots and variants, of every benchmark of the plan."""
    changed: Values = {name: reading.options[name] for name in ("shots", "variant") if name in reading.options}
    entries = []
    for item in _as_list(values["benchmarks"]):
        entry = dict(item) if isinstance(item, Mapping) else {"benchmark": item}
        entry |= changed
        if reading.sizes:
            fresh = _limit_for(reading, catalogue, entry)
            if fresh is not None:
                entry["limit"] = fresh
        entries.append(entry if len(entry) > 1 else entry["benchmark"])
    values["benchmarks"] = entries


def _limit_for(reading: Reading, catalogue: PlannerCatalogue, entry: Values) -> int | None:
    from proctor.planner.drafting import limit_of

    return limit_of(reading, Chosen(entry["benchmark"], entry.get("where", {})), catalogue)


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _name(item: Any, key: str) -> str:
    return str(item[key]) if isinstance(item, Mapping) else str(item)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _flat(part, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from _flat(part, f"{path}[{index}]")
    else:
        yield path, value
