"""The form of a benchmark file, validated here once."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import field

from proctor.domain.fields import After, Before, Bounds, Frozen, OneOf
from proctor.domain.plan import Sampling
from proctor.domain.taxonomy import refuse_foreign_words
from proctor.metrics.registry import with_options
from proctor.prompts.choices import Layout
from proctor.prompts.worked import Placement

AnswerKind = Literal["auto", "index", "position", "letter", "label", "text", "plain"]


def _quoted(value: object) -> object:
    """1 is clear; 1.10 has already lost its last digit when it gets here."""
    if isinstance(value, float):
        raise ValueError(f"put it in quotes: without, YAML reads a number ({value})")
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class TargetField(Frozen, frozen=True, kw_only=True):
    """Where the expected answer is, and what it is for a question with choices."""

    field: Annotated[str, Bounds(min_length=1)]
    kind: AnswerKind = "auto"
    """index counts from 0, position from 1; label is looked up in `labels`; plain is kept as it is."""
    pattern: str | None = None
    """A regular expression; the answer is its first group, in its last match."""
    separator: str | None = None
    """Splits one text into several answers, any of which will do."""


class ChoiceFields(Frozen, frozen=True, kw_only=True):
    """Choices spread over several fields, or the keys of one."""

    fields: list[str] | None = None
    keys: str | None = None

    def check(self) -> None:
        if (self.fields is None) == (self.keys is None):
            raise ValueError("give either 'fields' (a list of fields) or 'keys' (a field that holds a mapping)")


def _choices_form(value: object) -> str:
    """Which of the three ways to give choices was meant, so that a mistake is explained in its terms."""
    if isinstance(value, Mapping | ChoiceFields):
        return "parts"
    return "list" if isinstance(value, list) else "name"


Choices = Annotated[
    str | list[str] | ChoiceFields,
    OneOf(_choices_form, (("name", str), ("list", list[str]), ("parts", ChoiceFields))),
]


def _as_target(value: object) -> object:
    return {"field": value} if isinstance(value, str) else value


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Fields(Frozen, frozen=True, kw_only=True):
    """Which field of a row is what; one that is not named here is looked for under its own name."""

    id: str | None = None
    input: str | None = None
    """A field, or a template over the row's fields when it has {{ }} in it."""
    target: Annotated[TargetField, Before(_as_target)] | None = None
    choices: Choices | None = None
    """A field with a list; or the choices themselves, for all rows alike; or {fields: [a, b]} or {keys: a}."""
    labels: str | None = None
    category: str | None = None
    group: str | None = None
    follow_ups: str | None = None
    files: Annotated[list[str], Before(_listed)] = field(default_factory=list)
    """Fields that name or hold images, PDFs or texts; only those named here are taken for files."""
    tags: dict[str, str] | None = None
    metadata: list[str] | None = None
    """None keeps everything that is not mapped."""


class Join(Frozen, frozen=True, kw_only=True):
    """Rows of a second source whose fields are added to the row with the same key."""

    source: Annotated[str, Bounds(min_length=1)]
    key: Annotated[str, Bounds(min_length=1)]
    format: str | None = None


class Local(Frozen, frozen=True, kw_only=True):
    """How the file in the data folder differs from the hub's: what is not said here is as it is there."""

    file: str | None = None
    """None: the benchmark's name, with .jsonl (or .dev.jsonl for examples)."""
    format: str | None = None
    fields: Fields | None = None
    transform: str | None = None
    """`none` when the folder's rows need none."""
    join: Join | None = None


class ExamplesEntry(Frozen, frozen=True, kw_only=True):
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


class Dataset(Frozen, frozen=True, kw_only=True):
    source: Annotated[str, Bounds(min_length=1)]
    fields: Fields = Fields()
    format: str | None = None
    transform: str | None = None
    """The name of a function that changes a row before its fields are read, or python://module:function."""
    join: Join | None = None
    examples: ExamplesEntry | None = None
    local: Local = Local()


class InputEntry(Frozen, frozen=True, kw_only=True):
    """What each sample's input is, where it is neither text nor a list of messages."""

    kind: Literal["json"]
    """An object or a list; templates may use its fields."""
    input_schema: dict[str, Any] | None = field(default=None, name="schema")
    """The JSON schema that every input must fit."""


class PromptFile(Frozen, frozen=True, kw_only=True):
    system: str | None = None
    user: str | None = None
    choices: Layout | None = None
    """None: `A.`."""
    answer: str | None = None
    """How the answer of a worked example is written; None: the target as it is."""
    examples: Placement = "turns"
    tools: list[dict[str, Any]] | str | None = None
    """The functions that the model may call, for all samples alike, or the field that holds each sample's own."""
    answer_schema: dict[str, Any] | str | None = field(default=None, name="schema")
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


MetricEntry = Annotated[str, Before(_metric)]
ScorerEntry = Annotated[dict[str, dict[str, Any]], Before(_scorer)]


def _in_vocabulary(tags: dict[str, str]) -> dict[str, str]:
    refuse_foreign_words(tags)
    return tags


class BenchmarkFile(Frozen, frozen=True, kw_only=True):
    name: Annotated[str, Bounds(min_length=1, pattern=r"^[\w.+-]+(/[\w.+-]+)*$")]
    version: Annotated[str, Before(_quoted)] = "1"
    description: str = ""
    licence: str | None = None
    homepage: str | None = None
    protocol: str = ""
    """What is asked and how, and where that differs from what was published."""
    tags: Annotated[dict[str, str], After(_in_vocabulary)] = field(default_factory=dict)
    dataset: Dataset
    input: InputEntry | None = None
    prompt: PromptFile = PromptFile()
    scorers: Annotated[list[ScorerEntry], Bounds(min_length=1)]
    metrics: Annotated[list[MetricEntry], Bounds(min_length=1)] = field(default_factory=lambda: ["accuracy"])
    options: Sampling = Sampling()
    """Sampling options the benchmark asks for; a model's own options win."""
    shots: Annotated[int, Bounds(ge=0)] = 0
    """Worked examples in each prompt, unless the plan says otherwise."""
    variant: str | None = None
    """What this file as it stands is called beside its variants."""
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Other ways to ask: what each says is laid over this file."""
    needs_sandbox: bool = False
