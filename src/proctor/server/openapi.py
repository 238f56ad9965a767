"""The OpenAPI document, and the page that shows it without any file from elsewhere."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from proctor.server.access import PERMISSIONS, Permission
from proctor.server.documents import components
from proctor.version import __version__

DESCRIPTION = """\
Evaluate models on benchmarks, follow runs, compare and rank what was measured.

A number here is the command line's, to the last digit: both call the same use cases. Mistakes are problems as RFC 9457
writes them. Lists page by key: follow `next`, or the `Link` header.
"""


def describe(app: FastAPI) -> dict[str, Any]:
    """OpenAPI 3.1 of every route under `/api/v1`, with its permission."""
    routes = [route for route in app.routes if isinstance(route, APIRoute) and route.include_in_schema]
    found = get_openapi(
        title="Proctor", version=__version__, openapi_version="3.1.0", description=DESCRIPTION, routes=routes
    )
    own = components()
    made = found.setdefault("components", {})
    made["schemas"] = {**made.get("schemas", {}), **own["schemas"]}
    made["schemas"].pop("HTTPValidationError", None)
    made["schemas"].pop("ValidationError", None)
    made["responses"] = own["responses"]
    made["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "An API key or an access token."},
        "session": {"type": "apiKey", "in": "cookie", "name": "proctor_session"},
    }
    for path, item in found["paths"].items():
        for method, operation in item.items():
            needed = PERMISSIONS[method.upper(), _route_path(path, routes)]
            operation["x-permission"] = needed.value
            operation["security"] = [] if needed is Permission.PUBLIC else [{"key": []}, {"session": []}]
            _refer_to_problems(operation)
    return found


def _route_path(path: str, routes: list[APIRoute]) -> str:
    return next(route.path for route in routes if route.path_format == path)


def _refer_to_problems(operation: dict[str, Any]) -> None:
    """FastAPI adds a description beside each reference; in a response a reference stands alone."""
    for code, answer in operation["responses"].items():
        if "$ref" in answer or (code == "422" and "HTTPValidationError" in str(answer)):
            operation["responses"][code] = {"$ref": f"#/components/responses/problem-{code}"}


@cache
def docs_file(name: str) -> str:
    """A part of the page that shows the document: `docs.html`, `docs.js`."""
    return files("proctor.server").joinpath("reference", name).read_text(encoding="utf-8")
