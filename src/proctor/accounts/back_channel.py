"""Requests of the server to an identity provider: no redirects, ten seconds, at most a megabyte."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

import orjson

from proctor.domain.errors import ProctorError
from proctor.models.trust import UntrustedError, trusted
from proctor.offline import is_loopback_host

SECONDS = 10.0
MAX_BYTES = 1_000_000


class IdentityProviderError(ProctorError):
    """The identity provider cannot be used: it does not answer, or not as it must."""

    http_status = 502


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def is_safe(url: str) -> bool:
    """Whether secrets may be sent there: over TLS, or to this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback_host(host)))


def ask_json(
    url: str, form: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None, *, is_list: bool = False
) -> Any:
    """The JSON document at an address; a form makes it a POST. What it says of errors is not repeated."""
    host = urlsplit(url).hostname
    if not is_safe(url):
        raise IdentityProviderError(f"The identity provider names an address without TLS, at {host}.")
    sent = {"Accept": "application/json", "User-Agent": "proctor", **(headers or {})}
    request = Request(url, None if form is None else urlencode(form).encode(), sent)  # noqa: S310 - checked above
    try:
        opener = build_opener(_NoRedirects, HTTPSHandler(context=trusted()))
        with opener.open(request, timeout=SECONDS) as answer:
            content = answer.read(MAX_BYTES + 1)
    except HTTPError as error:
        error.close()
        raise IdentityProviderError(f"The identity provider at {host} answered {error.code}.") from None
    except (URLError, OSError, UntrustedError, ValueError):
        raise IdentityProviderError(f"The identity provider at {host} does not answer.") from None
    try:
        found = orjson.loads(content[:MAX_BYTES])
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, list if is_list else dict):
        raise IdentityProviderError(f"The identity provider at {host} did not answer with the JSON that was asked for.")
    return found
