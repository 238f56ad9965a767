"""What a benchmark file of a stranger may say: its data lies beside it, and nothing in it runs code of this machine."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from proctor.benchmarks.definition import read_definition
from proctor.benchmarks.schema import BenchmarkFile, Dataset
from proctor.benchmarks.variants import laid_over
from proctor.domain.errors import BenchmarkError, UserError
from proctor.yaml_document import LocatedDocument

UPLOAD = "upload://"
FORMATS = ("jsonl", "json", "csv", "python-jsonl")
ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")
LEFT_OUT = frozenset({"lm_eval", "program", "program_mark"})
"""Scorers that come with benchmarks of other kinds."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,49}")
_YAML = (".yaml", ".yml")


class ForeignKindError(UserError):
    """Something that would run or read what is the operator's."""

    http_status = 403


def read_foreign(path: Path, files: Collection[str]) -> BenchmarkFile:
    """A stranger's benchmark file, with nothing in it that he may not use; `files` are those he sent with it."""
    definition, document = read_definition(path)
    if not is_own_name(definition.name, definition.version):
        raise BenchmarkError(
            f"{document.name}: name and version are letters, digits and _ . + -, and do not end in .yaml; here they "
            f"are {definition.name!r} and {definition.version!r}."
        )
    for name, one in {"": definition, **dict(_variants(definition, document))}.items():
        inside = ("variants", name) if name else ()
        _check_data(one.dataset, files, document, inside)
        _check_scorers(one, document, inside)
    return definition


def is_own_name(name: str, version: str | None) -> bool:
    """Whether a project's own benchmark can be called so."""
    is_name = _NAME.fullmatch(name) is not None and not name.lower().endswith(_YAML)
    is_version = version is None or (_VERSION.fullmatch(version) and not version.lower().endswith(_YAML))
    return bool(is_name and is_version)


def uploads_of(definition: BenchmarkFile, path: Path) -> list[str]:
    """The uploaded files that it takes its data from, by their ids."""
    _, document = read_definition(path)
    every = [definition, *(one for _, one in _variants(definition, document))]
    named = [source for one in every for source, _ in _sources(one.dataset)]
    return sorted({source.removeprefix(UPLOAD) for source in named if source.startswith(UPLOAD)})


def _variants(definition: BenchmarkFile, document: LocatedDocument) -> Iterator[tuple[str, BenchmarkFile]]:
    for name in definition.variants:
        yield name, BenchmarkFile.model_validate(laid_over(document.value, name))


def _sources(dataset: Dataset) -> Iterator[tuple[str, str | None]]:
    """Each source with its format."""
    yield dataset.source, dataset.format
    if dataset.join is not None:
        yield dataset.join.source, dataset.join.format
    if dataset.examples is not None and dataset.examples.source is not None:
        yield dataset.examples.source, dataset.examples.format


def _check_data(dataset: Dataset, files: Collection[str], document: LocatedDocument, inside: tuple[str, ...]) -> None:
    where = f"{document.name}:{document.line_of((*inside, 'dataset'))}: dataset"
    transforms = [dataset.transform, dataset.examples.transform if dataset.examples else None]
    if any("://" in one for one in transforms if one):
        raise ForeignKindError(f"{where}: a transform is one of those that come with Proctor, never a function.")
    for source, form in _sources(dataset):
        if form is not None and form not in FORMATS:
            raise ForeignKindError(f"{where}: the format is one of {', '.join(FORMATS)}, not {form!r}.")
        if source.startswith(UPLOAD):
            continue
        if "://" in source:
            raise ForeignKindError(
                f"{where}: {source} is somewhere else. Send the data with the benchmark file, or upload it and write "
                f"{UPLOAD}FILE."
            )
        if source not in files:
            raise BenchmarkError(f"{where}: {source} was not sent. There are: {', '.join(sorted(files))}.")
        if form is None and not source.lower().endswith(ENDINGS):
            raise BenchmarkError(f"{where}: {source} ends in none of {', '.join(ENDINGS)}.")


def _check_scorers(definition: BenchmarkFile, document: LocatedDocument, inside: tuple[str, ...]) -> None:
    for place, entry in enumerate(definition.scorers):
        for name, options in entry.items():
            line = document.line_of((*inside, "scorers", place, name))
            if any(mark in name for mark in ":/\\.") or name in LEFT_OUT:
                raise ForeignKindError(f"{document.name}:{line}: the scorer {name} cannot be used here.")
            _refuse_addresses(options, f"{document.name}:{line}: {name}")


def _refuse_addresses(value: object, where: str) -> None:
    """Options are words and numbers: a function of a module is a scorer's of the operator alone."""
    if isinstance(value, str) and value.startswith("python://"):
        raise ForeignKindError(f"{where}: {value} runs code of the server's own machine.")
    if isinstance(value, Mapping):
        for part in value.values():
            _refuse_addresses(part, where)
    elif isinstance(value, list):
        for part in value:
            _refuse_addresses(part, where)
