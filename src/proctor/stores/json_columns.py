"""Parts of a column that holds JSON as text, in queries of SQLAlchemy's: each database says it in its own way."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Text, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import FunctionElement


class _JsonText(FunctionElement[str]):
    type = Text()
    inherit_cache = True
    name = "json_text"


def json_text(column: ColumnElement[Any], *path: str | int) -> ColumnElement[str]:
    """What a path leads to, as text: a string itself, anything else as JSON; null where it leads to nothing."""
    sqlite = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    postgresql = "{" + ",".join(str(step) for step in path) + "}"
    return _JsonText(column, literal(sqlite), literal(postgresql))


@compiles(_JsonText, "sqlite")
def _sqlite(element: _JsonText, compiler: Any, **options: Any) -> str:
    column, path, _ = element.clauses
    return f"json_extract({compiler.process(column, **options)}, {compiler.process(path, **options)})"


@compiles(_JsonText, "postgresql")
def _postgresql(element: _JsonText, compiler: Any, **options: Any) -> str:
    column, _, path = element.clauses
    return f"(({compiler.process(column, **options)})::json #>> ({compiler.process(path, **options)})::text[])"
