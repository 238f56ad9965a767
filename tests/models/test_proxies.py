"""Which proxy is used for what, and what it gets to know."""

from __future__ import annotations

import pytest

from proctor.models.destinations import Destination, place_of
from proctor.models.proxies import Proxy, UnusableProxyError, is_excepted, proxy_for, read_proxy

SECURE = place_of("https://models.test/v1")
PLAIN = place_of("http://models.test/v1")


@pytest.mark.parametrize(
    ("environment", "destination", "expected"),
    [
        ({}, SECURE, None),
        ({"HTTPS_PROXY": "http://p:8"}, SECURE, Proxy("http", "p", 8)),
        ({"HTTPS_PROXY": "http://p:8"}, PLAIN, None),
        ({"HTTP_PROXY": "http://p:8"}, PLAIN, Proxy("http", "p", 8)),
        ({"HTTP_PROXY": "http://p:8"}, SECURE, None),
        ({"ALL_PROXY": "socks5h://p"}, SECURE, Proxy("socks5h", "p", 1080)),
        ({"ALL_PROXY": "socks5://p", "https_proxy": "p:3128"}, SECURE, Proxy("http", "p", 3128)),
        ({"HTTPS_PROXY": "http://large", "https_proxy": "http://small"}, SECURE, Proxy("http", "small", 80)),
        ({"HTTPS_PROXY": "  ", "ALL_PROXY": "https://p"}, SECURE, Proxy("https", "p", 443)),
        ({"HTTPS_PROXY": "http://p:8", "NO_PROXY": "other, models.test"}, SECURE, None),
        ({"HTTPS_PROXY": "http://us%40er:pa%3Ass@p:8"}, SECURE, Proxy("http", "p", 8, "us@er", "pa:ss")),
        ({"HTTPS_PROXY": "http://[::1]:8"}, SECURE, Proxy("http", "::1", 8)),
    ],
)
def test_the_environment_names_the_proxy(
    environment: dict[str, str], destination: Destination, expected: Proxy | None
) -> None:
    assert proxy_for(destination, environment, "linux") == expected


def test_where_the_system_has_settings_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    assert proxy_for(SECURE, {}, "darwin") is None
    # Here the library answers from the environment: that is the system's setting as far as we can see.
    monkeypatch.setenv("https_proxy", "http://p:8")
    assert proxy_for(SECURE, {}, "darwin") == Proxy("http", "p", 8)
    monkeypatch.setenv("no_proxy", "models.test")
    assert proxy_for(SECURE, {}, "darwin") is None


@pytest.mark.parametrize("text", ["ftp://p:1", "http://p:x", "socks4://p", "http://", "http://[p"])
def test_a_proxy_that_cannot_be_used_is_refused_without_its_password(text: str) -> None:
    with pytest.raises(UnusableProxyError, match=r"in HTTPS_PROXY cannot be used, .* one of http, https, socks5"):
        read_proxy(text, "HTTPS_PROXY")
    with pytest.raises(UnusableProxyError) as caught:
        read_proxy(text.replace("://", "://user:word@"), "HTTPS_PROXY")
    assert "word" not in str(caught.value)


def test_no_password_is_in_a_proxys_name() -> None:
    proxy = Proxy("http", "::1", 8, "user", "word")
    assert str(proxy) == "http://[::1]:8"
    assert "word" not in repr(proxy)


@pytest.mark.parametrize(
    ("url", "rules", "expected"),
    [
        ("https://a.models.test/", "models.test", True),
        ("https://a.models.test/", ".models.test", True),
        ("https://a.models.test/", "*.models.test", True),
        ("https://models.test/", ".models.test", True),
        ("https://models.test/", "MODELS.test", True),
        ("https://models.test.evil.com/", "models.test", False),
        ("https://amodels.test/", "models.test", False),
        ("https://models.test/", "*", True),
        ("https://models.test/", "", False),
        ("https://models.test/", " , .", False),
        ("https://models.test:8443/", "models.test:8443", True),
        ("https://models.test/", "models.test:8443", False),
        ("https://models.test/", "models.test:²", False),
        ("https://10.1.2.3/", "10.0.0.0/8", True),
        ("https://10.1.2.3/", "10.1.2.3", True),
        ("https://11.1.2.3/", "10.0.0.0/8", False),
        ("https://10.1.2.3:9/", "10.1.2.3:9", True),
        ("https://[fd00::1]/", "fd00::/8", True),
        ("https://[fd00::1]:9/", "[fd00::1]:9", True),
        ("https://[fd00::1]:9/", "[fd00::1]:8", False),
        ("https://[fd00::1]/", "fe80::/10", False),
    ],
)
def test_exceptions_are_names_and_all_below_them_addresses_and_networks(url: str, rules: str, expected: bool) -> None:
    assert is_excepted(place_of(url), rules) is expected
