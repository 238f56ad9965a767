"""The catalogue as the planner sees it: from data beside it, so that a sentence is read before a file is opened."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import convert
from msgspec.structs import replace

import proctor.planner
from proctor import plugins
from proctor.benchmarks.registry import BenchmarkInfo, info_of_plugin
from proctor.domain.message import Json
from proctor.planner.catalogue import CatalogueBenchmark, CatalogueModel, PlannerCatalogue

if TYPE_CHECKING:
    from proctor.domain.documents.benchmark import BenchmarkDescription

DATA = Path(proctor.planner.__file__).parent / "data"
BENCHMARKS = DATA / "benchmarks.json"
MODELS = DATA / "models.json"
PROVIDERS = ("anthropic", "google", "openai")
KEYS = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}


def planner_catalogue(
    environment: Mapping[str, str], own: Sequence[tuple[str, BenchmarkDescription]] = ()
) -> PlannerCatalogue:
    """The benchmarks that are installed, the models of the price list, and the providers whose key is set.

    `own` are a project's own benchmarks, each version with its reference, the newest first.
    """
    known = [_kept_benchmark(item) for item in json.loads(BENCHMARKS.read_text(encoding="utf-8"))]
    names = {item.name for item in known}
    others = [name for name in plugins.names("benchmarks") if name not in names]
    added = [describe_for_planner(info_of_plugin(name)) for name in others]
    models, source = _models()
    keys = [name for name in PROVIDERS if any(environment.get(key, "").strip() for key in KEYS[name])]
    versions = [_of_description(reference, described) for reference, described in own]
    newest = {item.name.partition("@")[0]: item for item in reversed(versions)}
    uploaded = [replace(item, name=name) for name, item in sorted(newest.items())]
    return PlannerCatalogue(
        [*known, *added, *uploaded], models, tuple(plugins.names("models")), keys, prices_from=source,
        own_versions=versions,
    )  # fmt: skip


def _of_description(name: str, described: BenchmarkDescription) -> CatalogueBenchmark:
    """A benchmark of a project's own, with the counts that were read when it was uploaded."""
    return CatalogueBenchmark(
        name,
        tags=described.tags,
        samples=described.samples,
        categories=described.categories or {},
        languages=tuple(described.categories or ()) if described.tags.get("language") == "multi" else (),
        variants=tuple(described.variants),
        has_examples=described.shots is not None,
        needs_judge=any(name.startswith("judge_") for name in described.scorers),
        needs_sandbox=described.needs_sandbox,
        description=described.description,
        is_own=True,
    )


def describe_for_planner(info: BenchmarkInfo) -> CatalogueBenchmark:
    """A benchmark without its data: its samples and categories are not counted."""
    return CatalogueBenchmark(
        info.name,
        tags=info.tags,
        variants=list(info.variants),
        has_examples=info.shots is not None,
        needs_judge=any("judging" in plugins.load("scorers", name).__module__ for name in info.scorers),
        needs_sandbox=info.needs_sandbox,
        description=info.description,
    )


def _kept_benchmark(item: Mapping[str, Json]) -> CatalogueBenchmark:
    known = {name: value for name, value in item.items() if value is not None}
    found = convert(known, CatalogueBenchmark)
    return replace(found, languages=tuple(found.categories)) if found.tags.get("language") == "multi" else found


def _models() -> tuple[list[CatalogueModel], str]:
    """The models of the installed price list; the list is imported only where another one was kept."""
    kept = json.loads(MODELS.read_text(encoding="utf-8"))
    installed = version("genai-prices")
    if kept["genai_prices"] != installed:
        return priced_models(), f"genai-prices {installed}"
    found = [
        CatalogueModel(name, _amount(given), _amount(taken), is_withdrawn)
        for name, given, taken, is_withdrawn in kept["models"]
    ]
    return found, f"genai-prices {installed}"


def _amount(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def priced_models() -> list[CatalogueModel]:
    """The models of the price list, with what they cost today."""
    from datetime import UTC, datetime

    from genai_prices.data import providers

    now, found = datetime.now(UTC), []
    for provider in providers:
        for model in provider.models if provider.id in PROVIDERS else ():
            if provider.id == "google" and not model.id.startswith("gemini"):
                continue
            try:
                price = model.get_prices(now)
            except ValueError:
                continue
            rates = [getattr(rate, "base", rate) for rate in (price.input_mtok, price.output_mtok)]
            given, taken = (None if rate is None else Decimal(str(rate)) for rate in rates)
            found.append(CatalogueModel(f"{provider.id}/{model.id}", given, taken, bool(model.deprecated)))
    return found
