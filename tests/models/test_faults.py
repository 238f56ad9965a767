"""From what providers say to errors that say what to do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.domain.errors import (
    ModelError,
    ModelUnavailableError,
    ProviderFaultError,
    RateLimitedError,
    RequestRejectedError,
)
from proctor.models.faults import MAX_MESSAGE_LENGTH, MAX_READ, Target, fault_in_answer, fault_of, message_in
from proctor.models.waits import duration, retry_after

TARGET = Target("openai/m", "OPENAI_API_KEY", ("sk-secret",))


def fault(status: int, body: Any, headers: dict[str, str] | None = None) -> ModelError:
    return fault_of(TARGET, status, headers or {}, body if isinstance(body, bytes) else orjson.dumps(body))


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"error": {"message": "bad"}}, RequestRejectedError),
        (400, {"error": {"code": 400, "details": [{"reason": "API_KEY_INVALID"}]}}, ModelUnavailableError),
        (400, {"error": {"message": "x", "code": "model_not_found"}}, ModelUnavailableError),
        (400, {"error": {"message": "Your credit balance is too low"}}, ModelUnavailableError),
        (401, {}, ModelUnavailableError),
        (402, {"error": {"message": "Insufficient credits"}}, ModelUnavailableError),
        (403, {"error": {"message": "not yours"}}, ModelUnavailableError),
        (403, {"error": {"message": "Your input was flagged", "code": 403}}, RequestRejectedError),
        (404, b"404 page not found", ModelUnavailableError),
        (408, {}, ProviderFaultError),
        (409, {}, ProviderFaultError),
        (413, {"error": "too large"}, RequestRejectedError),
        (422, {"detail": [{"msg": "field required", "loc": ["x"]}]}, RequestRejectedError),
        (425, {}, ProviderFaultError),
        (429, {}, RateLimitedError),
        (429, {"error": {"code": "insufficient_quota"}}, ModelUnavailableError),
        (301, b"", ModelUnavailableError),
        (500, b"<html><h1>oops</h1></html>", ProviderFaultError),
        (529, {"error": {"type": "overloaded_error"}}, ProviderFaultError),
    ],
)
def test_each_status_is_the_error_it_should_be(status: int, body: Any, kind: type[ModelError]) -> None:
    caught = fault(status, body)
    assert type(caught) is kind
    assert caught.status == status
    assert "openai/m" in str(caught)
    assert str(status) in str(caught)


def test_messages_are_shortened_flattened_and_without_secrets() -> None:
    message = str(fault(400, {"error": {"message": "bad\n\nkey sk-secret " + "x" * 9999}}))
    assert "sk-secret" not in message
    assert "[key]" in message
    assert "\n" not in message
    assert len(message) < MAX_MESSAGE_LENGTH + 100
    assert "<h1>" not in str(fault(500, b"<html><h1>oops</h1></html>"))


@given(
    st.integers(300, 599),
    st.recursive(
        st.none() | st.text() | st.integers(-9, 999),
        lambda x: (
            st.lists(x) | st.dictionaries(st.sampled_from(["error", "message", "detail", "code", "details", "type"]), x)
        ),
    ),
)
def test_any_document_with_any_status_is_some_error(status: int, document: Any) -> None:
    assert isinstance(fault(status, document), ModelError)
    assert isinstance(fault_in_answer(TARGET, document), ModelError)


@given(st.integers(300, 599), st.binary(max_size=200))
def test_any_bytes_with_any_status_are_some_error(status: int, body: bytes) -> None:
    assert isinstance(fault(status, body), ModelError)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, None),
        ({"x-ratelimit-reset": "99999999999999999"}, None),
        ({"x-ratelimit-reset": "1e300"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360),
        ({"x-ratelimit-remaining-requests": "4", "x-ratelimit-reset-requests": "6m0s"}, None),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "2s",
            },
            2,
        ),
        ({}, None),
    ],
)
def test_the_wait_is_read_from_whichever_header_has_it(headers: dict[str, str], expected: float | None) -> None:
    assert retry_after(headers) == expected


def test_dates_are_waited_for_and_the_past_is_not() -> None:
    def near(seconds: float | None, wanted: float) -> bool:
        return seconds is not None and abs(seconds - wanted) < 5

    later = datetime.now(UTC) + timedelta(seconds=60)
    assert near(retry_after({"retry-after": later.strftime("%a, %d %b %Y %H:%M:%S GMT")}), 60)
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    anthropic = {"anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-requests-reset": later.isoformat()}
    assert near(retry_after(anthropic), 60)
    assert near(retry_after({"x-ratelimit-reset": str(int(later.timestamp() * 1000))}), 60)


def test_google_says_in_the_body_how_long_to_wait() -> None:
    body = {"error": {"code": 429, "message": "quota", "details": [{"@type": "…RetryInfo", "retryDelay": "34.5s"}]}}
    assert fault(429, body).retry_after_seconds == 34.5
    assert fault(429, [body]).retry_after_seconds == 34.5


@given(st.integers(0, 100), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999))
def test_durations_are_read_as_they_are_written(hours: int, minutes: int, seconds: int, ms: int) -> None:
    assert duration(f"{hours}h{minutes}m{seconds}s{ms}ms") == pytest.approx(
        hours * 3600 + minutes * 60 + seconds + ms / 1000
    )
    assert duration(f"{seconds}") == seconds
    assert duration("later") is None
    assert duration("5x") is None


def test_the_providers_words_are_found_wherever_they_are() -> None:
    for document in (
        {"error": {"message": "m"}},
        {"error": "m"},
        {"message": "m"},
        {"detail": "m"},
        [{"error": {"message": "m"}}],
    ):
        assert message_in(document) == "m"
    for document in (None, 3, {}, [], {"error": None}):
        assert message_in(document) is None


def test_an_error_inside_an_answer_is_classified_too() -> None:
    assert isinstance(fault_in_answer(TARGET, {"code": 429, "message": "x"}), RateLimitedError)
    assert isinstance(fault_in_answer(TARGET, {"code": "503", "message": "x"}), ProviderFaultError)
    assert isinstance(fault_in_answer(TARGET, {"type": "rate_limit_error", "message": "x"}), RateLimitedError)
    assert isinstance(fault_in_answer(TARGET, {"type": "invalid_request_error", "message": "x"}), RequestRejectedError)
    assert isinstance(fault_in_answer(TARGET, {"type": "overloaded_error", "message": "x"}), ProviderFaultError)
    assert isinstance(fault_in_answer(TARGET, "boom"), ProviderFaultError)


HEADERS = ("retry-after", "retry-after-ms", "x-ratelimit-reset", "x-ratelimit-reset-tokens")


@given(st.dictionaries(st.sampled_from(HEADERS), st.text("0123456789.:-+eE GMTZJanhms,", max_size=30)))
def test_whatever_the_headers_say_the_wait_is_a_time_or_none(headers: dict[str, str]) -> None:
    wait = retry_after({"x-ratelimit-remaining-tokens": "0", **headers})
    assert wait is None or wait >= 0


@pytest.mark.parametrize("before", range(MAX_READ - len("sk-secret"), MAX_READ + 1))
def test_a_secret_is_not_shown_in_half_where_a_page_is_cut(before: int) -> None:
    page = b"<" + b"x" * (before - 2) + b">sk-secret and more"
    assert "sk-" not in str(fault(500, page))
