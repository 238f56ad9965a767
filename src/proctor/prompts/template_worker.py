"""Runs in its own process: fills in templates with little memory."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from proctor.domain.errors import TemplateLimitError
from proctor.limited_process import serve
from proctor.prompts.jinja import Flavour, environment_of, join_pieces


def fill_in(request: tuple[Flavour, str, dict[str, Any]]) -> dict[str, str]:
    from jinja2 import TemplateError

    flavour, source, variables = request
    try:
        return {"text": join_pieces(_compile(flavour, source).generate(variables))}
    except TemplateLimitError as fault:
        return {"limit": str(fault)}
    except TemplateError as fault:
        return {"fault": str(fault)}
    except MemoryError:
        raise
    except Exception as fault:  # noqa: BLE001 - whatever a template comes upon is told where it is used
        return {"fault": f"{type(fault).__name__}: {fault}"[:1000]}


@lru_cache(maxsize=64)
def _compile(flavour: Flavour, source: str) -> Any:
    return environment_of(flavour).from_string(source)


def main() -> None:
    serve(fill_in, lambda: environment_of("benchmark"))
