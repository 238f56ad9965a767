from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from proctor.domain.errors import (
    ModelUnavailableError,
    ProviderFaultError,
    RateLimitedError,
    RequestRejectedError,
)
from proctor.engine.retry import MAX_RETRY_AFTER_SECONDS, MAX_SECONDS, RetryPolicy


@given(st.integers(0, 40), st.integers())
def test_waits_grow_but_stay_bounded(retries: int, seed: int) -> None:
    wait = RetryPolicy(50, random.Random(seed)).wait_seconds(ProviderFaultError("down"), retries)
    assert wait is not None
    assert 0 < wait <= MAX_SECONDS


def test_the_average_wait_doubles() -> None:
    policy = RetryPolicy(10, random.Random(1))
    means = [sum(policy.wait_seconds(ProviderFaultError("down"), n) or 0 for _ in range(500)) / 500 for n in range(4)]
    assert all(1.7 < later / earlier < 2.3 for earlier, later in itertools.pairwise(means))


@given(st.floats(0, MAX_RETRY_AFTER_SECONDS), st.integers())
def test_a_provider_is_never_asked_before_the_time_it_gave(after: float, seed: int) -> None:
    error = RateLimitedError("slow down", retry_after_seconds=after)
    wait = RetryPolicy(5, random.Random(seed)).wait_seconds(error, 0)
    assert wait is not None
    assert wait >= after


def test_retries_end() -> None:
    policy = RetryPolicy(3)
    assert policy.wait_seconds(ProviderFaultError("down"), 2) is not None
    assert policy.wait_seconds(ProviderFaultError("down"), 3) is None


def test_what_cannot_succeed_is_not_tried_again() -> None:
    policy = RetryPolicy(3)
    assert policy.wait_seconds(RequestRejectedError("too long"), 0) is None
    assert policy.wait_seconds(ModelUnavailableError("bad key"), 0) is None
    tomorrow = RateLimitedError("quota", retry_after_seconds=86_400)
    assert policy.wait_seconds(tomorrow, 0) is None
