"""From the arguments of `evaluate()` to a plan; what is no plan is said in one sentence."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from proctor.domain.errors import PlanError, did_you_mean
from proctor.domain.plan import Limits, Plan, Sampling
from proctor.models.registry import named_hosts
from proctor.planning.plan_file import plan_from, read_plan, with_selection

Written = str | os.PathLike[str] | Mapping[str, Any]
"""A benchmark or a model as a plan has it: text, or a mapping with options beside the name."""
Several = Written | Iterable[Written]

SELECTION = ("limit", "where", "shots")
"""What holds for every benchmark."""
CONTEXT_OPTIONS = ("data", "home")
"""What is no part of a plan."""
PARTS = frozenset(Plan.__struct_fields__) - {"models", "benchmarks", "sampling", "limits"}
"""What of a plan is an argument of its own."""
INNER = {"sampling": frozenset(Sampling.__struct_fields__) - PARTS, "limits": frozenset(Limits.__struct_fields__)}
"""Arguments that are parts of a part."""


class Options(TypedDict, total=False):
    """Everything a plan can say beside benchmarks and models."""

    limit: int
    where: Mapping[str, str | Sequence[str]]
    shots: int
    data: Path | str
    """In the place of PROCTOR_DATA."""
    home: Path | str
    """In the place of PROCTOR_HOME."""
    name: str
    tags: Sequence[str]
    matrix: Mapping[str, Any]
    epochs: int
    seed: int
    judge: Several
    until: str
    cache: bool
    batch: bool
    offline: bool
    sandbox: str
    unsafe_no_sandbox: bool
    key_hosts: Sequence[str]
    temperature: float
    top_p: float
    top_k: int
    max_tokens: int
    stop: str | Sequence[str]
    frequency_penalty: float
    presence_penalty: float
    reasoning_effort: str
    logprobs: bool
    top_logprobs: int
    extra: Mapping[str, Any]
    cost_usd: float | str
    assume_price: str
    minutes: float
    concurrency: int
    retries: int
    timeout_seconds: float
    requests_per_minute: float
    tokens_per_minute: float


def plan_of(benchmarks: Several | None, models: Several | None, options: Mapping[str, Any]) -> tuple[Plan, Path]:
    """The plan that the arguments mean, and the folder in which its files are looked for."""
    parts = _sorted_options(options)
    selection = {name: options[name] for name in SELECTION if options.get(name) is not None}
    if benchmarks is None:
        raise PlanError("evaluate() needs benchmarks: evaluate('puzzles', models='demo/strong').")
    if "judge" in parts:
        parts["judge"] = written("judge", parts["judge"])
    if models is None:
        path = _plan_file(benchmarks)
        plan = with_selection(read_plan(path, parts), selection)
        named = list(plan.judge) if "judge" in parts else []  # what a file says is not said by the caller
        return _allowing(plan, named), path.absolute().parent
    specs = _selected(written("benchmarks", benchmarks), selection)
    plan = plan_from({**parts, "models": written("models", models), "benchmarks": specs})
    return _allowing(plan, [*plan.models, *plan.judge]), Path.cwd()


def _allowing(plan: Plan, named: Sequence[Any]) -> Plan:
    return plan.model_copy(update={"key_hosts": (*plan.key_hosts, *named_hosts(named))})


def _plan_file(given: Several) -> Path:
    if isinstance(given, Mapping) and "models" in given:
        raise PlanError(
            "evaluate() takes a plan as a file: write this to plan.yaml, or give its parts as arguments: "
            "evaluate(['puzzles'], models=['demo/strong'])."
        )
    if not isinstance(given, str | os.PathLike) or Path(given).suffix.lower() not in (".yaml", ".yml"):
        raise PlanError("evaluate() needs models, or a plan file that names them.")
    return Path(given)


def _selected(specs: Sequence[str | Mapping[str, Any]], selection: Mapping[str, Any]) -> list[Any]:
    """What the benchmark says of itself wins over what is said of all."""
    if not selection:
        return list(specs)
    return [{**selection, **({"benchmark": spec} if isinstance(spec, str) else spec)} for spec in specs]


def written(argument: str, value: Several) -> list[str | Mapping[str, Any]]:
    """The one or several things that an argument names, as a plan has them."""
    return [os.fspath(item) if isinstance(item, os.PathLike) else item for item in _listed(argument, value)]


def _listed(argument: str, value: object) -> list[Written]:
    if isinstance(value, str):
        _refuse_joined(argument, value)
    if isinstance(value, str | os.PathLike | Mapping):
        return [value]
    _refuse_objects(argument, value)
    if not isinstance(value, Iterable) or isinstance(value, bytes):
        raise PlanError(f"{argument} is text or a list of texts, not {value!r}.")
    items = list(value)
    for item in items:
        if not isinstance(item, str | os.PathLike | Mapping):
            _refuse_objects(argument, item)
            raise PlanError(f"{argument} is text or a list of texts; {item!r} in it is neither.")
    return items


def _refuse_joined(argument: str, text: str) -> None:
    parts = [part.strip() for part in text.partition("?")[0].split(",")]
    if len(parts) > 1 and all(parts) and not Path(text).suffix:
        raise PlanError(f"{argument} is one text with a comma in it, {text!r}: write a list, {parts!r}.")


def _refuse_objects(argument: str, value: object) -> None:
    """Things that Python programmers try first, and how they are meant."""
    if inspect.isawaitable(value):
        raise PlanError(f"{argument} holds a coroutine: write 'await' before it.")
    if isinstance(value, type):
        raise PlanError(f"{argument} holds the class {value.__name__}. {_written_as(argument, value)}")
    if inspect.isroutine(value):
        raise PlanError(f"{argument} holds the function {value.__name__}. {_written_as(argument, value)}")
    if not isinstance(value, str | os.PathLike | Mapping | Iterable):
        kind = type(value).__name__
        raise PlanError(f"{argument} holds an object ({kind}). {_written_as(argument, type(value))}")


def _written_as(argument: str, value: Any) -> str:
    if argument == "benchmarks":
        return "A benchmark is a name or a file: evaluate('puzzles', …) or evaluate('my.yaml', …)."
    if isinstance(value, type):
        return "A model is text: 'provider/name', or 'python/module:function' for a function of your own."
    if "<" in value.__qualname__:
        return "Put it at the top of a module and name it as text: 'python/module:function'."
    return f"Name it as text, so that the run can be resumed: 'python/{_module_of(value)}:{value.__qualname__}'."


def _module_of(function: Any) -> str:
    script: str | None = getattr(sys.modules.get("__main__"), "__file__", None)
    name: str = function.__module__
    return Path(script).stem if script is not None and name == "__main__" else name


def _sorted_options(options: Mapping[str, Any]) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    for name, value in options.items():
        part = next((part for part, names in INNER.items() if name in names), None)
        if part is not None:
            parts.setdefault(part, {})[name] = value
        elif name in PARTS:
            parts[name] = value
        elif name not in (*SELECTION, *CONTEXT_OPTIONS):
            raise PlanError(f"evaluate() has no option {name!r}.{_known(name)}")
    return parts


def _known(name: str) -> str:
    options = sorted(Options.__annotations__)
    return f"{did_you_mean(name, ['benchmarks', 'models', *options])} There are: {', '.join(options)}."
