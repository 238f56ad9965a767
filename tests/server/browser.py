"""A browser without pages: keeps cookies, follows nothing by itself."""

from __future__ import annotations

import re
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

FORM = re.compile(r'<form[^>]*action="([^"]*)"')


class Browser:
    def __init__(self) -> None:
        self.cookies: dict[str, str] = {}

    def ask(self, method: str, url: str, form: dict[str, str] | None = None) -> tuple[int, str, bytes]:
        """The status, where it leads, and the body."""
        parts = urlsplit(url)
        connection = HTTPConnection(str(parts.hostname), parts.port, timeout=60)
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        if form is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            target = parts.path + (f"?{parts.query}" if parts.query else "")
            connection.request(method, target, None if form is None else urlencode(form), sent)
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        for header in answer.headers.get_all("set-cookie") or []:
            self._keep(header)
        return answer.status, urljoin(url, answer.headers.get("location") or ""), body

    def _keep(self, header: str) -> None:
        found: Any = SimpleCookie()
        found.load(header)
        for name, morsel in found.items():
            if morsel["max-age"] == "0" or morsel.value == "" or "1970" in morsel["expires"]:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = morsel.value

    def follow(self, url: str, until: str) -> str:
        """Go where one is sent, until an address that begins like this; gives it, without asking for it."""
        for _ in range(20):
            if url.startswith(until):
                return url
            status, url, body = self.ask("GET", url)
            assert status in (302, 303), (status, url, body[:400])
        raise AssertionError(f"it never comes to {until}")
