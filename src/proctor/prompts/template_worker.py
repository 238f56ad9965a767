"""Runs in its own process: fills in templates with little memory."""

from __future__ import annotations

import json
import pickle
import resource
from contextlib import suppress
from functools import lru_cache
from typing import Any

from proctor.domain.errors import TemplateLimitError
from proctor.prompts.jinja import Flavour, environment_of, join_pieces
from proctor.worker_loop import answer_questions

MEMORY_BYTES = 512 * 1024**2


def main() -> None:
    answer_questions(_answer, _get_ready)


def _get_ready() -> None:
    environment_of("benchmark")
    with suppress(ValueError, OSError):  # macOS has no such limit; there, time alone is limited
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def _answer(question: bytes) -> bytes:
    flavour, source, variables = pickle.loads(question)  # noqa: S301 - of our own process
    return json.dumps(_fill_in(flavour, source, variables)).encode()


def _fill_in(flavour: Flavour, source: str, variables: dict[str, Any]) -> dict[str, str]:
    from jinja2 import TemplateError

    try:
        return {"text": join_pieces(_compile(flavour, source).generate(variables))}
    except TemplateLimitError as fault:
        return {"limit": str(fault)}
    except TemplateError as fault:
        return {"fault": str(fault)}
    except MemoryError:
        return {"limit": f"it takes more than {MEMORY_BYTES // 2**20} MB of memory"}
    except Exception as fault:  # noqa: BLE001 - whatever a template comes upon is told where it is used
        return {"fault": f"{type(fault).__name__}: {fault}"[:1000]}


@lru_cache(maxsize=64)
def _compile(flavour: Flavour, source: str) -> Any:
    return environment_of(flavour).from_string(source)
