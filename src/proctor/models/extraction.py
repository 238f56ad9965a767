"""Answer, usage and error, found in any JSON document by JMESPath."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.errors import PlanError, ProviderFaultError, did_you_mean
from proctor.domain.response import Usage
from proctor.models.figures import dollars, tokens

USUAL_ANSWER = "answer || response || output || text || content || message || result"
USAGE_NAMES = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens", "cost_usd")


class Extraction(Struct, frozen=True):
    """Compiled expressions; a document that lacks what they ask for is a fault, never an empty answer."""

    answer: Any
    error: Any | None
    usage: Mapping[str, Any]

    def read_answer(self, document: Any, model: str) -> str:
        found = _search(self.answer, document)
        if found is None:
            raise ProviderFaultError(f"{model} answered, but {self.answer.expression!r} found nothing in its answer")
        return found if isinstance(found, str) else orjson.dumps(found).decode()

    def read_error(self, document: Any) -> str | None:
        found = _search(self.error, document) if self.error is not None else None
        return None if found in (None, False, "", [], {}) else str(found)

    def read_usage(self, document: Any) -> tuple[Usage, Decimal | None]:
        """Tokens, and the cost in dollars; whatever is not a number is not known."""
        found = {name: _search(path, document) for name, path in self.usage.items()}
        cost = dollars(found.pop("cost_usd", None))
        return Usage(**{name: tokens(value) for name, value in found.items()}), cost


def _search(expression: Any, document: Any) -> Any:
    """What the expression finds; nothing where one of its functions cannot be applied to this document."""
    try:
        return expression.search(document)
    except ValueError:
        return None


def compile_extraction(
    provider: str, answer: str | None, error: str | None, usage: Mapping[str, Any] | None
) -> Extraction:
    """Raises PlanError for an expression that cannot be parsed."""
    for name in usage or {}:
        if name not in USAGE_NAMES:
            hint = did_you_mean(name, USAGE_NAMES)
            raise PlanError(f"{provider}: 'usage' knows no {name!r}.{hint} It has: {', '.join(USAGE_NAMES)}.")
    return Extraction(
        _compiled(provider, "answer", answer or USUAL_ANSWER),
        _compiled(provider, "error", error) if error else None,
        {name: _compiled(provider, f"usage.{name}", str(path)) for name, path in (usage or {}).items()},
    )


def _compiled(provider: str, setting: str, expression: str) -> Any:
    import jmespath  # type: ignore[import-untyped]
    from jmespath.exceptions import JMESPathError  # type: ignore[import-untyped]

    try:
        return jmespath.compile(expression)
    except JMESPathError as error:
        why = str(error).partition("\n")[0]
        raise PlanError(f"{provider}: {setting!r} is no JMESPath expression ({why}): {expression!r}") from None
