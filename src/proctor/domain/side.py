"""The sides of a comparison: a model, and how the samples were put to it where that was varied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

PARAMETERS = ("prompt", "variant", "choices")
"""Parameters of a benchmark that say how its samples are put, not which samples there are."""
SHOTS = "shots"


def prompt_settings(benchmark_spec: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan said of how the samples of a benchmark are put; a prompt goes by its name."""
    parameters = benchmark_spec.get("parameters", {})
    found = {name: parameters[name] for name in PARAMETERS if name in parameters}
    if isinstance(found.get("prompt"), Mapping):
        found["prompt"] = found["prompt"].get("name")
    return found if benchmark_spec.get(SHOTS) is None else {**found, SHOTS: benchmark_spec[SHOTS]}


def chosen_samples(benchmark_spec: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan said of a benchmark beside that: which samples, and parameters of its own."""
    parameters = {key: value for key, value in benchmark_spec.get("parameters", {}).items() if key not in PARAMETERS}
    return {**{key: value for key, value in benchmark_spec.items() if key != SHOTS}, "parameters": parameters}


class EvaluationSide(Struct, frozen=True):
    """A model on a benchmark, with the settings of its prompts."""

    model: str
    benchmark: str
    settings: Mapping[str, Any]


def side_names(sides: Sequence[EvaluationSide]) -> list[str]:
    """What each is called beside the others: the model, and those of its settings in which its benchmark is varied."""
    varied: dict[str, list[str]] = {}
    for benchmark in dict.fromkeys(side.benchmark for side in sides):
        mine = [side.settings for side in sides if side.benchmark == benchmark]
        varied[benchmark] = [
            name for name in (*PARAMETERS, SHOTS) if any(one.get(name) != mine[0].get(name) for one in mine)
        ]
    return [
        " · ".join((side.model, *(setting_text(name, side.settings.get(name)) for name in varied[side.benchmark])))
        for side in sides
    ]


def setting_text(name: str, value: Any) -> str:
    """`5 shots`, `prompt terse`; `default shots` where the benchmark's own were used."""
    if value is None:
        return f"default {name}"
    if name == SHOTS:
        return "1 shot" if value == 1 else f"{value} shots"
    return f"{name} {value}"
