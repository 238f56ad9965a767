"""From what a provider said went wrong to an error that says what to do next."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import Struct

from proctor.domain.errors import (
    ModelError,
    ModelUnavailableError,
    ProviderFaultError,
    RateLimitedError,
    RequestRejectedError,
)
from proctor.domain.identity import digest
from proctor.models.waits import error_details, error_of, retry_after

MAX_MESSAGE_LENGTH = 300
MAX_READ = 2000
"""Of what has no form in which a message could be found."""
RETRYABLE_CLIENT_STATUSES = frozenset({408, 409, 425})
NO_CREDIT = ("insufficient_quota", "credit balance", "insufficient credits", "billing_not_active")
UNKNOWN_MODEL = ("model_not_found", "model_not_available")
BAD_KEY = ("invalid_api_key", "api_key_invalid", "authentication_error")
TAG = re.compile(r"<[^>]*>")


class Target(Struct, frozen=True):
    """Who is asked: enough to explain a refusal, and the secrets that no explanation may hold."""

    model: str
    """The model as the user wrote it, `provider/name`."""
    key_variable: str | None = None
    secrets: tuple[str, ...] = ()

    @property
    def account(self) -> str:
        """Tells keys apart without showing them: an allowance belongs to a key."""
        return digest(list(self.secrets))

    def hide(self, text: str) -> str:
        """The text without any secret that was echoed back: before it is cut, or half of one would stay."""
        for secret in self.secrets:
            text = text.replace(secret, "[key]")
        return text

    def clean(self, text: str) -> str:
        """The text on one line, shortened, without any secret that was echoed back."""
        text = " ".join(self.hide(text).split())
        return text if len(text) <= MAX_MESSAGE_LENGTH else text[: MAX_MESSAGE_LENGTH - 1] + "…"


def fault_of(target: Target, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """The error for a status that is not success."""
    document = parse_or_none(body)
    said = message_in(document) or TAG.sub(" ", target.hide(body[: 2 * MAX_READ].decode("utf-8", "replace"))[:MAX_READ])
    marks = f"{_codes(document)} {said}".lower()
    wait = retry_after(headers, document)
    return _classified(target, status, target.clean(said), marks, wait)


def fault_in_answer(target: Target, error: Any) -> ModelError:
    """The error for one reported inside an answer that began well: in a stream, or beside a status of 200."""
    fault = _within_answer(target, error)
    fault.is_within_answer = True
    return fault


def _within_answer(target: Target, error: Any) -> ModelError:
    document = {"error": error}
    said = target.clean(message_in(document) or str(error))
    marks = f"{_codes(document)} {said}".lower()
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isdecimal() and len(code) == 3:
        code = int(code)
    if isinstance(code, int) and 400 <= code < 600:
        return _classified(target, code, said, marks, retry_after({}, document))
    if "rate_limit" in marks:
        return RateLimitedError(
            f"{target.model} is rate limited: {said}", retry_after_seconds=retry_after({}, document)
        )
    if "invalid_request" in marks:
        return RequestRejectedError(f"{target.model} refused the request: {said}")
    return ProviderFaultError(f"{target.model} broke off its answer: {said}")


def _classified(target: Target, status: int, said: str, marks: str, wait: float | None) -> ModelError:
    because = f"(HTTP {status}: {said})" if said else f"(HTTP {status})"
    if any(mark in marks for mark in NO_CREDIT) or status == 402:
        return ModelUnavailableError(f"{target.model}: the account has no credit left {because}.", status=status)
    if status == 429:
        return RateLimitedError(f"{target.model} is rate limited {because}", status=status, retry_after_seconds=wait)
    if status >= 500 or status in RETRYABLE_CLIENT_STATUSES:
        return ProviderFaultError(f"{target.model} failed {because}", status=status, retry_after_seconds=wait)
    if status == 403 and ("moderation" in marks or "flagged" in marks):
        return RequestRejectedError(f"{target.model} refused the request {because}", status=status)
    if status in (401, 403) or any(mark in marks for mark in BAD_KEY):
        return ModelUnavailableError(f"{target.model} refused access {because}. {_key_advice(target)}", status=status)
    if status == 404 or any(mark in marks for mark in UNKNOWN_MODEL):
        advice = "Check the model's name and base_url; 'proctor models' lists what is known."
        return ModelUnavailableError(f"{target.model} was not found {because}. {advice}", status=status)
    if 300 <= status < 400:
        advice = "Redirects are not followed, because they would carry the key: set base_url to the final address."
        return ModelUnavailableError(f"{target.model} was redirected {because}. {advice}", status=status)
    return RequestRejectedError(f"{target.model} refused the request {because}", status=status)


def _key_advice(target: Target) -> str:
    if target.key_variable is None:
        return "Check what the server asks for; a key of its own is named with auth_variable=VARIABLE."
    if target.secrets:
        return f"Check the key in {target.key_variable}, and that it may use this model."
    return f"Set {target.key_variable}."


def parse_or_none(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def message_in(document: Any) -> str | None:
    """The provider's own words, wherever its dialect puts them."""
    if isinstance(document, list) and document:
        document = document[0]
    if not isinstance(document, dict):
        return None
    for name in ("error", "message", "detail", "error_message", "title"):
        value = document.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict):
            nested = value.get("message") or value.get("detail") or value.get("type")
            return str(nested) if nested else None
        if isinstance(value, list) and value:
            return "; ".join(str(item.get("msg", item)) if isinstance(item, dict) else str(item) for item in value[:3])
    return None


def _codes(document: Any) -> str:
    """The machine-readable names of an error, in one string."""
    error = error_of(document)
    reasons = [item.get("reason") for item in error_details(error)]
    return " ".join(
        str(value) for value in (error.get("code"), error.get("type"), error.get("status"), *reasons) if value
    )
