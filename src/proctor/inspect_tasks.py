"""Tasks of Inspect, asked and marked here: its solvers write the prompt, its scorers mark the answer.

A task is run as Inspect runs it, but for the one moment in which a model is asked: there the prompt is taken, or the
answer that is known by then is given. What asks more than once, uses tools, needs a sandbox or asks a model of
Inspect's own cannot be run so, and is refused with that reason.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.metadata import version as version_of_package
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from proctor.domain.errors import BenchmarkError, ScorerError
from proctor.domain.identity import digest
from proctor.domain.text import message_of

T = TypeVar("T")
INSTALL = "pip install inspect-ai"
MODEL = "proctor/model"
GRADED = ("model_graded_fact", "model_graded_qa")
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
NO_ANSWER = "N"


class AskedOnceError(Exception):
    """A task that cannot be asked with one prompt; the message says why."""


class InspectMark(Struct, frozen=True):
    """What a scorer of Inspect said; `value` is None where it is no mark from 0 to 1."""

    value: float | None
    answer: str | None
    reason: str
    is_invalid: bool = False


class InspectTask:
    """A task with its data; `names` are those of its scorers."""

    def __init__(self, task: Any, label: str, content: str) -> None:
        self._task, self.label = task, label
        self.name = str(task.name or label.rpartition("@")[2].rpartition("/")[2])
        self.task_version = str(getattr(task, "version", 0))
        self.digest = digest([inspect_version(), content])[:12]
        scorers = task.scorer if isinstance(task.scorer, list) else [task.scorer] if task.scorer else []
        self._scorers = scorers
        self.names = _distinct([_registered_name(one) for one in scorers])
        self.samples = {str(number if one.id is None else one.id): one for number, one in enumerate(task.dataset, 1)}
        self._refuse_what_cannot_be_run()

    def prompts(self) -> dict[str, list[dict[str, str]]]:
        """The messages that each sample's model is asked with, by the sample's id."""

        async def ask_all() -> dict[str, list[dict[str, str]]]:
            return {identity: await self._prompt(identity) for identity in self.samples}

        try:
            return _run(ask_all)
        except AskedOnceError as error:
            raise BenchmarkError(f"{self.label}: {error}") from error

    async def mark(self, identity: str, place: int, text: str, asked: Sequence[tuple[str, str]]) -> InspectMark:
        """What the scorer at `place` says of an answer to a sample; raises ScorerError where it cannot say."""
        if identity not in self.samples:
            raise ScorerError(f"{self.label} has no sample {identity!r} any more.")
        try:
            state, prompt = await self._solved(identity, text)
        except AskedOnceError as error:
            raise ScorerError(f"{self.label}: {error}") from error
        if [(one["role"], one["content"]) for one in prompt] != list(asked):
            raise ScorerError(f"{self.label} asks differently each time, so an answer cannot be marked afterwards.")
        from inspect_ai.scorer import Target

        try:
            score = await self._scorers[place](state, Target(self.samples[identity].target))
        except Exception as error:
            raise ScorerError(f"{self.names[place]} of {self.label} raised {_said(error)}") from error
        return _mark(score)

    async def _prompt(self, identity: str) -> list[dict[str, str]]:
        _, prompt = await self._solved(identity, "")
        return prompt

    async def _solved(self, identity: str, text: str) -> tuple[Any, list[dict[str, str]]]:
        """The state after all solvers, had the model answered so; and what it was asked."""
        from inspect_ai.model import ModelOutput

        state, prompts = self._state(identity), list[list[dict[str, str]]]()

        async def generate(state: Any, *_: object, **__: object) -> Any:
            if state.tools:
                raise AskedOnceError("it uses tools; run it with Inspect, and import the log (proctor import)")
            prompts.append([_message(one) for one in state.messages])
            state.output = ModelOutput.from_content(MODEL, text)
            state.messages.append(state.output.message)
            return state

        try:
            state = await self._task.solver(state, generate)
        except AskedOnceError:
            raise
        except Exception as error:
            raise AskedOnceError(f"its solver raised {_said(error)}") from error
        if len(prompts) != 1:
            raise AskedOnceError(f"it asks {len(prompts)} times for one sample, not once; run it with Inspect")
        return state, prompts[0]

    def _state(self, identity: str) -> Any:
        from inspect_ai.model import ChatMessageUser, ModelName
        from inspect_ai.scorer import Target
        from inspect_ai.solver import TaskState

        sample = self.samples[identity].model_copy(deep=True)
        given = sample.input
        messages = [ChatMessageUser(content=given)] if isinstance(given, str) else list(given)
        return TaskState(
            model=ModelName(MODEL),
            sample_id=identity,
            epoch=1,
            input=given,
            messages=messages,
            target=Target(sample.target),
            choices=sample.choices,
            metadata=sample.metadata or {},
        )

    def _refuse_what_cannot_be_run(self) -> None:
        task, samples = self._task, self.samples.values()
        if not self._scorers:
            raise BenchmarkError(f"{self.label} has no scorer, so nothing can be marked.")
        if task.sandbox or task.setup or any(one.sandbox or one.setup or one.files for one in samples):
            raise BenchmarkError(f"{self.label} needs a sandbox of Inspect's: run it with Inspect, and import the log.")
        graded = [name for name in self.names if name in GRADED]
        if graded:
            raise BenchmarkError(
                f"{self.label}: {graded[0]} asks a model of Inspect's own, whose cost and faults nobody would see "
                "here. Use a scorer judge_… in a benchmark file instead."
            )


def load(reference: str, arguments: Mapping[str, Any], folder: Path) -> InspectTask:
    """The task `path/file.py@name`, or `package/name` as it is registered; raises BenchmarkError.

    It is made once in a process; a file that has changed is read anew.
    """
    if importlib.util.find_spec("inspect_ai") is None:
        raise BenchmarkError(f"inspect:{reference} needs Inspect, which is not installed: {INSTALL}.")
    path, name = split_reference(reference)
    content = "" if path is None else _read(folder / path, reference)
    key = digest([name, content, dict(arguments)])
    if key not in _tasks:
        made = _registered(reference, arguments) if path is None else _in_file(folder / path, name, content, arguments)
        _tasks[key] = InspectTask(made, reference, key)
    return _tasks[key]


def split_reference(reference: str) -> tuple[str | None, str]:
    """The file that a reference names, None where it names a package's task; and the task's name."""
    path, mark, name = reference.rpartition("@")
    return (path, name) if mark else (None, reference)


def inspect_version() -> str:
    return version_of_package("inspect-ai")


_tasks: dict[str, InspectTask] = {}


def _read(path: Path, reference: str) -> str:
    if not path.is_file():
        raise BenchmarkError(f"There is no file {path.name} for inspect:{reference}.")
    return path.read_bytes().hex()


def _registered(reference: str, arguments: Mapping[str, Any]) -> Any:
    from inspect_ai.util import registry_create

    try:
        return registry_create("task", reference, **dict(arguments))
    except Exception as error:
        raise BenchmarkError(f"Inspect has no task {reference!r} that can be made here: {_said(error)}") from error


def _in_file(path: Path, name: str, content: str, arguments: Mapping[str, Any]) -> Any:
    module_name = f"proctor_inspect_{digest(content)[:16]}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise BenchmarkError(f"{path.name} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
        made = getattr(module, name)(**dict(arguments))
    except Exception as error:
        raise BenchmarkError(f"{name} of {path.name} cannot be made: {_said(error)}") from error
    if not isinstance(made, import_module("inspect_ai").Task):
        raise BenchmarkError(f"{name} of {path.name} gives {type(made).__name__}, not a Task.")
    return made


def _run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """In a thread: the caller's may have an event loop that is running."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


def _message(message: Any) -> dict[str, str]:
    if not isinstance(message.content, str) and any(part.type != "text" for part in message.content):
        raise AskedOnceError("its prompts hold more than text; run it with Inspect")
    return {"role": message.role, "content": message.text}


def _mark(score: Any) -> InspectMark:
    if score is None:
        return InspectMark(None, None, "the scorer said nothing")
    value, answer, reason = score.value, score.answer, score.explanation or ""
    if isinstance(value, str):
        if value not in LETTERS:
            return InspectMark(None, answer, f"{value!r} is no mark from 0 to 1")
        return InspectMark(LETTERS[value], answer, reason or f"Inspect's mark is {value}", value == NO_ANSWER)
    if isinstance(value, bool | int | float) and 0 <= value <= 1:
        return InspectMark(float(value), answer, reason or f"Inspect's mark is {value}")
    return InspectMark(None, answer, f"{value!r:.100} is no mark from 0 to 1")


def _registered_name(scorer: Any) -> str:
    from inspect_ai.util import registry_info

    try:
        return str(registry_info(scorer).name).rpartition("/")[2]
    except ValueError:
        return str(getattr(scorer, "__name__", "scorer"))


def _distinct(names: list[str]) -> list[str]:
    return [name if name not in names[:place] else f"{name}{place + 1}" for place, name in enumerate(names)]


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {message_of(error)}"
