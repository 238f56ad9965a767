"""The form of problem.yaml, validated here once; its JSON schema is generated from this."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from proctor.benchmarks.problems.units import GOLD, KINDS, LOADED, MEASURES, convert, parse_quantity
from proctor.domain.problem import DEFAULT_WEIGHTS

Area = Literal[
    "command-line",
    "library",
    "http-service",
    "data",
    "parser",
    "concurrency",
    "storage",
    "authentication",
    "streaming",
    "caching",
]
Language = Literal["python", "javascript"]
Measure = Literal[
    "throughput",
    "p50_latency",
    "p95_latency",
    "p99_latency",
    "error_rate",
    "peak_memory",
    "cpu_seconds",
    "start_seconds",
    "work_seconds",
]
SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"
NEAREST_GOLD = 1.5
"""A bound nearer to the gold solution than this could not be told from noise."""
Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), populate_by_name=True)


def _of_kind(kind: str) -> AfterValidator:
    def check(text: str) -> str:
        convert(text, kind, next(iter(KINDS[kind])))
        return text

    return AfterValidator(check)


def _any_quantity(text: str) -> str:
    parse_quantity(text)
    return text


def _form(*examples: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": r"^\s*\d+(\.\d+)?\s*[A-Za-z%/]+\s*$", "examples": [*examples]})


def _with_unit(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(f"{value} has no unit: write it as in '200 ms', '128 MiB', '1 %' or '2 gold'")
    return value


Time = Annotated[str, BeforeValidator(_with_unit), _of_kind("time"), _form("10 s", "200 ms")]
Size = Annotated[str, BeforeValidator(_with_unit), _of_kind("size"), _form("128 MiB")]
Quantity = Annotated[
    str,
    BeforeValidator(_with_unit),
    AfterValidator(_any_quantity),
    _form("200 ms", "0.5 gold", "1 %", "100 requests/s"),
]


def _text(value: object) -> object:
    if isinstance(value, float):
        raise ValueError(f"put it in quotes: without, YAML reads a number ({value})")
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_NPM_NAME = re.compile(r"npm:(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*")


def _package(text: str) -> str:
    from packaging.requirements import InvalidRequirement, Requirement

    if text.startswith("npm:"):
        if not _NPM_NAME.fullmatch(text):
            raise ValueError(f"{text!r} is not the name of an npm package, such as 'npm:fastify'")
        return text
    try:
        named = Requirement(text)
    except InvalidRequirement:
        raise ValueError(f"{text!r} is not the name of a package, such as 'attrs'") from None
    if named.url:
        raise ValueError(
            f"{text!r} names an address: give the name alone, it is taken from the user's wheelhouse or index"
        )
    return text


class ReadinessEntry(_Strict):
    path: str = Field("/", pattern=r"^/\S*$")
    within: Time = "10 s"


class InterfaceEntry(_Strict):
    """How a program is used: as a command, a library, or a service."""

    kind: Literal["command", "library", "service"]
    languages: list[Language] = Field(["python"], min_length=1)
    module: str | None = Field(None, pattern=r"^[A-Za-z_]\w*$")
    """A library's name."""
    ready: ReadinessEntry | None = None
    """When a service counts as started."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.kind == "library") != (self.module is not None):
            raise ValueError("'module' names a library's module: a library needs it, nothing else has it")
        if self.ready is not None and self.kind != "service":
            raise ValueError(f"'ready' is for services, not for a {self.kind}")
        if self.kind == "library" and self.languages != ["python"]:
            raise ValueError("a library is written in Python: languages: [python]")
        if len(set(self.languages)) < len(self.languages):
            raise ValueError("a language is listed twice")
        return self


class RequirementEntry(_Strict):
    id: str = Field(pattern=r"^[A-Z][A-Za-z0-9.-]{0,15}$")
    level: Literal["MUST", "SHOULD", "MAY"]
    text: str = Field(min_length=1)
    checks: list[Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")]] = []
    """Names of test functions, without `test_`."""


class ThresholdEntry(_Strict):
    """One measure held against one value with its unit; `gold` is a ratio to the gold solution's."""

    measure: Measure
    at_least: Quantity | None = None
    at_most: Quantity | None = None
    requirement: str | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("give either 'at_least' or 'at_most'")
        kind, unit, is_upper = MEASURES[self.measure]
        if (self.at_most is not None) != is_upper:
            right, wrong = ("at_most", "at_least") if is_upper else ("at_least", "at_most")
            raise ValueError(f"{self.measure} takes '{right}', not '{wrong}'")
        value, given = parse_quantity(self.bound)
        if value == 0 and not is_upper:
            raise ValueError(f"{self.measure} of at least 0 is always met")
        if given != GOLD:
            convert(self.bound, kind, unit)
        elif not (value >= NEAREST_GOLD if is_upper else value <= 1 / NEAREST_GOLD):
            nearest = f"{NEAREST_GOLD:g} gold or more" if is_upper else f"{1 / NEAREST_GOLD:.2g} gold or less"
            raise ValueError(f"{self.bound!r} is too near to gold, which differs from itself so much: {nearest}")
        return self

    @property
    def bound(self) -> str:
        return self.at_most or self.at_least or ""


def _regular(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from error
    return text


class ExpectEntry(_Strict):
    """What an answer must be. A text between slashes is a regular expression for the whole of what stands there."""

    status: int = Field(ge=200, le=599)
    headers: dict[str, Annotated[str, BeforeValidator(_text)]] = {}
    body: Annotated[str, AfterValidator(_regular)] | None = None
    """A regular expression for the whole body."""
    members: dict[str, Any] = {}
    """Of a JSON object; it may have others."""
    distinct: str | None = None
    """A member that is another one in every answer to this request."""


class QuestionEntry(_Strict):
    """One request; `${name}` stands for a member of an earlier answer."""

    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    path: str = Field(pattern=r"^/\S*$")
    body: str | None = None
    headers: dict[str, Annotated[str, BeforeValidator(_text)]] = {}
    expect: ExpectEntry | None = None
    """Without it, any status below 400 is right."""


class RequestEntry(QuestionEntry):
    then: QuestionEntry | None = None
    """Asked after the load about some of the answers."""
    weight: int = Field(1, ge=1, le=1000)


class LoadEntry(_Strict):
    """What a service is asked, by how many at once, for how long."""

    connections: int = Field(8, ge=1, le=64)
    duration: Time = "2 s"
    requests: list[RequestEntry] = Field(min_length=1)
    setup: list[RequestEntry] = []
    """Sent one after the other before the load, each as often as its weight says."""


class WeightsEntry(_Strict):
    """What each dimension counts; one that is not named counts nothing."""

    functional: float = Field(0, ge=0, le=1)
    tests: float = Field(0, ge=0, le=1)
    performance: float = Field(0, ge=0, le=1)
    quality: float = Field(0, ge=0, le=1)
    security: float = Field(0, ge=0, le=1)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        total = sum(self.model_dump().values())
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the weights sum to {total:g}; they must sum to 1")
        return self


class PassRule(_Strict):
    score: float = Field(0.7, ge=0, le=1)


class LimitsEntry(_Strict):
    """What one command may use."""

    memory: Size | None = None
    disk: Size | None = None
    processes: int | None = Field(None, ge=1, le=4096)
    seconds: float | None = Field(None, gt=0, le=3600)


class MutantEntry(_Strict):
    name: Name
    breaks: list[str] = Field(min_length=1)
    note: str = ""


def _no_repeats(what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the {what} {name!r} is there twice")


class ProblemFile(_Strict):
    """A program to build from requirements."""

    id: Name
    title: str = Field(min_length=1, max_length=120)
    version: Annotated[str, BeforeValidator(_text)] = "1"
    difficulty: Literal["basic", "intermediate", "advanced", "expert"]
    area: Area
    brief: str = Field(min_length=1)
    interface: InterfaceEntry
    requirements: list[RequirementEntry] = Field(min_length=1)
    thresholds: list[ThresholdEntry] = []
    load: LoadEntry | None = None
    weights: WeightsEntry = WeightsEntry(**DEFAULT_WEIGHTS)
    pass_rule: PassRule = Field(PassRule(), alias="pass")
    limits: LimitsEntry = LimitsEntry()
    dependencies: list[Annotated[str, AfterValidator(_package)]] = []
    mutants: list[MutantEntry] = []

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = [requirement.id for requirement in self.requirements]
        _no_repeats("requirement", ids)
        _no_repeats("mutant", [mutant.name for mutant in self.mutants])
        for threshold in self.thresholds:
            if threshold.requirement is not None and threshold.requirement not in ids:
                raise ValueError(f"a threshold names {threshold.requirement!r}, which is no requirement")
            if threshold.measure in LOADED and self.load is None:
                raise ValueError(f"{threshold.measure} can only be measured with a 'load' profile")
        if self.load is not None and self.interface.kind != "service":
            raise ValueError("'load' is for services; a command or library has tests/load/work.py")
        return self


def json_schema() -> dict[str, Any]:
    """The published schema of problem.yaml."""
    schema = ProblemFile.model_json_schema(by_alias=True)
    return {"$schema": SCHEMA_ID, "title": "Proctor problem", **{k: v for k, v in schema.items() if k != "title"}}
