"""Tests of the rules."""

import pytest

import freshness

DATE, LATER = "Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:50:37 GMT"
SECOND = 784111777


def control(value: str, **headers: str) -> dict[str, str]:
    return {"Cache-Control": value, "Date": DATE, **headers}


def test_directives() -> None:
    assert freshness.directives('a=1, , B="x, \\"y", c, a=2') == {
        "a": "1",
        "b": 'x, "y',
        "c": None,
    }


@pytest.mark.parametrize(
    ("method", "status", "request_control", "response_control", "shared", "expected"),
    [
        ("GET", 200, "", "", False, True),
        ("POST", 200, "", "", False, False),
        ("GET", 500, "", "", False, False),
        ("GET", 200, "no-store", "", False, False),
        ("GET", 200, "", "private", True, False),
        ("GET", 200, "", "public", True, True),
    ],
)
def test_storing(
    method: str,
    status: int,
    request_control: str,
    response_control: str,
    shared: bool,
    expected: bool,
) -> None:
    request = {"cache-control": request_control, "authorization": "x"}
    assert (
        freshness.may_store(method, status, request, control(response_control), shared)
        is expected
    )


def test_lifetimes() -> None:
    assert freshness.lifetime(control("max-age=5, s-maxage=9"), True) == 9
    assert freshness.lifetime({"Date": DATE, "Expires": LATER}) == 60
    assert freshness.lifetime({"Date": DATE, "Expires": "0"}) == 0
    assert freshness.lifetime({}) is None


@pytest.mark.parametrize(
    ("asked", "answered", "seconds", "expected"),
    [
        ("", "max-age=10", 9, "fresh"),
        ("", "max-age=10", 10, "validate"),
        ("min-fresh=5", "max-age=10", 6, "validate"),
        ("max-age=3", "max-age=10", 6, "validate"),
        ("max-stale", "max-age=10", 60, "stale"),
        ("max-stale=5", "max-age=10", 16, "validate"),
        ("max-stale", "must-revalidate", 60, "validate"),
        ("no-cache, only-if-cached", "max-age=10", 0, "fail"),
    ],
)
def test_deciding(asked: str, answered: str, seconds: int, expected: str) -> None:
    found = freshness.decide(
        {"cache-control": asked}, control(answered), SECOND, SECOND + seconds
    )
    assert found == expected


def test_the_rest() -> None:
    assert freshness.validators({"ETag": '"1"'}) == {"If-None-Match": '"1"'}
    assert freshness.refreshed(
        {"A": "1", "Content-Length": "3"}, {"a": "2", "content-length": "0"}
    ) == {
        "a": "2",
        "content-length": "3",
    }
    assert freshness.key("GET", "/", "A", {"a": " 1"}) == freshness.key(
        "GET", "/", "a", {"A": "1"}
    )
    assert freshness.key("GET", "/", "*", {}) is None
