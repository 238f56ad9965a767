"""A benchmark file becomes a Benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

from msgspec import Struct

from proctor import plugins
from proctor.benchmarks.datasets import DataLocation, Opened, open_dataset, open_examples
from proctor.benchmarks.examples import ExamplePool, Remaining
from proctor.benchmarks.json_input import JsonInputReader
from proctor.benchmarks.mapping import Mapper
from proctor.benchmarks.rows import Rows
from proctor.benchmarks.samples import MappedSamples
from proctor.benchmarks.schema import BenchmarkFile
from proctor.benchmarks.variants import laid_over
from proctor.domain.benchmark import Benchmark, Samples, ScorerSpec
from proctor.domain.errors import BenchmarkError, PlanError, did_you_mean
from proctor.domain.fields import InvalidValueError
from proctor.domain.matrix import PromptText
from proctor.domain.scorer import traits_of
from proctor.metrics.registry import create_metric, metric_name
from proctor.prompts.choices import USUAL_LAYOUT, Layout
from proctor.prompts.render import TemplateRenderer
from proctor.yaml_document import LocatedDocument, as_mapping, explain, explain_value, load_yaml

CUSTOM = "python://"
RUN_AS = {"inspect": "inspect:", "deepeval_benchmark": "deepeval:"}
"""Scorers whose options name code or folders, and what the benchmarks are called that they belong to."""


class Asked(Struct, frozen=True):
    """What a plan says of a benchmark beside its name."""

    seed: int = 0
    shots: int | None = None
    variant: str | None = None
    layout: str | None = None
    prompt: PromptText | None = None
    """In the place of the benchmark's own."""


AS_IT_IS = Asked()


def read_definition(
    path: Path, label: str | None = None, asked: Asked = AS_IT_IS
) -> tuple[BenchmarkFile, LocatedDocument]:
    """A benchmark file in the variant asked for, validated; a mistake is a BenchmarkError with its line."""
    document = load_yaml(path, name=label or path.name, error=BenchmarkError)
    values = as_mapping(document, "a benchmark file")
    try:
        definition = BenchmarkFile.model_validate(values)
    except InvalidValueError as mistake:
        raise BenchmarkError(explain(mistake, document, BenchmarkFile)) from mistake
    varied = {name: _varied(values, name, document) for name in definition.variants}
    for name, one in {"": definition, **varied}.items():
        _refuse_unknown_parts(one, document, ("variants", name) if name else ())
    has_variants = bool(varied or definition.variant)
    if has_variants and asked.variant is not None and asked.variant != definition.variant:
        if asked.variant not in varied:
            known = [*([definition.variant] if definition.variant else []), *varied]
            raise BenchmarkError(
                f"The benchmark {definition.name!r} has no variant {asked.variant!r}."
                f"{did_you_mean(asked.variant, known)} There are: {', '.join(known)}.",
                setting="variant",
            )
        definition = varied[asked.variant]
    return definition, document


def read_mapping(values: Mapping[str, Any], label: str) -> tuple[BenchmarkFile, LocatedDocument]:
    """What a benchmark file would say, said by a function; a mistake is a BenchmarkError with its field's path."""
    document = LocatedDocument(values, label, BenchmarkError)
    try:
        definition = BenchmarkFile.model_validate(values)
    except InvalidValueError as mistake:
        raise BenchmarkError(f"{label}: {explain_value(mistake, BenchmarkFile)}") from mistake
    _refuse_unknown_parts(definition, document, ())
    return definition, document


def _varied(values: Mapping[str, Any], name: str, document: LocatedDocument) -> BenchmarkFile:
    try:
        return BenchmarkFile.model_validate(laid_over(values, name))
    except InvalidValueError as mistake:
        line = document.line_of(("variants", name))
        reason = explain_value(mistake, BenchmarkFile)
        raise BenchmarkError(f"{document.name}:{line}: variants.{name}: {reason}") from mistake


def _refuse_unknown_parts(definition: BenchmarkFile, document: LocatedDocument, inside: tuple[str, ...]) -> None:
    metrics = [(metric_name(written), (place,)) for place, written in enumerate(definition.metrics)]
    _refuse_unknown(document, "metrics", metrics, inside)
    for place, written in enumerate(definition.metrics):
        try:
            create_metric(written)
        except PlanError as mistake:
            line = document.line_of((*inside, "metrics", place))
            raise BenchmarkError(
                f"{document.name}:{line}: {'.'.join((*inside, 'metrics'))}[{place}]: {mistake}"
            ) from mistake
    scorers = [(name, (place, name)) for place, entry in enumerate(definition.scorers) for name in entry]
    _refuse_code(document, scorers, inside)
    named = [(name, place) for name, place in scorers if not name.startswith(CUSTOM)]
    _refuse_unknown(document, "scorers", named, inside)


def _refuse_code(
    document: LocatedDocument, named: Sequence[tuple[str, tuple[int | str, ...]]], inside: tuple[str, ...]
) -> None:
    """A file may come from anybody; a scorer whose options name code belongs to what the operator names himself."""
    for name, place in named:
        if name in RUN_AS and not document.name.startswith(RUN_AS[name]):
            line = document.line_of((*inside, "scorers", *place))
            raise BenchmarkError(
                f"{document.name}:{line}: {'.'.join((*inside, 'scorers'))}[{place[0]}]: the scorer {name!r} marks "
                f"the tasks that are run as {RUN_AS[name]}…, and no others."
            )


def _refuse_unknown(
    document: LocatedDocument,
    kind: str,
    named: Sequence[tuple[str, tuple[int | str, ...]]],
    inside: tuple[str, ...],
) -> None:
    for name, place in named:
        if not plugins.is_known(kind, name):
            known = plugins.names(kind)
            line = document.line_of((*inside, kind, *place))
            raise BenchmarkError(
                f"{document.name}:{line}: {'.'.join((*inside, kind))}[{place[0]}]: there is no {kind[:-1]} {name!r}."
                f"{did_you_mean(name, known)} There are: {', '.join(known)}."
            )


def build(
    definition: BenchmarkFile,
    document: LocatedDocument,
    place: DataLocation,
    asked: Asked = AS_IT_IS,
    rows: Rows | None = None,
) -> Benchmark:
    """Open the data and put the benchmark together; nothing is read yet. `rows` take the place of the source."""
    scorers = _scorers(definition, document, asked.variant)
    shots = definition.shots if asked.shots is None else asked.shots
    if shots and definition.dataset.examples is None:
        raise BenchmarkError(
            f"The benchmark {definition.name!r} has no examples to show, so 'shots' cannot be given.", setting="shots"
        )
    json_input = _json_input(definition, document)
    try:
        opened = open_dataset(definition.dataset, place, rows)
        mapper = Mapper(opened.fields, opened.files, json_input)
        plain = MappedSamples(opened.rows, mapper, scorer_needing_target(scorers))
        pool = _pool(definition, place, plain, opened, shots, asked.seed, json_input) if shots else None
        renderer = _renderer(definition, mapper, pool, asked)
    except BenchmarkError as mistake:
        section = "prompt" if str(mistake).startswith(("prompt", "a prompt")) else "dataset"
        if section == "prompt" and asked.prompt is not None:  # the plan's, so of no line of this file
            raise BenchmarkError(str(mistake), setting="prompt") from mistake
        raise BenchmarkError(f"{document.name}:{document.line_of((section,))}: {mistake}") from mistake
    proof = renderer if renderer.can_fail else None
    samples: Samples = MappedSamples(opened.rows, mapper, plain.needs_target, proof)
    if pool is not None and pool.samples is plain:
        samples = Remaining(samples, pool)
    return Benchmark(
        name=definition.name,
        samples=samples,
        renderer=renderer,
        scorers=scorers,
        metrics=tuple(definition.metrics),
        version=definition.version,
        options=definition.options.given(),
        description=definition.description.strip(),
        licence=definition.licence,
        source=opened.source,
        tags=definition.tags,
        needs_sandbox=definition.needs_sandbox,
        shots=shots if definition.dataset.examples is not None else None,
        revisions=place.revisions,
        input_kind=_input_kind(definition),
    )


def _json_input(definition: BenchmarkFile, document: LocatedDocument) -> JsonInputReader | None:
    if definition.input is None:
        return None
    try:
        return JsonInputReader(definition.input.input_schema)
    except BenchmarkError as mistake:
        raise BenchmarkError(f"{document.name}:{document.line_of(('input',))}: input.schema: {mistake}") from mistake


def _input_kind(definition: BenchmarkFile) -> str:
    if definition.input is None:
        return ""
    return "JSON, checked against a schema" if definition.input.input_schema is not None else "JSON"


def _scorers(definition: BenchmarkFile, document: LocatedDocument, variant: str | None) -> tuple[ScorerSpec, ...]:
    """Each with its place in the file: whether its options are right shows only where scorers are made."""
    own = document.value.get("variants", {}).get(variant, {})
    inside = ("variants", str(variant)) if "scorers" in own else ()
    found = []
    for place, entry in enumerate(definition.scorers):
        for name, options in entry.items():
            line = document.line_of((*inside, "scorers", place, name))
            path = f"{'.'.join((*inside, 'scorers'))}[{place}]"
            found.append(ScorerSpec(name, options, f"{document.name}:{line}: {path}"))
    return tuple(found)


def _renderer(definition: BenchmarkFile, mapper: Mapper, pool: ExamplePool | None, asked: Asked) -> TemplateRenderer:
    prompt, layout, layouts = definition.prompt, asked.layout, get_args(Layout)
    if asked.prompt is not None:
        prompt = prompt.model_copy(update=asked.prompt.model_dump(exclude={"name"}, exclude_none=True))
    if layout is not None and layout not in layouts:
        hint = did_you_mean(layout, layouts)
        raise BenchmarkError(f"the parameter 'choices' is {layout!r}.{hint} There are: {', '.join(layouts)}.")
    return TemplateRenderer(
        user=prompt.user,
        system=prompt.system,
        layout=cast("Layout", layout) if layout is not None else prompt.choices or USUAL_LAYOUT,
        aliases=mapper.aliases,
        hidden=mapper.hidden,
        answer=prompt.answer,
        examples=pool,
        placement=prompt.examples,
        tools=tuple(prompt.tools) if isinstance(prompt.tools, list) else prompt.tools,
        schema=prompt.answer_schema,
        is_json_input=definition.input is not None,
    )


def _pool(
    definition: BenchmarkFile,
    place: DataLocation,
    samples: Samples,
    opened: Opened,
    shots: int,
    seed: int,
    json_input: JsonInputReader | None,
) -> ExamplePool | None:
    examples = definition.dataset.examples
    if examples is None:
        return None
    other = open_examples(definition.dataset, place)
    return ExamplePool(
        samples if other is None else MappedSamples(other.rows, Mapper(other.fields, other.files, json_input)),
        shots,
        seed=seed,
        pick=examples.pick,
        is_by_category=examples.by == "category",
        label=(other or opened).rows.label,
    )


def scorer_needing_target(scorers: Sequence[ScorerSpec]) -> str | None:
    """The first scorer that needs a target: all do, unless their traits say otherwise."""
    for scorer in scorers:
        if scorer.name.startswith(CUSTOM):
            continue
        if traits_of(plugins.load("scorers", scorer.name)).needs_target:
            return scorer.name
    return None
