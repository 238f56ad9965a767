"""Ready-made benchmarks of DeepEval, asked and marked here: its own code writes the prompt and marks the answer.

DeepEval's `predict` puts one question to a model and marks what it says. It is called with a model that keeps the
prompt, and again with one that gives the answer that is known by then. Data is read from files, never from the hub.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import version as version_of_package
from pathlib import Path
from threading import RLock
from typing import Any

from proctor.domain.errors import BenchmarkError, ScorerError, did_you_mean
from proctor.domain.identity import digest
from proctor.domain.text import message_of

INSTALL = "pip install deepeval datasets pandas"
NEEDED = ("deepeval", "datasets", "pandas")
RUN_HERE = ("ARC", "BoolQ", "GSM8K", "HellaSwag", "MMLU", "Winogrande")
TASKS = {"MMLU": "MMLUTask", "HellaSwag": "HellaSwagTask"}
MODES = {"ARC": "ARCMode"}
_WORDS = {"true": True, "false": False}
"""What the text of an address means to Python; numbers are its digits."""
_LOADING = RLock()


class DeepEvalBenchmark:
    """One of DeepEval's benchmarks with its data: `samples` have the task (None where there is none) and the golden."""

    def __init__(self, name: str, made: Any, samples: dict[str, tuple[Any, Any]], given: str) -> None:
        self.name, self.samples = name, samples
        self._made = made
        self.version = version_of_package("deepeval")
        asked = [[identity, golden.input, golden.expected_output] for identity, (_, golden) in samples.items()]
        self.digest = digest([self.version, given, asked])[:12]

    def prompt(self, identity: str) -> str:
        """What a model is asked that knows nothing of DeepEval's answer forms."""
        return self._predicted(identity, "")[0]

    def mark(self, identity: str, text: str) -> tuple[float, str]:
        """DeepEval's mark of an answer, and what it took for the answer."""
        if identity not in self.samples:
            raise ScorerError(f"deepeval:{self.name} has no sample {identity!r} any more.")
        _, found = self._predicted(identity, text)
        return float(found["score"]), str(found["prediction"])

    def _predicted(self, identity: str, text: str) -> tuple[str, Mapping[str, Any]]:
        task, golden = self.samples[identity]
        model = _AskedOnce(text)
        found = self._made.predict(model, *([] if task is None else [task]), golden)
        if len(model.prompts) != 1:
            raise ScorerError(f"deepeval:{self.name} asks {len(model.prompts)} times for one sample.")
        return model.prompts[0], found


class _AskedOnce:
    """A model without answer forms, as DeepEval knows them: with one it raises TypeError, and is then asked plainly."""

    def __init__(self, text: str) -> None:
        self._text, self.prompts = text, list[str]()

    def generate(self, prompt: str, schema: object = None) -> str:
        if schema is not None:
            raise TypeError("it has no answer forms")
        self.prompts.append(prompt)
        return self._text


def load(name: str, arguments: Mapping[str, Any], data: Path | None) -> DeepEvalBenchmark:
    """The benchmark with its data; raises BenchmarkError that says what is missing or cannot be run here."""
    given = digest(dict(arguments))
    return _load(name, tuple(sorted(arguments.items())), data, given)


@cache
def _load(name: str, arguments: tuple[tuple[str, Any], ...], data: Path | None, given: str) -> DeepEvalBenchmark:
    _refuse_missing(name)
    os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "1")  # read when it is imported; nothing is sent from here
    module = import_module("deepeval.benchmarks")
    options = dict(arguments)
    try:
        made = getattr(module, name)(**{key: _option(name, key, value) for key, value in options.items()})
    except (TypeError, AssertionError, ValueError) as error:
        raise BenchmarkError(f"deepeval:{name}: {message_of(error)}.") from error
    with _reading_files(name, data):
        samples = dict(_samples(name, made))
    if not samples:
        raise BenchmarkError(f"deepeval:{name}: there is no sample in the data.")
    return DeepEvalBenchmark(name, made, samples, given)


def _refuse_missing(name: str) -> None:
    missing = [one for one in NEEDED if importlib.util.find_spec(one) is None]
    if missing:
        raise BenchmarkError(f"Benchmarks of DeepEval need {', '.join(missing)}, which is not installed: {INSTALL}")
    if name not in RUN_HERE:
        raise BenchmarkError(
            f"deepeval:{name} cannot be run here.{did_you_mean(name, RUN_HERE)} There are {', '.join(RUN_HERE)}: "
            "others ask models of DeepEval's own, run code without a sandbox, or were not held against DeepEval."
        )


def _option(name: str, key: str, value: Any) -> Any:
    """Tasks and modes are DeepEval's own values, named as it names them."""
    kinds = {"tasks": TASKS.get(name), "mode": MODES.get(name)}
    if (kind := kinds.get(key)) is None:
        return _WORDS.get(value, int(value) if value.isdecimal() else value) if isinstance(value, str) else value
    known = {one.value: one for one in getattr(_module_of(name, kind), kind)}
    words = [part.strip() for part in str(value).split(",")]
    if unknown := [word for word in words if word not in known]:
        raise BenchmarkError(
            f"deepeval:{name} has no {key} {unknown[0]!r}.{did_you_mean(unknown[0], known)} They are named as "
            f"{kind} of DeepEval names them, such as {next(iter(known))!r}."
        )
    found = [known[word] for word in words]
    return found if key == "tasks" else found[0]


def _module_of(name: str, kind: str) -> Any:
    places = (f"deepeval.benchmarks.{name.lower()}.task", f"deepeval.benchmarks.{name.lower()}.{name.lower()}")
    return next(
        one for place in places if importlib.util.find_spec(place) and hasattr(one := import_module(place), kind)
    )


def _samples(name: str, made: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """As `evaluate` goes through them: all problems of each task, or so many as it was made with."""
    if name in TASKS:
        for task in made.tasks:
            for number, golden in enumerate(made.load_benchmark_dataset(task)[: made.n_problems_per_task], 1):
                yield f"{task.value}-{number}", (task, golden)
        return
    goldens = made.load_benchmark_dataset(*([made.mode] if name in MODES else []))
    for number, golden in enumerate(goldens[: made.n_problems], 1):
        yield str(number), (None, golden)


@contextmanager
def _reading_files(name: str, data: Path | None) -> Iterator[None]:
    """DeepEval asks `datasets` for its data: here that finds files, in folders called as on the hub."""
    datasets: Any = import_module("datasets")
    asked: list[str] = []

    def load_dataset(path: str, part: str | None = None) -> Any:
        asked.append("/".join([path, *([part] if part and part != "default" else [])]))
        files = sorted((data / asked[-1]).glob("*.jsonl")) if data is not None else []
        if not files:
            raise FileNotFoundError
        return datasets.DatasetDict({file.stem: datasets.Dataset.from_list(_rows(file)) for file in files})

    with _LOADING:
        usual: Callable[..., Any] = datasets.load_dataset
        datasets.load_dataset = load_dataset
        try:
            yield
        except (FileNotFoundError, KeyError) as error:
            lacks = f" (there is none for {error})" if isinstance(error, KeyError) else ""
            raise BenchmarkError(
                f"deepeval:{name} reads {asked[-1]}, and the hub is not asked for it{lacks}. Put it into a folder DATA "
                f"as DATA/{asked[-1]}/SPLIT.jsonl, rows as on the hub, and name DATA with --data or PROCTOR_DATA."
            ) from None
        finally:
            datasets.load_dataset = usual


def _rows(file: Path) -> list[dict[str, Any]]:
    import orjson

    rows = []
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        try:
            rows.append(orjson.loads(line))
        except ValueError as error:
            raise BenchmarkError(f"{file}:{number}: {error}.") from None
    return rows
