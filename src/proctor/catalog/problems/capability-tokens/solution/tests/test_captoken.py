"""Tests of tokens and caveats."""

import pytest

from captoken import Authority, Denied, Malformed, attenuate, inspect
from caveats import holds

SECRET = b"0123456789abcdef"


@pytest.fixture
def authority() -> Authority:
    return Authority({"k": SECRET})


@pytest.mark.parametrize(
    ("caveat", "value", "expected"),
    [
        ("x = a", "a", True),
        ("x != a", "a", False),
        ("x in a,b", "b", True),
        ("x under /d", "/d/e", True),
        ("x under /d", "/d/../e", False),
        ("x < 10", 9, True),
        ("x >= 10", "ten", False),
        ("y = a", "a", False),
        ("nonsense", "a", False),
    ],
)
def test_caveats(caveat: str, value: str | int, expected: bool) -> None:
    assert holds(caveat, {"x": value}) is expected


def test_a_token_is_narrowed_and_revoked(authority: Authority) -> None:
    token = authority.mint("k", "ada", ["a = 1"])
    narrow = attenuate(token, "b = 2")
    context = {"a": "1", "b": "2"}
    assert authority.verify(narrow, context) == "ada"
    with pytest.raises(Denied):
        authority.verify(narrow, {"a": "1"})
    authority.revoke(token)
    with pytest.raises(Denied):
        authority.verify(narrow, context)
    assert inspect(narrow) == {
        "key": "k",
        "subject": "ada",
        "caveats": ["a = 1", "b = 2"],
    }


@pytest.mark.parametrize(
    "token",
    ["", "cap1.e30.e30", "cap1.!.!", "cap1.W10." + "A" * 43, "cap1.eA." + "A" * 43],
)
def test_malformed_tokens(authority: Authority, token: str) -> None:
    with pytest.raises(Malformed):
        inspect(token)
    with pytest.raises(Denied):
        authority.verify(token, {})


def test_what_cannot_be_made(authority: Authority) -> None:
    token = authority.mint("k", "ada", ["a = 1"] * 32)
    for bad in ("a = 1", "a", "a = \n"):
        with pytest.raises(Malformed):
            attenuate(token, bad)
    with pytest.raises(Malformed):
        authority.mint("k", "a b")
    with pytest.raises(Malformed):
        Authority({"k": b"short"})
    authority.retire("k")
    with pytest.raises(Malformed):
        authority.mint("k", "ada")
    with pytest.raises(Denied):
        authority.verify(token, {"a": 1})
