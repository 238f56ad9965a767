"""Links, their versions and hits, kept in a journal."""

from __future__ import annotations

import json
import secrets
import string
import threading
import time
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

CODE_CHARACTERS = string.ascii_lowercase + string.digits
CODE_LENGTH = 8


class TakenError(Exception):
    """Another link has this code."""


class MissingError(Exception):
    """No link has this code."""


class ConditionError(Exception):
    """The link is not of the version that was expected."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link; its version is different after every change of any link."""

    code: str
    url: str
    title: str
    version: int

    @property
    def tag(self) -> str:
        """The entity tag of this version."""
        return f'"v{self.version}"'


Condition = Callable[[str], bool]


def always(_tag: str) -> bool:
    """Accept any version."""
    return True


class Shelf:
    """All links; safe to use from several threads."""

    def __init__(self, journal: Path) -> None:
        """Take up the links of the journal, if there is one."""
        self._lock = threading.Lock()
        self._links: dict[str, Link] = {}
        self._codes: list[str] = []
        self._hits: Counter[str] = Counter()
        self._version = 0
        if journal.exists():
            for line in journal.read_text("utf-8").splitlines():
                self._replay(json.loads(line))
        self._journal = journal.open("a", encoding="utf-8")

    def close(self) -> None:
        """Let go of the journal."""
        self._journal.close()

    def _replay(self, record: dict[str, Any]) -> None:
        if "url" in record:
            self._put(Link(**record))
        else:
            self._drop(record["code"])
        self._version = max(self._version, record["version"])

    def _write(self, record: dict[str, Any]) -> None:
        self._journal.write(json.dumps(record) + "\n")
        self._journal.flush()

    def _put(self, link: Link) -> None:
        if link.code not in self._links:
            insort(self._codes, link.code)
        self._links[link.code] = link

    def _drop(self, code: str) -> None:
        del self._links[code]
        del self._codes[bisect_right(self._codes, code) - 1]
        self._hits.pop(code, None)

    def _store(self, code: str, url: str, title: str) -> Link:
        self._version += 1
        link = Link(code, url, title, self._version)
        self._write(asdict(link))
        self._put(link)
        return link

    def _new_code(self) -> str:
        while True:
            code = "".join(secrets.choice(CODE_CHARACTERS) for _ in range(CODE_LENGTH))
            if code not in self._links:
                return code

    def _find(self, code: str) -> Link:
        if code not in self._links:
            raise MissingError
        return self._links[code]

    def add(self, code: str | None, url: str, title: str) -> Link:
        """Keep a new link; raises TakenError."""
        with self._lock:
            if code in self._links:
                raise TakenError
            return self._store(code or self._new_code(), url, title)

    def get(self, code: str) -> Link:
        """Give a link; raises MissingError."""
        with self._lock:
            return self._find(code)

    def change(self, code: str, url: str, title: str, condition: Condition) -> Link:
        """Replace a link of the right version; raises ConditionError."""
        with self._lock:
            if not condition(self._find(code).tag):
                raise ConditionError
        time.sleep(0.05)
        with self._lock:
            return self._store(code, url, title)

    def delete(self, code: str, condition: Condition) -> None:
        """Forget a link of the right version; raises ConditionError."""
        with self._lock:
            if not condition(self._find(code).tag):
                raise ConditionError
            self._version += 1
            self._write({"code": code, "version": self._version})
            self._drop(code)

    def page(self, after: str, limit: int) -> tuple[list[Link], bool]:
        """Give the links that follow a code, and whether there are more."""
        with self._lock:
            start = bisect_right(self._codes, after)
            codes = self._codes[start : start + limit]
            links = [self._links[code] for code in codes]
            return links, start + limit < len(self._codes)

    def visit(self, code: str) -> Link:
        """Count a hit and give the link."""
        with self._lock:
            link = self._find(code)
            self._hits[code] += 1
            return link

    def hits(self, code: str) -> int:
        """Give the number of visits since the start."""
        with self._lock:
            self._find(code)
            return self._hits[code]
