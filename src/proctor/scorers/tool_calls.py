"""The tool calls are the expected ones, by the rules of the Berkeley Function-Calling Leaderboard.

The expectation lists, for each call, the values allowed for each argument; an empty text among them means that the
argument may be left out. Calls in parallel may come in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson

from proctor.domain.message import Json
from proctor.domain.response import Response, ToolCall
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.scorers.call_syntax import calls_in
from proctor.scorers.call_values import is_allowed
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import final_text

NAME = "tool_calls"
REVISION = "1"
SHAPE = 'they are written as [{"name": {"argument": ["allowed", "values"]}}]'

Expected = tuple[str, Mapping[str, Sequence[Json]]]


@traits(needs_target=False)
def create(**options: Json) -> ToolCallMatch:
    return build(ToolCallMatch, NAME, options)


@dataclass(frozen=True, slots=True)
class ToolCallMatch:
    """1 when the calls made are exactly the expected ones (metadata `ground_truth`, else the target as JSON).

    Types come from the metadata's `function` list. A model that writes its calls as text, in JSON or as
    `[name(argument=value)]`, is read too.
    """

    ordered: bool = False

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    def obstacle(self, sample: Sample) -> str | None:
        expected = _expected(sample)
        return expected if isinstance(expected, str) else None

    async def score(self, sample: Sample, response: Response) -> Score:
        expected = _expected(sample)
        if isinstance(expected, str):
            return Score.unscored(NAME, reason=expected)
        calls = list(response.tool_calls)
        if not calls:
            text = final_text(response.text)
            if not text:
                return Score.invalid(NAME, reason="the response is empty")
            written = calls_in(text)
            if written is None:
                return Score.invalid(NAME, reason="no tool call in the response")
            calls = written
        wrong = self._wrong(calls, expected, _schemas(sample))
        return Score(NAME, float(not wrong), answer=_shown(calls), reason=wrong or "the expected calls")

    def _wrong(self, calls: list[ToolCall], expected: list[Expected], schemas: Mapping[str, Json]) -> str:
        """Why the calls are not the expected ones; nothing when they are."""
        if len(calls) != len(expected):
            return f"{len(calls)} calls instead of {len(expected)}"
        fits = [[_difference(call, wanted, schemas) for call in calls] for wanted in expected]
        if self.ordered or len(calls) == 1:
            return next((row[i] for i, row in enumerate(fits) if row[i]), "")
        if _matched(fits):
            return ""
        return next((row[0] for row in fits if all(row)), "two expected calls are met by the same call")


def _matched(fits: list[list[str]]) -> bool:
    """Whether each expected call can be given a call of its own."""
    taken: dict[int, int] = {}

    def place(wanted: int, tried: set[int]) -> bool:
        for call, difference in enumerate(fits[wanted]):
            if difference or call in tried:
                continue
            tried.add(call)
            if call not in taken or place(taken[call], tried):
                taken[call] = wanted
                return True
        return False

    return all(place(wanted, set()) for wanted in range(len(fits)))


def _expected(sample: Sample) -> list[Expected] | str:
    """The calls, or why there are none to compare with."""
    truth = sample.metadata.get("ground_truth")
    if truth is None and not sample.targets:
        return "the sample has no expected calls: neither a target nor ground_truth in its metadata"
    try:
        if truth is None:
            truth = orjson.loads(sample.targets[0])
        found = [(name, arguments) for call in truth for name, arguments in call.items()]
    except (ValueError, TypeError, AttributeError) as error:
        return f"the expected calls cannot be read ({error}); {SHAPE}"
    strange = next((name for name, arguments in found if not isinstance(arguments, Mapping)), None)
    return found if strange is None else f"the expected arguments of {strange!r} are no mapping; {SHAPE}"


def _schemas(sample: Sample) -> dict[str, Json]:
    listed = sample.metadata.get("function") or ()
    return {_plain(entry["name"]): entry.get("parameters", {}) for entry in listed}


def _plain(name: str) -> str:
    """Endpoints forbid dots in a function's name, so a dot and an underscore are the same."""
    return name.replace(".", "_")


def _difference(call: ToolCall, wanted: Expected, schemas: Mapping[str, Json]) -> str:
    name, allowed = wanted
    if _plain(call.name) != _plain(name):
        return f"calls {call.name!r} instead of {name!r}"
    if not isinstance(call.arguments, Mapping):
        return f"the arguments of {name!r} are not JSON"
    schema = schemas.get(_plain(name), {})
    types = schema.get("properties", {})
    missing = [key for key in schema.get("required", ()) if key not in call.arguments]
    missing += [key for key, values in allowed.items() if key not in call.arguments and "" not in values]
    if missing:
        return f"{name!r} lacks the argument {missing[0]!r}"
    for key, value in call.arguments.items():
        if key not in allowed or (types and key not in types):
            return f"{name!r} has no argument {key!r}"
        if not is_allowed(value, allowed[key], types.get(key, {})):
            return f"{key!r} of {name!r} is {value!r}, not one of {list(allowed[key])!r}"
    return ""


def _shown(calls: list[ToolCall]) -> str:
    return "; ".join(f"{call.name}({call.arguments!r})" for call in calls)[:2000]
