"""The form of a benchmark file, validated here once."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator

from proctor.domain.plan import Sampling
from proctor.domain.taxonomy import refuse_foreign_words
from proctor.metrics.registry import with_options
from proctor.prompts.choices import Layout
from proctor.prompts.worked import Placement

AnswerKind = Literal["auto", "index", "position", "letter", "label", "text", "plain"]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), defer_build=True)


def _quoted(value: object) -> object:
    """1 is clear; 1.10 has already lost its last digit when it gets here."""
    if isinstance(value, float):
        raise ValueError(f"put it in quotes: without, YAML reads a number ({value})")
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class TargetField(_Strict):
    """Where the expected answer is, and what it is for a question with choices."""

    field: str = Field(min_length=1)
    kind: AnswerKind = "auto"
    """index counts from 0, position from 1; label is looked up in `labels`; plain is kept as it is."""
    pattern: str | None = None
    """A regular expression; the answer is its first group, in its last match."""
    separator: str | None = None
    """Splits one text into several answers, any of which will do."""


class ChoiceFields(_Strict):
    """Choices spread over several fields, or the keys of one."""

    fields: list[str] | None = None
    keys: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.fields is None) == (self.keys is None):
            raise ValueError("give either 'fields' (a list of fields) or 'keys' (a field that holds a mapping)")
        return self


def _choices_form(value: object) -> str:
    """Which of the three ways to give choices was meant, so that a mistake is explained in its terms."""
    if isinstance(value, Mapping | ChoiceFields):
        return "parts"
    return "list" if isinstance(value, list) else "name"


Choices = Annotated[
    Annotated[str, Tag("name")] | Annotated[list[str], Tag("list")] | Annotated[ChoiceFields, Tag("parts")],
    Discriminator(_choices_form),
]


def _as_target(value: object) -> object:
    return {"field": value} if isinstance(value, str) else value


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Fields(_Strict):
    """Which field of a row is what; one that is not named here is looked for under its own name."""

    id: str | None = None
    input: str | None = None
    """A field, or a template over the row's fields when it has {{ }} in it."""
    target: Annotated[TargetField, BeforeValidator(_as_target)] | None = None
    choices: Choices | None = None
    """A field with a list; or the choices themselves, for all rows alike; or {fields: [a, b]} or {keys: a}."""
    labels: str | None = None
    category: str | None = None
    group: str | None = None
    follow_ups: str | None = None
    files: Annotated[list[str], BeforeValidator(_listed)] = []
    """Fields that name or hold images, PDFs or texts; only those named here are taken for files."""
    tags: dict[str, str] | None = None
    metadata: list[str] | None = None
    """None keeps everything that is not mapped."""


class Join(_Strict):
    """Rows of a second source whose fields are added to the row with the same key."""

    source: str = Field(min_length=1)
    key: str = Field(min_length=1)
    format: str | None = None


class Local(_Strict):
    """How the file in the data folder differs from the hub's: what is not said here is as it is there."""

    file: str | None = None
    """None: the benchmark's name, with .jsonl (or .dev.jsonl for examples)."""
    format: str | None = None
    fields: Fields | None = None
    transform: str | None = None
    """`none` when the folder's rows need none."""
    join: Join | None = None


class ExamplesEntry(_Strict):
    """Where worked examples come from; always the same ones for a seed."""

    source: str | None = None
    """None: the samples themselves; those that are shown are then not asked."""
    fields: Fields | None = None
    """None: as the samples'."""
    format: str | None = None
    transform: str | None = None
    """None: as the samples'."""
    by: Literal["category"] | None = None
    """Each sample is shown examples of its own category."""
    pick: Literal["first", "seeded"] = "seeded"
    local: Local = Local()


class Dataset(_Strict):
    source: str = Field(min_length=1)
    fields: Fields = Fields()
    format: str | None = None
    transform: str | None = None
    """The name of a function that changes a row before its fields are read, or python://module:function."""
    join: Join | None = None
    examples: ExamplesEntry | None = None
    local: Local = Local()


class InputEntry(_Strict):
    """What each sample's input is, where it is neither text nor a list of messages."""

    kind: Literal["json"]
    """An object or a list; templates may use its fields."""
    input_schema: dict[str, Any] | None = Field(None, alias="schema")
    """The JSON schema that every input must fit."""


class PromptFile(_Strict):
    system: str | None = None
    user: str | None = None
    choices: Layout = "A."
    answer: str | None = None
    """How the answer of a worked example is written; None: the target as it is."""
    examples: Placement = "turns"
    tools: list[dict[str, Any]] | str | None = None
    """The functions that the model may call, for all samples alike, or the field that holds each sample's own."""
    answer_schema: dict[str, Any] | str | None = Field(None, alias="schema")
    """The JSON schema that the answer must fit, for all samples alike, or the field that holds each sample's own."""


def _scorer(value: object) -> object:
    if isinstance(value, str):
        return {value: {}}
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, options),) = value.items()
        return {name: {} if options is None else options}
    raise ValueError("a scorer is a name, or one name with its options: {exact: {ignore_case: true}}")


def _metric(value: object) -> object:
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, options),) = value.items()
        if isinstance(name, str) and (options is None or isinstance(options, Mapping)):
            return with_options(name, options or {})
    if isinstance(value, str):
        return value
    raise ValueError("a metric is a name, or one name with its options: {mean: {interval: bootstrap}}")


MetricEntry = Annotated[str, BeforeValidator(_metric)]
ScorerEntry = Annotated[dict[str, dict[str, Any]], BeforeValidator(_scorer)]


def _in_vocabulary(tags: dict[str, str]) -> dict[str, str]:
    refuse_foreign_words(tags)
    return tags


class BenchmarkFile(_Strict):
    name: str = Field(min_length=1, pattern=r"^[\w.+-]+(/[\w.+-]+)*$")
    version: Annotated[str, BeforeValidator(_quoted)] = "1"
    description: str = ""
    licence: str | None = None
    homepage: str | None = None
    protocol: str = ""
    """What is asked and how, and where that differs from what was published."""
    tags: Annotated[dict[str, str], AfterValidator(_in_vocabulary)] = {}
    dataset: Dataset
    input: InputEntry | None = None
    prompt: PromptFile = PromptFile()
    scorers: list[ScorerEntry] = Field(min_length=1)
    metrics: list[MetricEntry] = Field(default=["accuracy"], min_length=1)
    options: Sampling = Sampling()
    """Sampling options the benchmark asks for; a model's own options win."""
    shots: int = Field(0, ge=0)
    """Worked examples in each prompt, unless the plan says otherwise."""
    variant: str | None = None
    """What this file as it stands is called beside its variants."""
    variants: dict[str, dict[str, Any]] = {}
    """Other ways to ask: what each says is laid over this file."""
    needs_sandbox: bool = False
