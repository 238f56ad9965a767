"""Functions a model may call: how they are offered, and whether its calls fit them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from msgspec.structs import replace

from proctor.domain.errors import ModelUnavailableError
from proctor.domain.message import Json, Prompt
from proctor.domain.response import Response, ToolCall


def function_of(tool: Mapping[str, Json]) -> dict[str, Json]:
    """Name, description and parameters of a tool, whether or not it was written inside OpenAI's 'function' wrapper."""
    inner = tool.get("function")
    return dict(inner) if isinstance(inner, Mapping) else {key: value for key, value in tool.items() if key != "type"}


def is_strict(schema: Json) -> bool:
    """Whether every object of a schema names all its properties and allows no others, as strict output demands."""
    if isinstance(schema, list):
        return all(is_strict(item) for item in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        names = set(schema.get("properties") or ())
        if schema.get("additionalProperties") is not False or set(schema.get("required") or ()) != names:
            return False
    return all(is_strict(value) for value in schema.values())


def checked_calls(prompt: Prompt, response: Response) -> Response:
    """The response with each call's problem noted: an unknown tool, or arguments that do not fit its schema."""
    tools = {str(function.get("name")): function for function in map(function_of, prompt.tools)}
    calls = tuple(replace(call, problem=_problem(call, tools)) for call in response.tool_calls)
    return replace(response, tool_calls=calls)


def _problem(call: ToolCall, tools: Mapping[str, Mapping[str, Any]]) -> str | None:
    if call.name not in tools:
        return f"no tool called {call.name!r} was offered"
    if isinstance(call.arguments, str):
        return "the arguments are not JSON"
    schema = tools[call.name].get("parameters")
    if not schema:
        return None
    try:
        import jsonschema_rs
    except ImportError:
        advice = "calls of tools are checked with jsonschema-rs: pip install 'proctor[schema]'"
        raise ModelUnavailableError(advice) from None
    try:
        jsonschema_rs.validate(schema, call.arguments)
    except jsonschema_rs.ValidationError as error:
        return f"the arguments do not fit: {error.message[:200]}"
    except ValueError as error:
        return f"the tool's own schema is wrong: {str(error)[:200]}"
    return None


def read_arguments(arguments: Any) -> Json:
    """Arguments that arrive as JSON inside a string, parsed; text that is not JSON stays text."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return orjson.loads(arguments or "{}")
    except orjson.JSONDecodeError:
        return arguments
