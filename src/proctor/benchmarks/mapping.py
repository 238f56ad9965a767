"""Rows become samples: which field is what, read the same way from every source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from proctor.benchmarks.answers import TargetReader, text_of
from proctor.benchmarks.files import DataFolder
from proctor.benchmarks.json_input import JsonInputReader
from proctor.benchmarks.messages import read_messages
from proctor.benchmarks.rows import read_path
from proctor.benchmarks.schema import ChoiceFields, Fields
from proctor.domain.errors import BenchmarkError, TemplateLimitError, did_you_mean
from proctor.domain.message import Message, Part
from proctor.domain.sample import Sample
from proctor.prompts.choices import LETTERS
from proctor.prompts.template import Template

_Read = Callable[[Mapping[str, Any]], Any]
_FURTHER = frozenset({"choices", "category", "group", "follow_ups", "tags"})
"""What a row may have beside a question and an answer, under its own name or another."""


class RowError(ValueError):
    """What is wrong with one row."""


class _Compiled(Struct, frozen=True):
    """One reader for each part of a sample; a part that is not there is read as None."""

    id: _Read
    input: _Read
    choices: _Read
    category: _Read
    group: _Read
    follow_ups: _Read
    tags: Mapping[str, _Read] | None
    metadata: _Read
    files: tuple[_Read, ...]


class Mapper:
    """Makes a sample of a row; raises RowError saying what is missing or of the wrong type."""

    def __init__(
        self, fields: Fields, folder: DataFolder | None = None, json_input: JsonInputReader | None = None
    ) -> None:
        self.fields = fields
        self._json_input = json_input
        if json_input is not None:
            _refuse_target_in_input(fields)
        self._folder = folder
        self._answers = TargetReader(fields.target, _reader("labels", fields.labels) if fields.labels else None, _field)
        self._is_plain = not (fields.files or any(getattr(fields, name) for name in _FURTHER))
        used = _used_paths(fields)
        self._read = _Compiled(
            id=_optional("id", fields.id),
            input=_input_reader(fields.input, self.hidden),
            choices=_choices_reader(fields.choices),
            category=_optional("category", fields.category),
            group=_optional("group", fields.group),
            follow_ups=_optional("follow_ups", fields.follow_ups),
            tags={name: _reader("tags", path) for name, path in fields.tags.items()} if fields.tags else None,
            metadata=_metadata_reader(fields, used),
            files=tuple(_reader("files", path) for path in fields.files),
        )

    @property
    def aliases(self) -> dict[str, str]:
        """The data's own names for what templates may use."""
        named = {"input": self.fields.input, "category": self.fields.category, "id": self.fields.id}
        if isinstance(self.fields.choices, str):
            named["choices"] = self.fields.choices
        return {path: name for name, path in named.items() if path and path != name and path.isidentifier()}

    @property
    def hidden(self) -> frozenset[str]:
        """The data's names for the target."""
        path = self.fields.target.field if self.fields.target else "target"
        return frozenset({path.partition(".")[0]}) if "." not in path else frozenset()

    def sample(self, row: Any, number: int) -> Sample:
        """`number`, from 1, is the id of a row that has none of its own."""
        if isinstance(row, Sample):
            return replace(row, input=self._input(row.input, row.id)) if self._json_input is not None else row
        read = self._read
        found_id = read.id(row)
        sample_id = str(number) if found_id is None else _identifier(found_id)
        given = read.input(row)
        asked = given if type(given) is str and self._json_input is None else self._input(given, sample_id)
        if self._is_plain and _FURTHER.isdisjoint(row):  # most data: nothing but a question and an answer
            return Sample(sample_id, asked, self._answers.read(row, ()), metadata=read.metadata(row))
        choices = _choices(read.choices(row))
        return Sample(
            sample_id,
            asked,
            self._answers.read(row, choices),
            choices,
            _label("category", read.category(row)),
            _label("group", read.group(row)),
            _texts(read.follow_ups(row)),
            _tags(read.tags, row),
            read.metadata(row),
            self._files(row) if read.files else (),
        )

    def _input(self, given: Any, sample_id: str) -> str | tuple[Message, ...]:
        if self._json_input is None:
            return _input(given)
        try:
            return self._json_input.read(given)
        except ValueError as mistake:
            raise RowError(f"the input of the sample {sample_id!r}: {mistake}") from mistake
        except BenchmarkError as fault:  # of the schema: every row would take as long
            raise BenchmarkError(f"the input of the sample {sample_id!r}: {fault}.") from fault

    def _files(self, row: Mapping[str, Any]) -> tuple[Part, ...]:
        if self._folder is None:
            raise RowError("files cannot be read from this source")
        try:
            return tuple(part for read in self._read.files for part in self._folder.read(read(row)))
        except RowError:
            raise
        except ValueError as mistake:
            raise RowError(str(mistake)) from mistake


def _field(path: str, what: str) -> _Read:
    return _reader(what, path)


def _reader(what: str, path: str) -> _Read:
    """Reads a field that the benchmark file names: not having it is a mistake."""
    steps = path.split(".")

    def top(row: Mapping[str, Any]) -> Any:
        try:
            return row[path]
        except KeyError:
            raise _missing(what, path, row) from None

    def deep(row: Mapping[str, Any]) -> Any:
        if path in row:  # a key may have a full stop in it
            return row[path]
        try:
            return read_path(row, steps)
        except KeyError:
            raise _missing(what, path, row) from None

    return top if len(steps) == 1 else deep


def _missing(what: str, path: str, row: Mapping[str, Any]) -> RowError:
    known = [str(key) for key in row]
    return RowError(
        f"there is no field {path!r} for the {what}.{did_you_mean(path, known)} The row has: {', '.join(known[:15])}"
    )


def _optional(what: str, path: str | None) -> _Read:
    """The named field, or the one of that very name where a row has it."""
    return _reader(what, path) if path else lambda row: row.get(what)


def _input_reader(path: str | None, hidden: frozenset[str]) -> _Read:
    if path is None or "{{" not in path:
        return _reader("input", path or "input")
    try:
        template = Template(path)
    except BenchmarkError as mistake:
        raise BenchmarkError(f"dataset.fields.input: {mistake}") from mistake
    shown = hidden.intersection(template.names or ())
    if shown:
        raise BenchmarkError(f"dataset.fields.input may not use {{{{ {min(shown)} }}}}: that is the expected answer.")

    def fill(row: Mapping[str, Any]) -> str:
        try:
            return template.render({key: value for key, value in row.items() if key not in hidden})
        except TemplateLimitError as fault:
            raise TemplateLimitError(f"dataset.fields.input: {fault}.") from fault
        except BenchmarkError as fault:
            raise RowError(f"the input: {fault}; the row has: {', '.join(map(str, row))}") from fault

    return fill


def _refuse_target_in_input(fields: Fields) -> None:
    """Taken from inside the input, the expected answer would be in every prompt."""
    asked, target = fields.input or "input", fields.target.field if fields.target else "target"
    if target == asked or target.startswith(f"{asked}."):
        raise BenchmarkError(f"dataset.fields.target: {target!r} is in the input {asked!r}, which the prompt shows")


def _choices_reader(choices: str | list[str] | ChoiceFields | None) -> _Read:
    if isinstance(choices, list):
        constant = list(choices)
        return lambda _: constant
    if isinstance(choices, ChoiceFields):
        if choices.keys is not None:
            mapping = _reader("choices", choices.keys)
            return lambda row: list(mapping(row))
        readers = [_reader("choices", path) for path in choices.fields or ()]
        return lambda row: [read(row) for read in readers]
    return _optional("choices", choices)


def _used_paths(fields: Fields) -> set[str]:
    """Fields that are mapped, and so not metadata."""
    used: set[str] = set()
    for name in ("id", "input", "choices", "labels", "category", "group", "follow_ups"):
        value = getattr(fields, name)
        if isinstance(value, str) and "{{" not in value:
            used.add(value)
        elif isinstance(value, ChoiceFields):
            used.update(value.fields or [value.keys or ""])
        elif value is None:
            used.add(name)
    used.update(fields.files)
    used.add(fields.target.field if fields.target else "target")
    used.update((fields.tags or {"": "tags"}).values())
    return used


def _metadata_reader(fields: Fields, used: set[str]) -> _Read:
    if fields.metadata is not None:
        readers = {path: _reader("metadata", path) for path in fields.metadata}
        return lambda row: {path: read(row) for path, read in readers.items()}
    deep = [path.split(".") for path in used if "." in path]

    def rest(row: Mapping[str, Any]) -> dict[str, Any]:
        if used.issuperset(row):  # most data
            return {}
        kept = {key: value for key, value in row.items() if key not in used}
        for steps in deep:
            _cut(kept, steps)
        own = kept.get("metadata")
        if type(own) is dict:
            del kept["metadata"]
            return {**own, **kept}
        return kept

    return rest


def _cut(kept: dict[str, Any], steps: list[str]) -> None:
    """Take one inner value out, without touching the row; what is then empty goes too."""
    inner = kept.get(steps[0])
    if not isinstance(inner, Mapping):
        kept.pop(steps[0], None)  # a place in a list: the list is what was mapped
        return
    copy = dict(inner)
    if len(steps) == 2:
        copy.pop(steps[1], None)
    else:
        _cut(copy, steps[1:])
    if copy:
        kept[steps[0]] = copy
    else:
        del kept[steps[0]]


def _identifier(value: Any) -> str:
    if type(value) is str:
        if value.strip():
            return value
    elif type(value) is int:
        return str(value)
    raise RowError(f"the id must be text or a whole number, not {_shown(value)}")


def _input(value: Any) -> str | tuple[Message, ...]:
    if isinstance(value, list | tuple) and value:
        try:
            return read_messages(value)
        except ValueError as mistake:
            raise RowError(f"the input: {mistake}") from mistake
    raise RowError(f"the input must be text or a list of messages, not {_shown(value)}")


def _choices(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise RowError(f"the choices must be a list, not {_shown(value)}")
    if len(value) > len(LETTERS):
        raise RowError(f"there are {len(value)} choices; at most {len(LETTERS)} can be told apart by letters")
    texts = []
    for choice in value:
        text = choice if type(choice) is str else text_of(choice)
        if text is None:
            raise RowError(f"a choice must be text, not {_shown(choice)}")
        texts.append(text)
    return tuple(texts)


def _label(what: str, value: Any) -> str | None:
    if type(value) is str:
        return value or None
    if value is None:
        return None
    text = text_of(value)
    if text is None:
        raise RowError(f"the {what} must be text, not {_shown(value)}")
    return text


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, list | tuple) and all(isinstance(turn, str) for turn in value):
        return tuple(value)
    raise RowError(f"follow_ups must be a list of texts, not {_shown(value)}")


def _tags(readers: Mapping[str, _Read] | None, row: Mapping[str, Any]) -> dict[str, str]:
    if readers is None:
        given = row.get("tags")
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise RowError(f"the tags must be a mapping, not {_shown(given)}")
    else:
        given = {name: read(row) for name, read in readers.items()}
    return {str(name): text for name, value in given.items() if (text := _label(f"tag {name!r}", value)) is not None}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
