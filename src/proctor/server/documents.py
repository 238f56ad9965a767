"""Documents as answers, and as schemas in the OpenAPI document: the structs of `--json`, to the last digit."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from proctor.domain.documents.document import json_bytes
from proctor.domain.documents.problem_details import ProblemDetails
from proctor.server.problems import MEDIA_TYPE

JSON = "application/json"
_TYPES: dict[str, Any] = {}
_WRITTEN: dict[str, Mapping[str, Any]] = {}
"""Schemas that are written by hand, by name."""

DETAILS = {
    400: "The request cannot be read.",
    401: "Nobody is signed in, or the key is not valid.",
    402: "A budget is exhausted.",
    403: "Not allowed.",
    404: "There is none, or it is somebody else's.",
    409: "Its state does not allow it now.",
    412: "It was changed meanwhile.",
    413: "Too large.",
    415: "Not a type that is taken here.",
    416: "There is no such part of it.",
    421: "Called by a name that is not the server's.",
    422: "A mistake in the request; `errors` says where.",
    428: "It needs If-Match.",
    429: "Too many requests.",
    502: "A program or a provider that was needed failed.",
    503: "Something that is needed does not answer.",
}
ALWAYS = (401, 403, 421, 422, 429, 503)
WITH_BODY = (400, 413, 415)


def reference(kind: Any, name: str | None = None) -> dict[str, Any]:
    """A reference to the schema of a type, which is put among the components."""
    title = name or getattr(kind, "__name__", None)
    if title is None:
        raise TypeError(f"{kind} needs a name to stand among the components")
    _TYPES[title] = kind
    return {"$ref": f"#/components/schemas/{title}"}


def written(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A reference to a schema that is written by hand."""
    _WRITTEN[name] = schema
    return {"$ref": f"#/components/schemas/{name}"}


def answers(
    kind: Any = None,
    *,
    status: int = 200,
    description: str = "",
    is_list: bool = False,
    content: Mapping[str, Any] | None = None,
    problems: tuple[int, ...] = (),
    headers: Mapping[str, str] | None = None,
    has_body: bool = False,
) -> dict[int | str, dict[str, Any]]:
    """What a route answers, for its `responses`: the document, and every problem that it can come to."""
    schema: dict[str, Any] | None = None if kind is None else reference(kind)
    if schema is not None and is_list:
        schema = {"type": "array", "items": schema}
    success: dict[str, Any] = {"description": description or "As the command line's --json prints it."}
    if content is not None:
        success["content"] = content
    elif schema is not None:
        success["content"] = {JSON: {"schema": schema}}
    if headers:
        success["headers"] = {
            name: {"description": text, "schema": {"type": "string"}} for name, text in headers.items()
        }
    body = WITH_BODY if has_body else ()
    codes = sorted({*ALWAYS, *problems, *body})
    failures = {code: {"$ref": f"#/components/responses/problem-{code}"} for code in codes}
    return {status: success, **failures}


def json_answer(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """The document as it is everywhere else."""
    return Response(json_bytes(value), status, dict(headers or {}), JSON)


def cached_answer(
    request: Request,
    value: object,
    cache_control: str = "private, no-cache",
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The document, or its bytes, with its ETag; 304 without a body for whoever has it already."""
    body = value if isinstance(value, bytes) else json_bytes(value)
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": cache_control, **(headers or {})}
    known = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
    if tag in known:
        return Response(status_code=304, headers=headers)
    return Response(body, 200, headers, JSON)


def components() -> dict[str, Any]:
    """All schemas and all problems that routes refer to."""
    reference(ProblemDetails)
    named = {name: kind for name, kind in _TYPES.items() if getattr(kind, "__name__", None) != name}
    _, found = msgspec.json.schema_components(
        list(_TYPES.values()), schema_hook=_schema_of, ref_template="#/components/schemas/{name}"
    )
    for name, kind in named.items():
        (found[name],), _ = msgspec.json.schema_components([kind], ref_template="#/components/schemas/{name}")
    problems = {
        f"problem-{code}": {
            "description": text,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
        }
        for code, text in DETAILS.items()
    }
    return {"schemas": dict(sorted({**found, **_WRITTEN}.items())), "responses": problems}


def _schema_of(kind: type) -> dict[str, Any]:
    raise NotImplementedError(f"no JSON schema for {kind}")
