"""Addresses as requests need them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.models.destinations import Destination, UnsendableError, place_of


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://10.0.0.1/v1/chat", Destination("10.0.0.1", 80, "10.0.0.1", "/v1/chat")),
        ("http://host:8080", Destination("host", 8080, "host:8080", "/")),
        ("http://host?a=b%20c", Destination("host", 80, "host", "/?a=b%20c")),
        ("http://[::1]:9/a?b=1", Destination("::1", 9, "[::1]:9", "/a?b=1")),
        ("https://host/v1", Destination("host", 443, "host", "/v1", is_secure=True)),
        ("https://host:8443/v1", Destination("host", 8443, "host:8443", "/v1", is_secure=True)),
        ("http://host/a b", Destination("host", 80, "host", "/a%20b")),
        ("http://host/ä?ö=ü%20x", Destination("host", 80, "host", "/%C3%A4?%C3%B6=%C3%BC%20x")),
        ("https://Höst.de:9/", Destination("xn--hst-sna.de", 9, "xn--hst-sna.de:9", "/", is_secure=True)),
        ("http://host/a#b", Destination("host", 80, "host", "/a")),
        ("HTTP://host/", Destination("host", 80, "host", "/")),
        ("http://[::1]/ä", Destination("::1", 80, "[::1]", "/%C3%A4")),
    ],
)
def test_an_address_is_taken_apart_and_escaped_where_it_must_be(url: str, expected: Destination) -> None:
    assert place_of(url) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://user:word@host/", "user name or password"),
        ("http://host/a\r\nb: c", "control character"),
        ("http://host:99999/", "cannot be read"),
        ("http://host:x/", "cannot be read"),
        ("http:///path", "name a host"),
        ("ftp://host/", "http:// or https://"),
        ("http://ä..b/", "no name"),
    ],
)
def test_what_cannot_be_sent_is_refused_without_being_shown(url: str, expected: str) -> None:
    with pytest.raises(UnsendableError, match=expected) as caught:
        place_of(url)
    assert "word@" not in str(caught.value)


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_address_can_break_a_request_line(host: str, path: str) -> None:
    try:
        place = place_of(f"http://{host}/{path}")
    except UnsendableError:
        return
    for part in (place.path, place.netloc):
        assert part.isascii()
        assert not set(part) & set(" \r\n\t\0")


def test_half_a_character_has_no_place_in_an_address() -> None:
    with pytest.raises(UnsendableError, match="half a character"):
        place_of("http://host/\ud83d")
