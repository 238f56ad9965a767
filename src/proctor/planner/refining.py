"""A plan and a sentence that changes it: only what is said changes, and what changed is told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from msgspec import Struct

from proctor.domain.errors import UserError
from proctor.domain.text import shorten
from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.choice import Chosen
from proctor.planner.drafting import Drafted, Values, draft
from proctor.planner.limits import limit_of
from proctor.planner.parts import divided
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
    _swap(values, reading, removed)
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
    given = [_name(item, "benchmark") for item in _as_list(values["benchmarks"])]
    if names_benchmarks:
        _change_benchmarks(values, drafted, is_adding=is_adding)
    said = {item.benchmark for item in drafted.choice.chosen} if names_benchmarks else set()
    new = said - set(given)
    _change_entries(values, reading, catalogue, only=(new or said) if is_adding or not new else set())
    for name in ("epochs", "seed", "cache", "batch", "offline", "until", "judge", "matrix"):
        if name in drafted.values and (name != "judge" or reading.judge):
            values[name] = drafted.values[name]
    for name in ("sampling", "limits"):
        if name in drafted.values:
            values[name] = {**(values.get(name) or {}), **drafted.values[name]}
    for at in list(reading.phrases.free("scale")) if reading.scale is not None else ():
        reading.phrases.use(at)
        told = f"{reading.scale:g} times as many"
        drafted.understood.append(Understood(reading.phrases.words(at), "benchmarks[*].limit", told))
    drafted.assumed = [one for one in drafted.assumed if _still_holds(one.field, reading, names_benchmarks)]
    if not names_benchmarks:
        drafted.alternatives = []
    _forget_gaps(values, base)
    drafted.values = values
    drafted.understood = [_placed(one, values) for one in drafted.understood]
    before, after = dict(_flat(dict(base))), dict(_flat(values))
    if before == after and not reading.phrases.understood:
        raise UserError(f"Nothing of {shorten(reading.phrases.text, 80)!r} changes this plan.")
    names = [*before, *(name for name in after if name not in before)]
    changes = [(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)]
    return Refined(drafted, changes)


def _forget_gaps(values: Values, base: Mapping[str, Any]) -> None:
    """Where another benchmark has taken the place of one, what had no data before is not what is wanted now."""
    before, after = ({_name(item, "benchmark") for item in _as_list(one["benchmarks"])} for one in (base, values))
    if before - after:
        values.pop("gaps", None)


def _placed(one: Understood, values: Values) -> Understood:
    """What set a model or a benchmark, at the place that it has in the changed plan."""
    for key in ("models", "benchmarks"):
        names = [_name(item, key.removesuffix("s")) for item in _as_list(values[key])]
        if re.fullmatch(rf"{key}\[\d+\]", one.field) and one.value in names:
            return Understood(one.text, f"{key}[{names.index(str(one.value))}]", one.value)
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
            key = "models" if named.kind == "model" else "benchmarks"
            text = phrases.words(phrases.items.index(named, at))
            phrases.understood[:] = [one for one in phrases.understood if one.value != named.value]
            phrases.understood.append(Understood(text, f"{key}.except", named.value))
            reading.models[:] = [name for name in reading.models if name != named.value]
            reading.benchmarks[:] = [pair for pair in reading.benchmarks if pair[0] != named.value]
            phrases.use(at)
    return found


def _swap(values: Values, reading: Reading, removed: set[str]) -> None:
    """`replace haiku with opus`, `opus instead of haiku`: the new one in the place of the old one."""
    is_swap = any(item.kind == "swap" for item in reading.phrases.items)
    for key, named in (("models", reading.models), ("benchmarks", [name for name, _ in reading.benchmarks])):
        given = [_name(item, key.removesuffix("s")) for item in _as_list(values[key])]
        old = [name for name in given if name in removed]
        if is_swap and not old and len(named) > 1 and named[0] in given:
            old = [named.pop(0)]
            if key == "benchmarks":
                reading.benchmarks[:] = [pair for pair in reading.benchmarks if pair[0] != old[0]]
        if not old or not named:
            continue
        entries = _as_list(values[key])
        place = given.index(old[0])
        new = [_in_place(entries[place], key, name) for name in named if name not in given]
        rest = [one for one in entries[place:] if _name(one, key.removesuffix("s")) not in old]
        values[key] = [*entries[:place], *new, *rest]
        removed.difference_update(old)
        if key == "models":
            reading.models[:] = []
        else:
            reading.benchmarks[:] = []


def _in_place(old: Any, key: str, name: str) -> Any:
    """The entry of a new benchmark with the size of the one that it replaces."""
    is_sized = key == "benchmarks" and isinstance(old, Mapping) and "limit" in old
    return {"benchmark": name, "limit": old["limit"]} if is_sized else name


def _change_benchmarks(values: Values, drafted: Drafted, *, is_adding: bool) -> None:
    """New benchmarks in place of the old, or beside them; of those that the plan has, what is said of them changes."""
    given = _as_list(values["benchmarks"])
    chosen: list[Chosen] = drafted.choice.chosen
    is_only = _is_only(drafted.reading)
    fresh = dict(zip((item.benchmark for item in chosen), drafted.values["benchmarks"], strict=True))
    where = {item.benchmark: item.where for item in chosen}
    known = {_name(item, "benchmark") for item in given}
    changed = list[Any]()
    for item in given:
        entry = _with_where(item, where.get(_name(item, "benchmark"), {}), is_adding=is_adding)
        changed += [] if entry in changed else [entry]
    new = [entry for name, entry in fresh.items() if name not in known]
    if is_adding or (set(fresh) <= known and not is_only and _says_more(drafted.reading, chosen)):
        values["benchmarks"] = [*changed, *new]
    else:
        values["benchmarks"] = [*(item for item in changed if _name(item, "benchmark") in fresh), *new]


def _is_only(reading: Reading) -> bool:
    """`only gsm8k`: the word stands right before a benchmark, not before one of its categories."""
    items = reading.phrases.items
    return any(
        items[at].kind == "only" and items[at + 1].kind in ("benchmark", "bench") for at in range(len(items) - 1)
    )


def _says_more(reading: Reading, chosen: list[Chosen]) -> bool:
    """Whether a query says something of the benchmarks that it names: a size, a filter, how they are asked."""
    return bool(reading.sizes or any(item.where for item in chosen) or {"shots", "variant"} & set(reading.options))


def _with_where(given: Any, where: Mapping[str, list[str]], *, is_adding: bool) -> Any:
    """A benchmark of the plan with the filter that is said; with what it has where that is added to it."""
    if not where:
        return given
    old = dict(given) if isinstance(given, Mapping) else {"benchmark": given}
    merged = {**old.get("where", {})} if is_adding else {}
    for name, words in where.items():
        merged[name] = sorted({*merged.get(name, []), *words})
    return {**old, "where": merged}


def _change_entries(values: Values, reading: Reading, catalogue: PlannerCatalogue, *, only: set[str]) -> None:
    """Sizes, shots and variants, of every benchmark of the plan, or of those in `only`."""
    changed: Values = {name: reading.options[name] for name in ("shots", "variant") if name in reading.options}
    entries: list[Values] = []
    for item in _as_list(values["benchmarks"]):
        entry = dict(item) if isinstance(item, Mapping) else {"benchmark": item}
        if not only or entry["benchmark"] in only:
            entry |= changed
            fresh = _limit_for(reading, catalogue, entry) if reading.sizes else None
            if fresh is not None:
                entry["limit"] = fresh
            elif reading.scale is not None and "limit" in entry:
                entry["limit"] = max(1, round(entry["limit"] * reading.scale))
            parts = divided([Chosen(entry["benchmark"], entry.get("where", {}))], reading, catalogue)
            entries += [{**entry, "where": part.where} for part in parts] if len(parts) > 1 else [entry]
        else:
            entries.append(entry)
    values["benchmarks"] = [entry if len(entry) > 1 else entry["benchmark"] for entry in entries]


def _limit_for(reading: Reading, catalogue: PlannerCatalogue, entry: Values) -> int | None:
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
