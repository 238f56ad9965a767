"""Metrics of DeepEval that ask no model, as a scorer."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version as version_of_package
from typing import Any

from proctor.domain.errors import BenchmarkError, ScorerError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.domain.text import message_of
from proctor.scorers.options import build, version_of

NAME = "deepeval"
REVISION = "1"
INSTALL = "the scorer 'deepeval' needs DeepEval, which is not installed: pip install deepeval"


@traits(needs_target=False, has_votes=False)
def create(**options: Json) -> DeepEvalMetric:
    return build(DeepEvalMetric, NAME, options)


@dataclass(frozen=True, slots=True)
class DeepEvalMetric:
    """What a metric of DeepEval measures of input, response and target; only metrics that ask no model."""

    metric: str = "ExactMatchMetric"
    options: Mapping[str, Json] | None = None
    """What the metric is made with, such as {pattern: '[0-9]+'}."""
    label: str = NAME

    @property
    def name(self) -> str:
        return self.label

    @property
    def version(self) -> str:
        installed = f".{version_of_package(NAME)}" if importlib.util.find_spec(NAME) is not None else ""
        return version_of(self, f"{REVISION}{installed}")

    def obstacle(self, sample: Sample) -> str | None:  # noqa: ARG002 - it is the metric that can or cannot
        if importlib.util.find_spec(NAME) is None:
            return INSTALL
        return _obstacle(self.metric)

    async def score(self, sample: Sample, response: Response) -> Score:
        return await asyncio.to_thread(self._measure, sample, response.text)

    def _measure(self, sample: Sample, text: str) -> Score:
        if (reason := self.obstacle(sample)) is not None:
            raise ScorerError(reason)
        case = import_module("deepeval.test_case").LLMTestCase
        marks = []
        for target in sample.targets or (None,):  # any of several answers will do
            made = _class(self.metric)(**dict(self.options or {}))
            try:
                value = made.measure(case(input=sample.input_text, actual_output=text, expected_output=target))
            except Exception as error:
                raise ScorerError(f"{self.metric} raised {type(error).__name__}: {message_of(error)}") from error
            marks.append((value, str(made.reason or f"{self.metric} is {value}")))
        best, reason = max(marks, key=lambda mark: -1.0 if mark[0] is None else float(mark[0]))
        if best is None or not 0 <= best <= 1:
            return Score.unscored(self.name, f"{self.metric} gave {best!r}, which is no mark from 0 to 1")
        return Score(self.name, float(best), reason=reason)


@cache
def _obstacle(metric: str) -> str | None:
    known = _metrics()
    if metric not in known:
        return f"DeepEval has no metric {metric!r}; of those that ask no model, it has {', '.join(_without_model())}"
    if "model" in known[metric]:
        return (
            f"{metric} asks a model of DeepEval's own, whose cost and faults nobody here would see: use a scorer "
            f"judge_… instead. Without a model there are {', '.join(_without_model())}"
        )
    return None


def _class(metric: str) -> Any:
    if metric not in _metrics():
        raise BenchmarkError(_obstacle(metric) or "")
    return getattr(import_module("deepeval.metrics"), metric)


@cache
def _metrics() -> dict[str, tuple[str, ...]]:
    """DeepEval's metrics for one answer by name, with what they are made with."""
    os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "1")  # read when it is imported; nothing is sent from here
    module = import_module("deepeval.metrics")
    single = module.BaseMetric
    return {
        name: tuple(inspect.signature(found.__init__).parameters)
        for name, found in vars(module).items()
        if inspect.isclass(found) and issubclass(found, single) and found is not single
    }


def _without_model() -> list[str]:
    return sorted(name for name, parameters in _metrics().items() if "model" not in parameters)
