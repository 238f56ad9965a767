"""Metrics by name, with options where a benchmark gives some: `mean`, `mean?interval=bootstrap`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

import orjson

from proctor import plugins
from proctor.domain.errors import PlanError, did_you_mean
from proctor.domain.message import Json
from proctor.metrics.metric import Metric


def metric_name(written: str) -> str:
    """The metric's name without its options."""
    return written.partition("?")[0]


def with_options(name: str, options: Mapping[str, Json]) -> str:
    """A metric and its options as one text, which `create_metric` reads; without options, the name alone."""
    values = {key: value if isinstance(value, str) else orjson.dumps(value).decode() for key, value in options.items()}
    return f"{name}?{urlencode(values)}" if values else name


def create_metric(written: str) -> Metric:
    """The metric that is meant; raises PlanError for an option it does not have or cannot take."""
    import inspect

    name, _, query = written.partition("?")
    factory = plugins.load("metrics", name)
    if not query:
        plain: Metric = plugins.create("metrics", name)
        return plain
    options = {key: _value(text) for key, text in parse_qsl(query, keep_blank_values=True)}
    known = inspect.signature(factory).parameters
    for key, value in options.items():
        if key not in known:
            allowed = ", ".join(known) or "none"
            raise PlanError(f"{name}: there is no option {key!r}.{did_you_mean(key, known)} There are: {allowed}.")
        _refuse_other_type(name, key, value, str(known[key].annotation))
    metric: Metric = plugins.create("metrics", name, **options)
    return metric


def _refuse_other_type(name: str, key: str, value: Json, annotation: str) -> None:
    kinds: dict[str, tuple[type, ...]] = {"float": (int, float), "int": (int,), "str": (str,)}
    kind = kinds.get(annotation.removesuffix(" | None"))
    if kind is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        wanted = {"float": "a number", "int": "a whole number", "str": "a text"}[annotation.removesuffix(" | None")]
        raise PlanError(f"{name}: {key} must be {wanted}, not {value!r}.")


def _value(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
