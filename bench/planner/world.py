"""The world in which the labelled queries are read: the catalogue of today, fixed prices, keys of two providers."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

from msgspec.structs import replace

from proctor.planner.catalogue import CatalogueModel, PlannerCatalogue
from proctor.runs.plans.planner_catalogue import planner_catalogue

HERE = Path(__file__).parent
KEYS = {"OPENAI_API_KEY": "set", "ANTHROPIC_API_KEY": "set"}


def world() -> PlannerCatalogue:
    """The catalogue of this tree with the price list of `models.json`."""
    listed = json.loads((HERE / "models.json").read_text(encoding="utf-8"))
    models = [
        CatalogueModel(name, *(None if rate is None else Decimal(rate) for rate in rates), is_withdrawn)
        for name, *rates, is_withdrawn in listed["models"]
    ]
    return replace(planner_catalogue(KEYS), models=models, prices_from="bench/planner/models.json")
