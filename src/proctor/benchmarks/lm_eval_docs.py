"""Documents of a harness task: its expressions, filled in from a row."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from proctor.benchmarks.lm_eval_file import TaskFile
from proctor.domain.errors import BenchmarkError, TemplateLimitError
from proctor.prompts.choices import LETTERS, lay_out
from proctor.prompts.template import Template

ASK = "\n\n{lines}\n\nAnswer with the letter of the right choice."


class Documents(Struct, frozen=True):
    """Makes of a row what a sample needs: input, choices, target and the answer as examples show it."""

    task: TaskFile
    by_likelihood: bool = False
    """Whether the choices' own texts are compared, so that nothing is said of letters."""

    def __call__(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        text = filled(self.task.doc_to_text, row)
        if not isinstance(text, str):
            raise ValueError(f"doc_to_text gives {text!r:.60}, which is not text")
        if self.task.output_type == "generate_until":
            targets = self._targets(row)
            return {"input": text, "target": targets, "shown": targets[0], "doc": dict(row)}
        choices = self._choices(row)
        gold = self._gold(row, choices)
        letter = LETTERS[gold]
        if self.by_likelihood:
            return {"input": text, "choices": choices, "target": letter, "shown": choices[gold], "doc": dict(row)}
        is_lettered = choices == list(LETTERS[: len(choices)])
        asked = text if is_lettered else text.rstrip() + ASK.format(lines=lay_out(choices))
        return {"input": asked, "choices": choices, "target": letter, "shown": letter, "doc": dict(row)}

    def _targets(self, row: Mapping[str, Any]) -> list[str]:
        value = filled(self.task.doc_to_target, row)
        listed = list(value) if isinstance(value, list | tuple) else [value]
        texts = [text if isinstance(text, str) else str(text) for text in listed if text is not None]
        if not texts:
            raise ValueError("doc_to_target gives nothing")
        return texts

    def _choices(self, row: Mapping[str, Any]) -> list[str]:
        given = self.task.doc_to_choice
        if given is None:
            raise ValueError("multiple_choice needs doc_to_choice")
        value = [filled(one, row) for one in given] if isinstance(given, list) else filled(given, row)
        if isinstance(value, str):
            value = _literal(value)
        if isinstance(value, Mapping):
            value = list(value.values())
        if not isinstance(value, list | tuple) or not 2 <= len(value) <= len(LETTERS):
            raise ValueError(f"doc_to_choice gives {value!r:.60}, which is not a list of 2 to {len(LETTERS)} choices")
        return [str(choice) for choice in value]

    def _gold(self, row: Mapping[str, Any], choices: Sequence[str]) -> int:
        value = filled(self.task.doc_to_target, row)
        if isinstance(value, str):
            if value in choices:
                return choices.index(value)
            value = int(value) if re.fullmatch(r"\d+", value.strip()) else value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(choices):
            return value
        raise ValueError(f"doc_to_target gives {value!r:.60}, which is none of the choices")


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        raise ValueError(f"doc_to_choice gives {text!r:.60}, which is not a list") from None


def filled(expression: str, row: Mapping[str, Any]) -> Any:
    """A field's value where the expression is a field's name, else the template filled in."""
    if expression in row:
        return row[expression]
    if "{{" not in expression and "{%" not in expression:
        return expression
    try:
        return _template(expression).render(row)
    except TemplateLimitError as fault:
        raise TemplateLimitError(f"{expression!r:.60}: {fault}.") from fault
    except BenchmarkError as fault:
        raise ValueError(f"{expression!r:.60}: {fault}") from fault


@cache
def _template(expression: str) -> Template:
    return Template(expression, "harness")
