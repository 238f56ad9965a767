"""What was asked: models, benchmarks, options, limits. Validated once, here, and trusted afterwards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Self
from urllib.parse import parse_qsl, urlencode

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


def _one_or_many(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _finite(value: int | float) -> int | float:
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


Number = Annotated[int | float, AfterValidator(_finite)]
"""0 stays 0 and 0.5 stays 0.5: options are sent as they were written."""


class Sampling(_Frozen):
    """Options sent to the model exactly as given; one that is not given is not sent."""

    temperature: Number | None = Field(None, ge=0)
    top_p: Number | None = Field(None, ge=0, le=1)
    top_k: int | None = Field(None, ge=0)
    max_tokens: int | None = Field(None, ge=1)
    seed: int | None = None
    stop: Annotated[list[str], BeforeValidator(_one_or_many)] | None = None
    frequency_penalty: Number | None = None
    presence_penalty: Number | None = None
    reasoning_effort: str | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = Field(None, ge=0)
    extra: dict[str, Any] | None = None
    """Further fields of the provider's own, put into the request as they are."""

    def given(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


SECRET_WORDS = ("key", "token", "secret", "password", "authorization")


def _split_query(text: str) -> tuple[str, dict[str, str]]:
    head, _, query = text.partition("?")
    return head, dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))


class ModelSpec(_Frozen):
    """`provider/name`, sampling options, and settings that only the provider's adapter understands."""

    provider: str = Field(min_length=1)
    name: str
    label: str | None = None
    sampling: Sampling = Sampling()
    settings: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        if isinstance(value, str):
            value = {"model": value}
        if not isinstance(value, Mapping) or "provider" in value:
            return value
        given = dict(value)
        text = given.pop("model", None)
        if not isinstance(text, str):
            raise ValueError("a model is written provider/name, or as a mapping with the key 'model'")
        head, query = _split_query(text)
        provider, slash, name = head.partition("/")
        if not slash:
            raise ValueError(f"{text!r} is not a model: write provider/name, for example openai/gpt-5-mini")
        given = {**query, **given}
        label = given.pop("label", None)
        sampling = {key: given.pop(key) for key in list(given) if key in Sampling.model_fields}
        for key in given:
            if any(word in key.lower() for word in SECRET_WORDS):
                raise ValueError(f"{key!r} looks like a secret; keys come from the provider's environment variable")
        return {"provider": provider, "name": name, "label": label, "sampling": sampling, "settings": given}

    @property
    def short(self) -> str:
        return self.label or f"{self.provider}/{self.name}"

    def __str__(self) -> str:
        options = {**self.settings, **self.sampling.given()}
        return f"{self.provider}/{self.name}" + (f"?{urlencode(options, safe=':/,')}" if options else "")


class BenchmarkSpec(_Frozen):
    """A benchmark's name or file, which of its samples, and parameters that only this benchmark understands."""

    OWN: ClassVar[frozenset[str]] = frozenset({"where", "limit", "shots", "epochs", "parameters"})

    benchmark: str = Field(min_length=1)
    where: dict[str, Annotated[list[str], BeforeValidator(_one_or_many)]] = {}
    limit: int | None = Field(None, ge=1)
    shots: int | None = Field(None, ge=0)
    epochs: int | None = Field(None, ge=1)
    parameters: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        if isinstance(value, str):
            value = {"benchmark": value}
        if not isinstance(value, Mapping):
            return value
        given = dict(value)
        text = given.pop("benchmark", None)
        if not isinstance(text, str):
            raise ValueError("a benchmark is a name or a file, or a mapping with the key 'benchmark'")
        head, query = (text, {}) if "://" in text else _split_query(text)
        given = {**query, **given}
        own = {key: given.pop(key) for key in list(given) if key in cls.OWN}
        parameters = {**own.pop("parameters", {}), **given}
        return {"benchmark": head, "parameters": parameters, **own}

    def __str__(self) -> str:
        return self.benchmark + (f"?{urlencode(self.parameters)}" if self.parameters else "")


class Limits(_Frozen):
    """What a run may use; None means no limit."""

    cost_usd: Decimal | None = Field(None, gt=0)
    minutes: Number | None = Field(None, gt=0)
    concurrency: int = Field(64, ge=1, le=4096)
    retries: int = Field(5, ge=0, le=50)
    timeout_seconds: Number = Field(600.0, gt=0)


class Plan(_Frozen):
    name: str | None = None
    models: tuple[ModelSpec, ...] = Field(min_length=1)
    benchmarks: tuple[BenchmarkSpec, ...] = Field(min_length=1)
    epochs: int = Field(1, ge=1)
    seed: int = 0
    sampling: Sampling = Sampling()
    """For every model; a model's own options win."""
    judge: ModelSpec | None = None
    cache: bool = True
    limits: Limits = Limits()

    @model_validator(mode="after")
    def _nothing_twice(self) -> Self:
        for kind, items in (("model", self.models), ("benchmark", self.benchmarks)):
            seen: set[str] = set()
            for item in items:
                text = item.model_dump_json()
                if text in seen:
                    raise ValueError(f"the {kind} {item} is listed twice")
                seen.add(text)
        return self

    def label(self, spec: ModelSpec) -> str:
        """The name shown for a model: short where that is unambiguous."""
        twins = [other for other in self.models if other.short == spec.short]
        return spec.short if len(twins) == 1 else str(spec)
