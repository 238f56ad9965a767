"""Prices that people write down themselves: a file of rates by model, with tiers and rates for batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.errors import PlanError
from proctor.domain.model import ModelIdentity
from proctor.domain.price import FlatPrice
from proctor.domain.response import Usage
from proctor.yaml_document import as_mapping, load_yaml

RATES = {
    "input": "input_per_million",
    "output": "output_per_million",
    "cached": "cached_per_million",
    "written": "written_per_million",
    "reasoning": "reasoning_per_million",
}
EXAMPLE = "{input: 0.25, output: 2, cached: 0.025, date: 2026-11-01}"


class FilePrice(Struct, frozen=True):
    """The rates of a file; a prompt longer than a tier's bound is billed at that tier's rates as a whole."""

    base: FlatPrice
    tiers: tuple[tuple[int, FlatPrice], ...] = ()
    """Bounds in tokens, from low to high, and the rates above each."""
    batch: FilePrice | None = None

    @property
    def source(self) -> str:
        return self.base.source

    @property
    def basis(self) -> str:
        return self.base.basis

    def cost(self, usage: Usage) -> Decimal | None:
        passed = [rates for above, rates in self.tiers if (usage.input_tokens or 0) > above]
        return (passed[-1] if passed else self.base).cost(usage)

    def in_batch(self) -> FilePrice | None:
        """The file's own rates for batches; None where it has none, and what a provider says in general holds."""
        return self.batch


def price_in_file(identity: ModelIdentity, file: Path) -> FilePrice | None:
    """What the file says of this model; None when it says nothing, PlanError when it makes no sense."""
    name = f"{identity.provider}/{identity.name}"
    entry = as_mapping(load_yaml(file, error=PlanError), "prices by model").get(name)
    return None if entry is None else _read_entry(entry, file.name, f"{file.name}: {name}")


def _read_entry(entry: Any, file: str, place: str) -> FilePrice:
    whole = _fields(entry, place, {"input", "output"}, {*RATES, "tiers", "batch", "date"})
    source = file + (f" of {whole['date']}" if "date" in whole else "")
    price = _read_rates(whole, source, place)
    if whole.get("batch") is None:
        return price
    inside = f"{place}: batch"
    batch = _fields(whole["batch"], inside, {"input", "output"}, {*RATES, "tiers"})
    return replace(price, batch=_read_rates(batch, f"{source}, rates for batches", inside))


def _read_rates(entry: Mapping[str, Any], source: str, place: str) -> FilePrice:
    base = FlatPrice(**_numbers(entry, place), source=source)
    _refuse_dear_cache(base, place)
    return FilePrice(base, tuple(_read_tiers(entry.get("tiers"), base, place)))


def _read_tiers(tiers: Any, base: FlatPrice, place: str) -> Iterator[tuple[int, FlatPrice]]:
    """A tier names the rates that change; the others stay as they are below it."""
    if tiers is None:
        return
    if not isinstance(tiers, list):
        raise PlanError(f"{place}: tiers must be a list such as [{{above: 200000, input: 0.5}}], not {tiers!r}.")
    bound, below = 0, base
    for number, tier in enumerate(tiers, 1):
        inside = f"{place}: tier {number}"
        above = _fields(tier, inside, {"above"}, {"above", *RATES})["above"]
        if isinstance(above, bool) or not isinstance(above, int) or above <= bound:
            raise PlanError(f"{inside}: above must be a whole number of tokens over {bound:,}, not {above!r}.")
        rates = replace(below, **_numbers(tier, inside))
        _refuse_dear_cache(rates, inside)
        _refuse_cheaper(rates, below, inside)
        yield above, rates
        bound, below = above, rates


def _fields(entry: Any, place: str, needed: set[str], known: set[str]) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        raise PlanError(f"{place}: a price is written {EXAMPLE}, not {entry!r}.")
    for name in entry:
        if name not in known:
            raise PlanError(f"{place}: there is no field {name!r}, here are: {', '.join(sorted(known))}.")
    for name in sorted(needed - set(entry)):
        raise PlanError(f"{place}: {name} is missing; a price is written {EXAMPLE}.")
    return entry


def _numbers(entry: Mapping[str, Any], place: str) -> dict[str, Any]:
    return {field: _number(entry[name], f"{place}: {name}") for name, field in RATES.items() if name in entry}


def _number(value: Any, place: str) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or number < 0:
        raise PlanError(f"{place} must be dollars for a million tokens, a number of 0 or more, not {value!r}.")
    return number


# A cost limit is kept by reserving the most that a request can cost. That is found from the longest prompt, read from
# no cache: prices that fall with the length, or rise with the cache, would make it too little.


def _refuse_dear_cache(rates: FlatPrice, place: str) -> None:
    if rates.cached_per_million is not None and rates.cached_per_million > rates.input_per_million:
        raise PlanError(
            f"{place}: cached must be no more than input ({rates.input_per_million}), not {rates.cached_per_million}."
        )


def _refuse_cheaper(rates: FlatPrice, below: FlatPrice, place: str) -> None:
    for name, field in RATES.items():
        here, before = rates.rate(field), below.rate(field)
        if here < before:
            raise PlanError(f"{place}: {name} must be no less than for shorter prompts ({before}), not {here}.")
