"""Every extension point of Proctor: a kind and a name lead to a factory, loaded when first asked for.

A package adds its own through the entry-point group ``proctor.plugins``; the entry's name is ``kind.name``, for
example ``scorers.haiku = "my_package.haiku:create"``. Built-in features are registered in the same table, so a plugin
can do whatever they do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

GROUP = "proctor.plugins"

BUILT_IN: dict[str, dict[str, str]] = {
    "models": {
        "anthropic": "proctor.models.anthropic:create",
        "command": "proctor.models.command:create",
        "completions": "proctor.models.completions:create",
        "demo": "proctor.models.demo:create",
        "google": "proctor.models.google:create",
        "grpc": "proctor.models.grpc_agent:create",
        "http": "proctor.models.http_agent:create",
        "huggingface": "proctor.models.compatible:create_huggingface",
        "local": "proctor.models.local:create",
        "ollama": "proctor.models.compatible:create_ollama",
        "openai": "proctor.models.openai:create",
        "openrouter": "proctor.models.compatible:create_openrouter",
        "python": "proctor.models.function:create",
        "replay": "proctor.models.replay:create",
        "vllm": "proctor.models.compatible:create_vllm",
    },
    "scorers": {
        "bleu": "proctor.scorers.translation:create_bleu",
        "choice": "proctor.scorers.choice:create",
        "chrf": "proctor.scorers.translation:create_chrf",
        "evalplus": "proctor.scorers.code.evalplus:create",
        "exact": "proctor.scorers.exact:create",
        "f1": "proctor.scorers.f1:create",
        "humaneval": "proctor.scorers.code.humaneval:create",
        "includes": "proctor.scorers.includes:create",
        "instructions": "proctor.scorers.instructions:create",
        "instructions_each": "proctor.scorers.instructions:create_each",
        "instructions_each_loose": "proctor.scorers.instructions:create_each_loose",
        "instructions_loose": "proctor.scorers.instructions:create_loose",
        "json_schema": "proctor.scorers.json_schema:create",
        "judge_pairwise": "proctor.scorers.judging.pairwise:create",
        "judge_reference": "proctor.scorers.judging.reference:create",
        "judge_rubric": "proctor.scorers.judging.rubric:create",
        "likelihood": "proctor.scorers.likelihood:create",
        "lm_eval": "proctor.scorers.lm_eval:create",
        "logprob": "proctor.scorers.logprob:create",
        "math": "proctor.scorers.math:create",
        "mbpp": "proctor.scorers.code.mbpp:create",
        "numeric": "proctor.scorers.numeric:create",
        "precision": "proctor.scorers.f1:create_precision",
        "program": "proctor.scorers.programs.scorer:create_passed",
        "program_mark": "proctor.scorers.programs.scorer:create_mark",
        "puzzle": "proctor.scorers.puzzle:create",
        "recall": "proctor.scorers.f1:create_recall",
        "regex": "proctor.scorers.regex:create",
        "rouge": "proctor.scorers.rouge:create",
        "similarity": "proctor.scorers.similarity:create",
        "stdio": "proctor.scorers.code.stdio:create",
        "tests": "proctor.scorers.code.tests:create",
        "tool_calls": "proctor.scorers.tool_calls:create",
    },
    "sources": {
        "csv": "proctor.benchmarks.tabular:read_csv",
        "hf": "proctor.benchmarks.hub:read_hub",
        "json": "proctor.benchmarks.tabular:read_json",
        "jsonl": "proctor.benchmarks.jsonl:read_jsonl",
        "python-jsonl": "proctor.benchmarks.jsonl:read_python_jsonl",
        "parquet": "proctor.benchmarks.parquet:read_parquet",
        "package": "proctor.benchmarks.packaged:read_package",
        "python": "proctor.benchmarks.packaged:read_function",
    },
    "benchmarks": {
        "arithmetic": "proctor.benchmarks.puzzles:arithmetic",
        "dates": "proctor.benchmarks.puzzles:dates",
        "logic": "proctor.benchmarks.puzzles:logic",
        "puzzles": "proctor.benchmarks.puzzles:puzzles",
        "requirements": "proctor.benchmarks.problems.benchmark:requirements",
        "sequences": "proctor.benchmarks.puzzles:sequences",
        "sorting": "proctor.benchmarks.puzzles:sorting",
        "strings": "proctor.benchmarks.puzzles:strings",
    },
    "metrics": {
        "accuracy": "proctor.metrics.accuracy:create",
        "macro_f1": "proctor.metrics.classification:create_f1",
        "macro_precision": "proctor.metrics.classification:create_precision",
        "macro_recall": "proctor.metrics.classification:create_recall",
        "mean": "proctor.metrics.mean:create",
    },
}


class PluginNotFoundError(LookupError):
    """No plugin of that kind has that name."""

    def __init__(self, kind: str, name: str, known: list[str]) -> None:
        self.kind, self.name, self.known = kind, name, known
        import difflib  # only for a mistake, and not free to import

        close = difflib.get_close_matches(name, known, n=1)
        self.suggestion = close[0] if close else None
        super().__init__(f"no {kind.removesuffix('s')} called {name!r}")


@cache
def _installed() -> dict[str, dict[str, str]]:
    """Plugins of other packages, by kind and name."""
    from importlib.metadata import entry_points

    found: dict[str, dict[str, str]] = {}
    for entry in entry_points(group=GROUP):
        kind, _, name = entry.name.partition(".")
        found.setdefault(kind, {})[name] = entry.value
    return found


def names(kind: str) -> list[str]:
    """All names of a kind, built in and installed."""
    return sorted({*BUILT_IN.get(kind, {}), *_installed().get(kind, {})})


def load(kind: str, name: str) -> Callable[..., Any]:
    """The factory behind a name; built-in names cannot be taken over by a package."""
    target = BUILT_IN.get(kind, {}).get(name) or _installed().get(kind, {}).get(name)
    if target is None:
        raise PluginNotFoundError(kind, name, names(kind))
    module, _, attribute = target.partition(":")
    factory: Callable[..., Any] = getattr(import_module(module), attribute)
    return factory
