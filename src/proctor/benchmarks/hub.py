"""Rows from a Hugging Face hub, through huggingface_hub: its endpoint, token, cache and offline mode are honoured.

`hf://org/name/config?split=test&revision=…`: the Parquet files of one split, in the data set's own files or in the
branch into which the hub converts them. `*` for the config takes all of them, and adds the fields `config` and `row`
to each row; `split=a+b` takes one split after the other; `file=…` takes one file of the repository by its path.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct
from msgspec.structs import replace

from proctor.benchmarks.rows import Row, Rows, pick
from proctor.benchmarks.sources import open_rows
from proctor.domain.errors import BenchmarkError, NoDataError, did_you_mean
from proctor.offline import is_confined

CONVERTED = "refs/convert/parquet"
MAIN = "main"
EVERY = "*"
_OPTIONS = ("split", "revision", "file", "format")
_PART = re.compile(r"-(\d+)-of-(\d+)\.parquet$")


class HubReference(Struct, frozen=True):
    """What an hf:// address names."""

    repository: str
    config: str | None
    splits: tuple[str, ...]
    revision: str | None
    file: str | None
    format: str | None

    def __str__(self) -> str:
        return f"hf://{self.repository}" + (f"/{self.config}" if self.config else "")

    @property
    def patterns(self) -> list[str]:
        """Where the files may be, in the order of preference."""
        if self.file is not None:
            return [self.file]
        return [pattern for split in self.splits for pattern in self.patterns_of(split)]

    def patterns_of(self, split: str) -> list[str]:
        ends = (f"{split}-*.parquet", f"{split}/*.parquet", f"{split}.parquet")
        if self.config is None:
            folders = ["data/", "", "default/", "plain_text/", "*/"]
        else:
            folders = [f"{self.config}/", f"data/{self.config}/"] if self.config != EVERY else ["*/"]
        return [folder + end for folder in folders for end in ends]


def read_hub(location: str, folder: Path) -> Rows:  # noqa: ARG001 (all sources are asked alike)
    """The rows of a data set on the hub; nothing is asked of the hub before the first row is."""
    return HubRows(parse_reference(location))


def parse_reference(location: str) -> HubReference:
    """Read org/name/config?split=…; raises BenchmarkError for what is not understood."""
    path, _, query = location.partition("?")
    parts = path.strip("/").split("/")
    options = dict(parse_qsl(query, keep_blank_values=True))
    for name in options:
        if name not in _OPTIONS:
            hint = did_you_mean(name, _OPTIONS)
            raise BenchmarkError(
                f"hf://{location}: there is no option {name!r}.{hint} There are: {', '.join(_OPTIONS)}."
            )
    if len(parts) < 2 or len(parts) > 3 or not all(parts):
        raise BenchmarkError(f"hf://{location} names no data set: write hf://org/name or hf://org/name/config.")
    splits = tuple(options.get("split", "test").replace(" ", "+").split("+"))
    return HubReference(
        repository="/".join(parts[:2]),
        config=parts[2] if len(parts) == 3 else None,
        splits=splits,
        revision=options.get("revision") or None,
        file=options.get("file") or None,
        format=options.get("format") or None,
    )


class HubRows:
    """Rows of downloaded files, one file after the other; what is in the cache is not downloaded again."""

    unit = "row"

    def __init__(self, reference: HubReference) -> None:
        self.reference = reference
        self._commits: dict[str, str] = {}
        self._source = ""

    def pin(self, source: str, commits: dict[str, str]) -> None:
        """Read at the commit that stands there for this source; where none does, note the one that was read."""
        self._source, self._commits = source, commits

    @property
    def label(self) -> str:
        return str(self.reference)

    def __iter__(self) -> Iterator[Row]:
        place = 0
        for config, rows in self._files:
            for number, (_, row) in enumerate(rows):
                place += 1
                is_told = config is not None and isinstance(row, Mapping)
                yield place, {**row, "config": config, "row": number} if is_told else row

    def at(self, positions: Sequence[int]) -> Iterator[Row]:
        return pick(self, positions)

    @cached_property
    def _files(self) -> list[tuple[str | None, Rows]]:
        commit = self._commits.get(self._source)
        reference = self.reference if commit is None else replace(self.reference, revision=commit)
        self._commits[self._source], files = download(reference)
        return [(config, open_rows(path.name, path.parent, self.reference.format)) for config, path in files]


def download(reference: HubReference) -> tuple[str, list[tuple[str | None, Path]]]:
    """The commit and its files, each with its config where all configs were asked for; raises NoDataError.

    A branch may have moved by the next time; its commit is the same data for ever.
    """
    revisions = [reference.revision] if reference.revision or reference.file else [MAIN, CONVERTED]
    for place, revision in enumerate(revisions):
        folder = _snapshot(reference, revision or MAIN, is_optional=place > 0)
        found = files_in(folder, reference) if folder is not None else []
        if folder is not None and found:
            return folder.name, found  # the cache calls a snapshot's folder by its commit
    wanted = reference.file or f"Parquet file of the split {' or '.join(map(repr, reference.splits))}"
    raise NoDataError(f"{reference}: the data set has no {wanted}.")


def files_in(folder: Path, reference: HubReference) -> list[tuple[str | None, Path]]:
    """The files in a snapshot that the first fitting pattern of each split names; a split must be there whole."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    if reference.file is not None:
        return [(None, folder / reference.file)] if reference.file in names else []
    found: list[tuple[str | None, Path]] = []
    for split in reference.splits:
        matching = _first_match(names, reference.patterns_of(split))
        if not matching:
            return []
        _refuse_missing_parts(matching, reference)
        is_every = reference.config == EVERY
        found += [(_config_of(name) if is_every else None, folder / name) for name in matching]
    return found


def _first_match(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    for pattern in patterns:
        matching = [
            name for name in names if fnmatch.fnmatchcase(name, pattern) and name.count("/") == pattern.count("/")
        ]
        if matching:
            return matching
    return []


def _config_of(name: str) -> str:
    return name.partition("/")[0]


def _refuse_missing_parts(names: Sequence[str], reference: HubReference) -> None:
    for name in names:
        part = _PART.search(name)
        if part is not None:
            stem = name[: part.start()]
            have = sum(other.startswith(f"{stem}-") and bool(_PART.search(other)) for other in names)
            if have != int(part[2]):
                raise NoDataError(f"{reference}: only {have} of the {int(part[2])} parts of {stem} are here.")


def _snapshot(reference: HubReference, revision: str, *, is_optional: bool) -> Path | None:
    """The folder with the files; None when an optional revision is not there."""
    hub = _client(reference)
    errors = hub.errors
    try:
        found = hub.snapshot_download(
            reference.repository,
            repo_type="dataset",
            revision=revision,
            allow_patterns=reference.patterns,
            local_files_only=is_confined(),
        )
        return Path(found)
    except errors.RevisionNotFoundError as missing:
        if is_optional:
            return None
        raise NoDataError(f"{reference}: the hub has no revision {revision!r} of it.") from missing
    except errors.GatedRepoError as gated:
        raise NoDataError(
            f"{reference}: its authors ask for agreement to their terms first: agree on the data set's page, then set"
            " HF_TOKEN to your token."
        ) from gated
    except errors.RepositoryNotFoundError as missing:
        raise NoDataError(f"{reference}: {_refused(missing)}") from missing
    except errors.LocalEntryNotFoundError as unreachable:
        if is_optional:
            return None
        raise NoDataError(f"{reference}: {_unreachable(unreachable, hub)}") from unreachable
    except errors.HfHubHTTPError as refused:
        raise NoDataError(f"{reference}: {_refused(refused)}") from refused
    except (OSError, ValueError) as fault:
        raise NoDataError(f"{reference}: the download failed: {' '.join(str(fault).split())[:300]}") from fault
    except Exception as fault:  # the client's transport has a tree of errors of its own
        if not type(fault).__module__.startswith(("httpx", "httpcore", "requests", "hf_xet")):
            raise
        raise NoDataError(f"{reference}: the hub cannot be reached ({type(fault).__name__}: {fault}).") from fault


def _refused(error: Any) -> str:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status == 401:
        return "the hub refused it (401): there is no such data set, or it takes a token in HF_TOKEN that may read it."
    if status in (403, 404):
        return f"the hub has no such data set, or none that you may read ({status}); a token is taken from HF_TOKEN."
    return f"the hub answered with an error ({status})." if status else f"the hub refused: {str(error)[:200]}"


def _unreachable(error: BaseException, hub: Any) -> str:
    if is_confined():
        return "nothing is fetched offline, and the data is not wholly in the hub's cache: run once without --offline."
    if hub.constants.HF_HUB_OFFLINE:
        return "this machine is set to offline (HF_HUB_OFFLINE), and the data is not wholly in the hub's cache."
    cause = error.__cause__
    status = getattr(getattr(cause, "response", None), "status_code", None)
    why = f"it answered {status}" if status else type(cause).__name__ if cause else "no answer"
    return f"the hub at {hub.constants.ENDPOINT} cannot be reached ({why}), and the data is not in its cache."


def _client(reference: HubReference) -> Any:
    try:
        hub: Any = import_module("huggingface_hub")
        for name in ("constants", "errors", "utils"):
            import_module(f"huggingface_hub.{name}")
        import_module("pyarrow")
    except ImportError as missing:
        raise NoDataError(
            f"{reference}: reading from the hub takes the packages huggingface_hub and pyarrow:"
            " pip install 'proctor[hub]'."
        ) from missing
    hub.utils.disable_progress_bars()  # the command line has its own
    hub.utils.logging.set_verbosity_error()
    return hub
