"""Tasks of the Language Model Evaluation Harness as benchmarks: `lm-eval:path/task.yaml`.

The harness marks a multiple-choice task by the likelihoods of the choices' texts, which chat endpoints do not give. So
it is asked by letter, and such figures are not those of the harness; `?choices=likelihood` asks as the harness does, of
models that can score whole texts (`completions/…`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from proctor.benchmarks.datasets import AdvisedRows, open_pinned
from proctor.benchmarks.examples import ExamplePool, Remaining
from proctor.benchmarks.lm_eval_docs import Documents, filled
from proctor.benchmarks.lm_eval_file import TaskFile, read_task
from proctor.benchmarks.mapping import Mapper
from proctor.benchmarks.parameters import refuse_unknown
from proctor.benchmarks.reshaping import TransformedRows
from proctor.benchmarks.rows import Row, Rows, StreamedRows
from proctor.benchmarks.samples import MappedSamples
from proctor.benchmarks.schema import Fields
from proctor.benchmarks.sources import open_rows
from proctor.domain.benchmark import Benchmark, Samples, ScorerSpec
from proctor.domain.errors import BenchmarkError
from proctor.domain.identity import digest
from proctor.domain.message import Json, Message, Prompt
from proctor.domain.plan import BenchmarkSpec
from proctor.domain.sample import Sample
from proctor.prompts.worked import WorkedExamples

PREFIX = "lm-eval:"
FILES = ("json", "csv", "parquet")
VERSION = "1"
FIELDS = Fields(metadata=["doc", "shown"])


class TaskRenderer(Struct, frozen=True):
    """Description, examples and question in one message, put together as the harness does."""

    description: str
    before_answer: str
    between: str
    examples: WorkedExamples | None = None
    by_likelihood: bool = False
    """Whether the likeliest of the choices' texts is asked for."""

    @property
    def digest(self) -> str:
        shown = None if self.examples is None else self.examples.digest
        way = ["likelihood"] if self.by_likelihood else []
        return digest(["lm-eval", VERSION, self.description, self.before_answer, self.between, shown, *way])

    def render(self, sample: Sample) -> Prompt:
        shown = self.examples.of(sample) if self.examples is not None else ()
        worked = [f"{one.input_text}{self.before_answer}{one.metadata['shown']}{self.between}" for one in shown]
        description = filled(self.description, sample.metadata["doc"])
        texts = [f"{self.before_answer}{choice}" for choice in sample.choices] if self.by_likelihood else []
        message = Message("user", f"{description}{''.join(worked)}{sample.input_text}")
        return Prompt((message,), schema={"enum": texts} if texts else None)


def load_task(spec: BenchmarkSpec, *, seed: int, folder: Path, data: Path | None) -> Benchmark:
    """The task as a benchmark; raises BenchmarkError naming what cannot be honoured."""
    label = spec.benchmark.removeprefix(PREFIX)
    path = folder / label
    refuse_unknown(spec.benchmark, spec.parameters, {"without": "", "choices": "letters"})
    left_out = str(spec.parameters.get("without", ""))
    task = read_task(path, label, frozenset(part.strip() for part in left_out.split(",") if part.strip()))
    by_likelihood = _by_likelihood(str(spec.parameters.get("choices", "letters")), task, label)
    split = task.test_split or task.validation_split
    if split is None:
        raise BenchmarkError(f"{label}: neither test_split nor validation_split is given, so there is nothing to ask.")
    revisions = dict(spec.revisions)
    samples: Samples = _samples(task, split, path, data, by_likelihood, revisions)
    shots = task.num_fewshot or 0 if spec.shots is None else spec.shots
    pool = _pool(task, split, samples, path, data, shots, seed, by_likelihood, revisions) if shots else None
    renderer = TaskRenderer(task.description, task.target_delimiter, task.fewshot_delimiter, pool, by_likelihood)
    proven: Samples = _samples(task, split, path, data, by_likelihood, revisions, renderer)
    if pool is not None and pool.samples is samples:
        proven = Remaining(proven, pool)
    return Benchmark(
        name=task.task,
        samples=proven,
        renderer=renderer,
        scorers=_scorers(task, by_likelihood),
        version=str(task.metadata.get("version", "1")),
        options=_options(task),
        description=f"The harness task {task.task}{_asked(task, by_likelihood)}.",
        source=task.dataset_path,
        tags={"form": "choice" if _is_choice(task) else "short"},
        shots=shots,
        revisions=revisions,
    )


def _is_choice(task: TaskFile) -> bool:
    return task.output_type == "multiple_choice"


def _by_likelihood(way: str, task: TaskFile, label: str) -> bool:
    if way not in ("letters", "likelihood"):
        raise BenchmarkError(f"{label}: choices={way} is unknown; there are letters and likelihood.")
    if way == "likelihood" and not _is_choice(task):
        raise BenchmarkError(f"{label}: choices=likelihood goes with output_type multiple_choice only.")
    if way == "letters" and any(entry.metric == "acc_norm" for entry in task.metric_list or ()):
        raise BenchmarkError(
            f"{label}: acc_norm compares the likelihoods of the choices, and a letter has none. Ask for them with "
            "?choices=likelihood, or leave the metric out with ?without=acc_norm."
        )
    return way == "likelihood"


def _asked(task: TaskFile, by_likelihood: bool) -> str:
    if not _is_choice(task):
        return ""
    return ", by the likelihood of the choices" if by_likelihood else ", asked by letter"


def _samples(
    task: TaskFile,
    split: str,
    path: Path,
    data: Path | None,
    by_likelihood: bool,
    revisions: dict[str, str],
    proof: TaskRenderer | None = None,
) -> MappedSamples:
    rows = _rows(task, split, path, data, f"{task.task}.jsonl", revisions)
    return _mapped(rows, task, by_likelihood, proof)


def _mapped(rows: Rows, task: TaskFile, by_likelihood: bool, proof: TaskRenderer | None = None) -> MappedSamples:
    documents = Documents(task, by_likelihood)
    return MappedSamples(TransformedRows(rows, documents, task.task), Mapper(FIELDS), task.task, proof)


def _pool(
    task: TaskFile,
    split: str,
    samples: Samples,
    path: Path,
    data: Path | None,
    shots: int,
    seed: int,
    by_likelihood: bool,
    revisions: dict[str, str],
) -> ExamplePool:
    config = task.fewshot_config
    chosen = task.fewshot_split or (config.split if config else None) or task.training_split or task.validation_split
    pool: Samples = samples
    label = task.task
    if config is not None and config.samples is not None:
        fixed = config.samples
        pool = _mapped(StreamedRows("fewshot_config.samples", "row", lambda: _listed(fixed)), task, by_likelihood)
        label = "fewshot_config.samples"
    elif chosen is not None and chosen != split:
        pool = _mapped(_rows(task, chosen, path, data, f"{task.task}.dev.jsonl", revisions), task, by_likelihood)
        label = f"the split {chosen}"
    is_first = config is not None and (config.sampler == "first_n" or config.samples is not None)
    return ExamplePool(pool, shots, seed=seed, pick="first" if is_first else "seeded", label=label)


def _listed(values: list[dict[str, Any]]) -> list[Row]:
    return list(enumerate(values, start=1))


def _rows(task: TaskFile, split: str, path: Path, data: Path | None, file: str, revisions: dict[str, str]) -> Rows:
    given = task.dataset_kwargs.data_files if task.dataset_kwargs else None
    if task.dataset_path in FILES:
        return _from_files(given, split, path, task.dataset_path)
    if given is not None:
        raise BenchmarkError(f"dataset_kwargs.data_files is honoured for dataset_path {' or '.join(FILES)} only.")
    local = path.parent / task.dataset_path
    if local.is_file():
        return open_rows(task.dataset_path, path.parent)
    if data is not None and (data / file).is_file():
        return open_rows(file, data)
    if "/" not in task.dataset_path:
        raise BenchmarkError(
            f"dataset_path {task.dataset_path!r} names no owner, which the hub needs: write owner/name; or put {file}"
            " into a folder, and name the folder with --data or PROCTOR_DATA."
        )
    revision = task.dataset_kwargs.revision if task.dataset_kwargs else None
    address = f"hf://{task.dataset_path}" + (f"/{task.dataset_name}" if task.dataset_name else "")
    query = f"?split={split}" + (f"&revision={revision}" if revision else "")
    advice = f"Or put {file} into a folder, and name the folder with --data or PROCTOR_DATA."
    return AdvisedRows(open_pinned(address + query, path.parent, revisions), advice)


def _from_files(given: Any, split: str, path: Path, kind: str) -> Rows:
    named = given.get(split) if isinstance(given, dict) else given
    if isinstance(named, list):
        if len(named) != 1:
            raise BenchmarkError(
                f"dataset_kwargs.data_files lists {len(named)} files for a split; one can be honoured."
            )
        named = named[0]
    if named is None:
        raise BenchmarkError(f"dataset_kwargs.data_files has no file for the split {split!r}.")
    is_lines = kind == "json" and not str(named).endswith(".json")
    return open_rows(str(named), path.parent, "jsonl" if is_lines else kind)


def _scorers(task: TaskFile, by_likelihood: bool) -> tuple[ScorerSpec, ...]:
    if _is_choice(task):
        if task.filter_list:
            raise BenchmarkError("filter_list cannot be honoured for multiple_choice.")
        if by_likelihood:
            # The harness gives both where a task names neither.
            names = [entry.metric for entry in task.metric_list or ()] or ["acc", "acc_norm"]
            ways = {"acc": "none", "acc_norm": "length"}
            return tuple(ScorerSpec("likelihood", {"label": name, "normalise": ways[name]}) for name in names)
        return (ScorerSpec("choice"),)
    metric = task.metric_list[0].model_dump(exclude_defaults=True) if task.metric_list else {}
    metric.pop("metric", None)
    pipelines = task.filter_list or []
    steps: list[tuple[str, list[dict[str, Json]]]] = [
        (one.name, [step.model_dump(exclude_none=True) for step in one.filter]) for one in pipelines
    ] or [("exact_match", [])]
    return tuple(ScorerSpec("lm_eval", {"label": name, "filters": {"steps": chain}, **metric}) for name, chain in steps)


def _options(task: TaskFile) -> dict[str, Json]:
    if _is_choice(task):
        return {}
    given = task.generation_kwargs
    options: dict[str, Json] = {"stop": [task.fewshot_delimiter]}  # the harness' own default
    if given is None:
        return options
    if given.until is not None:
        options["stop"] = given.until
    named = {"max_tokens": given.max_gen_toks, "temperature": given.temperature, "top_p": given.top_p}
    options |= {key: value for key, value in {**named, "top_k": given.top_k}.items() if value is not None}
    return {key: value for key, value in options.items() if value != []}
