"""A benchmark file becomes a Benchmark."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from proctor import plugins
from proctor.benchmarks.mapping import Mapper
from proctor.benchmarks.samples import MappedSamples
from proctor.benchmarks.schema import BenchmarkFile
from proctor.benchmarks.sources import open_rows
from proctor.domain.benchmark import Benchmark, ScorerSpec
from proctor.domain.errors import BenchmarkError, did_you_mean
from proctor.domain.yaml_document import LocatedDocument, as_mapping, explain, load_yaml
from proctor.prompts.render import TemplateRenderer

CUSTOM = "python://"


def read_definition(path: Path, label: str | None = None) -> tuple[BenchmarkFile, LocatedDocument]:
    """A benchmark file, validated; a mistake is a BenchmarkError with its line."""
    document = load_yaml(path, name=label or path.name, error=BenchmarkError)
    values = as_mapping(document, "a benchmark file")
    try:
        definition = BenchmarkFile.model_validate(values)
    except ValidationError as mistake:
        raise BenchmarkError(explain(mistake, document, BenchmarkFile)) from mistake
    _refuse_unknown(document, "metrics", [(name, (place,)) for place, name in enumerate(definition.metrics)])
    scorers = [(name, (place, name)) for place, entry in enumerate(definition.scorers) for name in entry]
    _refuse_unknown(document, "scorers", [(name, place) for name, place in scorers if not name.startswith(CUSTOM)])
    return definition, document


def _refuse_unknown(document: LocatedDocument, kind: str, named: Sequence[tuple[str, tuple[int | str, ...]]]) -> None:
    for name, place in named:
        # The built-in ones first: asking for those of other packages reads every installed package's metadata.
        if name not in plugins.BUILT_IN[kind] and name not in plugins.names(kind):
            known = plugins.names(kind)
            line = document.line_of((kind, *place))
            raise BenchmarkError(
                f"{document.name}:{line}: {kind}[{place[0]}]: there is no {kind[:-1]} {name!r}."
                f"{did_you_mean(name, known)} There are: {', '.join(known)}."
            )


def build(definition: BenchmarkFile, document: LocatedDocument, folder: Path) -> Benchmark:
    """Open the data and put the benchmark together; nothing is read yet."""
    dataset, prompt = definition.dataset, definition.prompt
    scorers = tuple(ScorerSpec(name, options) for entry in definition.scorers for name, options in entry.items())
    try:
        mapper = Mapper(dataset.fields)
        renderer = TemplateRenderer(
            user=prompt.user,
            system=prompt.system,
            layout=prompt.choices,
            aliases=mapper.aliases,
            hidden=mapper.hidden,
        )
        rows = open_rows(dataset.source, folder, dataset.format)
    except BenchmarkError as mistake:
        section = "prompt" if str(mistake).startswith(("prompt", "a prompt")) else "dataset"
        raise BenchmarkError(f"{document.name}:{document.line_of((section,))}: {mistake}") from mistake
    proof = renderer if renderer.can_fail else None
    return Benchmark(
        name=definition.name,
        samples=MappedSamples(rows, mapper, scorer_needing_target(scorers), proof),
        renderer=renderer,
        scorers=scorers,
        metrics=tuple(definition.metrics),
        version=definition.version,
        options=definition.options.given(),
        description=definition.description.strip(),
        licence=definition.licence,
        source=dataset.source,
        tags=definition.tags,
    )


def scorer_needing_target(scorers: Sequence[ScorerSpec]) -> str | None:
    """The first scorer that needs a target: all do, unless their module says NEEDS_TARGET = False."""
    for scorer in scorers:
        if scorer.name.startswith(CUSTOM):
            continue
        module = sys.modules[plugins.load("scorers", scorer.name).__module__]
        if getattr(module, "NEEDS_TARGET", True):
            return scorer.name
    return None
