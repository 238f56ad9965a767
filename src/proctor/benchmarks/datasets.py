"""From the `dataset` part of a benchmark file to its samples: out of a data folder, the hub, or wherever it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct, field

from proctor.benchmarks.files import DataFolder
from proctor.benchmarks.hub import HubRows
from proctor.benchmarks.packaged import find_function
from proctor.benchmarks.reshaping import JoinedRows, TransformedRows
from proctor.benchmarks.rows import Row, Rows, StreamedRows
from proctor.benchmarks.schema import Dataset, ExamplesEntry, Fields, Join, Local
from proctor.benchmarks.sources import open_rows
from proctor.benchmarks.transforms import EXPANDING, TRANSFORMS
from proctor.domain.errors import BenchmarkError, NoDataError, did_you_mean

PYTHON = "python://"
HUB, DATA = "hf://", "data://"
"""Sources that lie elsewhere: a file in the data folder takes their place."""
NONE = "none"


class DataLocation(Struct, frozen=True):
    """Where a benchmark's data is looked for."""

    name: str
    folder: Path
    data: Path | None = None
    revisions: dict[str, str] = field(default_factory=dict)
    """The commit of each source on a hub: the one to read, or the one that was read, once it was."""


class Opened(Struct, frozen=True):
    """Rows, and how to read them."""

    rows: Rows
    fields: Fields
    source: str
    files: DataFolder


def open_dataset(dataset: Dataset, location: DataLocation, rows: Rows | None = None) -> Opened:
    """Nothing is read yet; data that cannot be had is a NoDataError once it is asked for. `rows` replace the source."""
    if rows is not None:
        shaped = _reshaped(rows, dataset.transform, dataset.join, location, location.folder)
        return Opened(shaped, dataset.fields, dataset.source, DataFolder(location.folder, location.folder))
    return _opened(dataset.source, dataset, dataset.local, f"{location.name}.jsonl", location)


def open_examples(dataset: Dataset, location: DataLocation) -> Opened | None:
    """The pool of worked examples; None when it is the samples themselves."""
    examples = dataset.examples
    if examples is None or examples.source is None:
        return None
    merged = dataset.model_copy(
        update={
            "fields": examples.fields or dataset.fields,
            "transform": examples.transform or dataset.transform,
            "format": examples.format,
            "join": None,
        }
    )
    local = _local_examples(examples, dataset)
    return _opened(examples.source, merged, local, f"{location.name}.dev.jsonl", location)


def _local_examples(examples: ExamplesEntry, dataset: Dataset) -> Local:
    """What the folder's examples do not say themselves is as its samples are, unless the examples are a thing apart."""
    if examples.fields is not None or examples.transform is not None:
        return examples.local
    given = examples.local
    return Local(
        file=given.file,
        format=given.format,
        fields=given.fields or dataset.local.fields,
        transform=given.transform or dataset.local.transform,
        join=given.join,
    )


def _opened(source: str, dataset: Dataset, local: Local, file: str, location: DataLocation) -> Opened:
    file = local.file or file
    if source.startswith((HUB, DATA)) and location.data is not None and (location.data / file).is_file():
        transform = local.transform or dataset.transform
        rows = open_rows(file, location.data, local.format)
        rows = _reshaped(rows, transform, local.join, location, location.data)
        return Opened(rows, local.fields or dataset.fields, file, _data_folder(file, location.data))
    if source.startswith(DATA):
        file = source.removeprefix(DATA)
        rows = _nowhere(file, location)
    else:
        rows = open_pinned(source, location.folder, location.revisions, dataset.format)
        if source.startswith(HUB):
            rows = AdvisedRows(rows, _advice(file, location))
    rows = _reshaped(rows, dataset.transform, dataset.join, location, location.folder)
    return Opened(rows, dataset.fields, source, _data_folder(source, location.folder))


def open_pinned(source: str, folder: Path, revisions: dict[str, str], format_name: str | None = None) -> Rows:
    """The source's rows; from a hub, at the commit that `revisions` has for it, or noting there which one it was."""
    rows = open_rows(source, folder, format_name)
    if isinstance(rows, HubRows):
        rows.pin(source, revisions)
    return rows


def _data_folder(source: str, folder: Path) -> DataFolder:
    """Files lie beside the data file; for data that is no file, beside the benchmark file."""
    return DataFolder(folder if "://" in source else (folder / source).parent, folder)


def _reshaped(rows: Rows, transform: str | None, join: Join | None, location: DataLocation, folder: Path) -> Rows:
    if join is not None:
        rows = JoinedRows(rows, open_pinned(join.source, folder, location.revisions, join.format), join.key)
    if transform is None or transform == NONE:
        return rows
    if transform.startswith(PYTHON):
        function = find_function(transform.removeprefix(PYTHON), location.folder)
        return TransformedRows(rows, function, transform, is_expanding=True)
    if transform not in TRANSFORMS:
        hint = did_you_mean(transform, TRANSFORMS)
        raise BenchmarkError(
            f"there is no transform {transform!r}.{hint} There are: {', '.join(TRANSFORMS)}, and python://module:function."
        )
    return TransformedRows(rows, TRANSFORMS[transform], transform, transform in EXPANDING)


def _advice(file: str, location: DataLocation) -> str:
    if location.data is not None:
        return f"The folder {location.data} has no {file} either."
    return f"Or put {file} into a folder, and name the folder with --data or PROCTOR_DATA."


def _nowhere(file: str, location: DataLocation) -> Rows:
    def refuse() -> Iterable[Row]:
        where = f"the folder {location.data} has none" if location.data is not None else "no folder is named"
        raise NoDataError(
            f"{location.name} needs {file}, which is on no hub: {where}. Put it into a folder, and name the folder with"
            f" --data or PROCTOR_DATA; 'proctor benchmarks show {location.name}' says where it comes from."
        )

    return StreamedRows(file, "line", refuse)


class AdvisedRows(Struct, frozen=True):
    """Rows from elsewhere; when they cannot be had, the user learns what else to do."""

    rows: Rows
    advice: str

    @property
    def label(self) -> str:
        return self.rows.label

    @property
    def unit(self) -> str:
        return self.rows.unit

    def __iter__(self) -> Iterator[Row]:
        try:
            yield from self.rows
        except NoDataError as missing:
            raise NoDataError(f"{missing} {self.advice}") from missing

    def at(self, positions: Sequence[int]) -> Iterator[Row]:
        try:
            yield from self.rows.at(positions)
        except NoDataError as missing:
            raise NoDataError(f"{missing} {self.advice}") from missing
