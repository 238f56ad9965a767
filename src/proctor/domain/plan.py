"""What was asked: models, benchmarks, options, limits. Validated once, here, and trusted afterwards."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from msgspec import field

from proctor.domain.fields import After, Before, Bounds, Frozen, Number, Whole, as_written, some
from proctor.domain.matrix import BenchmarkMatrix, Matrix, ModelMatrix, Varied


def _one_or_many(value: object) -> object:
    return [value] if isinstance(value, str | Mapping) else value


def _none_one_or_many(value: object) -> object:
    return () if value is None else _one_or_many(value)


def _from_query(value: object) -> object:
    """What a query string holds of lists and mappings: written as JSON."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


MAX_TAGS = 20
TAG = re.compile(r"[^\W_][\w.:/=+-]{0,49}")


def _tags(value: object) -> object:
    """Each once; what could be a key is none."""
    if value is None:
        return ()
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or len(items) > MAX_TAGS:
        raise ValueError(f"tags are a list of at most {MAX_TAGS} words")
    for item in items:
        if not isinstance(item, str) or not TAG.fullmatch(item):
            said = "up to 50 letters, digits and . : / = + - _, a letter or digit first"
            raise ValueError(f"{str(item)[:60]!r} is not a tag: {said}")
    _refuse_secrets(items)
    return tuple(dict.fromkeys(items))


def _stops(value: object) -> object:
    return _one_or_many(_from_query(value))


def _as_texts(value: object) -> object:
    """What a filter compares with: 2020 and true are meant as they are written."""
    items = value if isinstance(value, list | tuple) else [value]
    return [str(item).lower() if isinstance(item, bool) else _scalar_text(item) for item in items]


def _scalar_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) else value


def _as_json(value: object) -> Any:
    """The value as JSON holds it; what JSON has no form for is refused here, not when a request is on its way."""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str | int) or isinstance(key, bool):
                raise ValueError(f"the key {key!r} is not text: put it in quotes")
        return {str(key): _as_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(part) for part in value]
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | float):
        return as_written(value)
    raise ValueError(f"{value} is not text, a number, a list or a mapping: put it in quotes")


def _own_fields(value: object) -> object:
    """Fields of the provider's own: anything JSON can hold, but no secret."""
    if value is None:
        return None
    value = _from_query(value)
    _refuse_secrets(value)
    return _as_json(value)


Texts = Annotated[list[str], Before(_stops)]


class Sampling(Frozen, frozen=True, kw_only=True):
    """Options sent to the model exactly as given; one that is not given is not sent."""

    temperature: Annotated[Number | None, Bounds(ge=0)] = None
    top_p: Annotated[Number | None, Bounds(ge=0, le=1)] = None
    top_k: Annotated[Whole | None, Bounds(ge=0)] = None
    max_tokens: Annotated[Whole | None, Bounds(ge=1)] = None
    seed: Whole | None = None
    stop: Texts | None = None
    frequency_penalty: Number | None = None
    presence_penalty: Number | None = None
    reasoning_effort: str | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[Whole | None, Bounds(ge=0)] = None
    extra: Annotated[dict[str, Any] | None, Before(_own_fields)] = None
    """Further fields of the provider's own, put into the request as they are."""

    def given(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


SECRET_NAMES = frozenset(
    {"key", "apikey", "token", "secret", "password", "passwd", "authorization", "bearer", "credentials"}
)
SECRET_VALUE = re.compile(
    r"Bearer\s+\S{8,}|(?:sk|pk|rk)-[\w-]{12,}|gh[pousr]_\w{20,}|hf_\w{16,}|AIza[\w-]{20,}|xox[a-z]-[\w-]{10,}"
)
REFERENCE = re.compile(r"(?:(?:Bearer|Basic|Token)\s+)?\$\{\w+\}")
"""${NAME}: where a secret from the environment goes, not the secret itself."""
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _refuse_secrets(value: object, *, has_named_secrets: bool = True) -> None:
    """Plans are stored and shown, so nothing in them may be a key; the message never repeats the value."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            if isinstance(part, str) and REFERENCE.fullmatch(part):
                continue
            if has_named_secrets and isinstance(part, str) and _names_a_secret(str(name)):
                raise ValueError(f"{name!r} looks like a secret; keys come from the provider's environment variable")
            _refuse_secrets(part, has_named_secrets=has_named_secrets)
    elif isinstance(value, list | tuple):
        for part in value:
            _refuse_secrets(part, has_named_secrets=has_named_secrets)
    elif isinstance(value, str) and SECRET_VALUE.search(value):
        raise ValueError("a value looks like a key; keys come from the provider's environment variable")


def _names_a_secret(name: str) -> bool:
    """'api_key', 'X-Api-Key' and 'authToken' do; 'max_tokens' and 'auth_variable' do not."""
    return re.split(r"[\W_]+", CAMEL.sub("_", name).lower())[-1] in SECRET_NAMES


REPEATED = ("stop",)
"""Options that may be given several times."""


def _split_query(text: str) -> tuple[str, dict[str, Any]]:
    head, _, query = text.partition("?")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise ValueError(f"{head}: options are written ?name=value&name=value") from None
    names = [name for name, _ in pairs]
    found: dict[str, Any] = dict(pairs)
    for name in names:
        if names.count(name) > 1:
            if name not in REPEATED:
                raise ValueError(f"{head}: {name!r} is given twice")
            found[name] = [value for other, value in pairs if other == name]
    return head, found


def _address(url: object) -> str:
    """Host, port and path: no user, no password, no query."""
    try:
        parts = urlsplit(str(url or ""))
    except ValueError:  # the adapter says what is wrong with it
        return ""
    return parts.netloc.rpartition("@")[2] + parts.path.rstrip("/")


class ModelSpec(Varied, frozen=True, kw_only=True):
    """`provider/name`, sampling options, and settings that only the provider's adapter understands."""

    matrix: ModelMatrix | None = None

    provider: Annotated[str, Bounds(min_length=1)]
    name: str
    label: str | None = None
    sampling: Sampling = Sampling()
    settings: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def prepare(cls, value: object) -> object:
        if isinstance(value, str):
            value = {"model": value}
        if not isinstance(value, Mapping) or "provider" in value:
            return value
        given = dict(value)
        text = given.pop("model", None)
        if not isinstance(text, str):
            raise ValueError("a model is written provider/name, or as a mapping with the key 'model'")
        head, query = _split_query(text)
        given = {**query, **given}
        _refuse_secrets(given)
        provider, slash, name = head.partition("/")
        if not slash or not provider:
            raise ValueError(f"{head!r} is not a model: write provider/name, for example openai/gpt-5-mini")
        own = {key: given.pop(key, None) for key in ("label", "matrix")}
        sampling = {key: given.pop(key) for key in list(given) if key in Sampling.__struct_fields__}
        return {"provider": provider, "name": name, **own, "sampling": sampling, "settings": given}

    def check(self) -> None:
        self.refuse_given(self.sampling.given())

    @property
    def short(self) -> str:
        """The label, or the name; what has neither is called by its address, without anything secret in it."""
        return self.label or f"{self.provider}/{self.name or _address(self.settings.get('url'))}"

    def __str__(self) -> str:
        options = {
            # As it can be written again: lists, mappings and truth values are JSON.
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in {**self.settings, **self.sampling.given()}.items()
        }
        return f"{self.provider}/{self.name}" + (f"?{urlencode(options, safe=':/,')}" if options else "")


class BenchmarkSpec(Varied, frozen=True, kw_only=True):
    """A benchmark's name or file, which of its samples, and parameters that only this benchmark understands."""

    matrix: BenchmarkMatrix | None = None

    OWN: ClassVar[frozenset[str]] = frozenset(
        {"where", "limit", "shots", "epochs", "parameters", "revisions", "matrix"}
    )

    benchmark: Annotated[str, Bounds(min_length=1)]
    where: dict[str, Annotated[list[str], Before(_as_texts)]] = field(default_factory=dict)
    limit: Annotated[Whole | None, Bounds(ge=1)] = None
    shots: Annotated[Whole | None, Bounds(ge=0)] = None
    epochs: Annotated[Whole | None, Bounds(ge=1)] = None
    parameters: dict[str, Any] = field(default_factory=dict)
    revisions: dict[str, str] = field(default_factory=dict)
    """The commit to read of each source on a hub; a run's own plan has those that it read."""

    @classmethod
    def prepare(cls, value: object) -> object:
        if isinstance(value, str):
            value = {"benchmark": value}
        if not isinstance(value, Mapping):
            return value
        given = dict(value)
        text = given.pop("benchmark", None)
        if not isinstance(text, str):
            raise ValueError("a benchmark is a name or a file, or a mapping with the key 'benchmark'")
        # A question mark belongs to the address of data elsewhere, not to us; a function's name has none.
        is_address = "://" in text.partition("?")[0] and not text.startswith("python://")
        head, query = (text, {}) if is_address else _split_query(text)
        given = {**query, **given}
        _refuse_secrets(given, has_named_secrets=False)
        own = {key: given.pop(key) for key in list(given) if key in cls.OWN}
        parameters = {**own.pop("parameters", {}), **given}
        return {"benchmark": head, "parameters": parameters, **own}

    def check(self) -> None:
        self.refuse_given(self.given())

    def given(self) -> dict[str, Any]:
        """What is said of how the samples are put: shots, and parameters such as the variant."""
        return {**self.parameters, **({} if self.shots is None else {"shots": self.shots})}

    def __str__(self) -> str:
        return self.benchmark + (f"?{urlencode(self.parameters)}" if self.parameters else "")


class Limits(Frozen, frozen=True, kw_only=True):
    """What a run may use; None means no limit."""

    cost_usd: Annotated[Decimal | None, Bounds(gt=0)] = None
    assume_price: str | None = None
    """IN/OUT, dollars for a million tokens, for models whose price nobody knows."""
    minutes: Annotated[Number | None, Bounds(gt=0)] = None
    concurrency: Annotated[Whole, Bounds(ge=1, le=4096)] = 64
    retries: Annotated[Whole, Bounds(ge=0, le=50)] = 5
    timeout_seconds: Annotated[Number, Bounds(gt=0)] = 600.0
    requests_per_minute: Annotated[Number | None, Bounds(gt=0)] = None
    """For each model; a provider's own limit, as its headers tell it, is kept without being asked."""
    tokens_per_minute: Annotated[Number | None, Bounds(gt=0)] = None
    """Input and output together, for each model."""


class Plan(Varied, frozen=True, kw_only=True):
    HIDDEN: ClassVar[frozenset[str]] = frozenset({"key_hosts"})

    matrix: Matrix | None = None
    name: str | None = None
    tags: Annotated[tuple[str, ...], Before(_tags)] = ()
    """Words by which its runs are found again."""
    models: Annotated[tuple[ModelSpec, ...], Before(_one_or_many), After(some)]
    benchmarks: Annotated[tuple[BenchmarkSpec, ...], Before(_one_or_many), After(some)]
    epochs: Annotated[Whole, Bounds(ge=1)] = 1
    seed: Whole = 0
    sampling: Sampling = Sampling()
    """For every model; a model's own options win."""
    judge: Annotated[tuple[ModelSpec, ...], Before(_none_one_or_many)] = ()
    """The models that judge open answers: none, one, or several that form a panel."""
    cache: bool = True
    sandbox: str | None = None
    """The backend that runs code; the first that holds if left out."""
    unsafe_no_sandbox: bool = False
    until: str | None = None
    """Stop early: 'ci<0.02' or 'decided'."""
    batch: bool = False
    """Hand the requests in as batches: half the price, answers within a day."""
    offline: bool = False
    """Connect to nothing beyond this machine."""
    limits: Limits = Limits()
    gaps: tuple[str, ...] = ()
    """What was wanted and no benchmark covers, as a draft says: nothing is run before somebody takes this out."""
    key_hosts: tuple[str, ...] = ()
    """Hosts of models that the user named, on the command line or in a program: keys may go there. No file says so."""

    def check(self) -> None:
        self.refuse_given(self.sampling.given())
        for kind, items in (("model", self.models), ("benchmark", self.benchmarks), ("judge", self.judge)):
            seen: set[str] = set()
            for item in items:
                text = item.model_dump_json()
                if text in seen:
                    raise ValueError(f"the {kind} {item} is listed twice")
                seen.add(text)
        labels = [self.label(spec) for spec in self.models]
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(f"two models would both be shown as {label!r}: give one a label of its own")

    def label(self, spec: ModelSpec) -> str:
        """The name shown for a model: short where that is unambiguous."""
        twins = [other for other in self.models if other.short == spec.short]
        return spec.short if len(twins) == 1 else str(spec)
