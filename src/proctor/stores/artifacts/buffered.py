"""Artifacts in a store elsewhere: what it cannot take at the moment waits in a folder on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import cached_property

from proctor.domain.artifacts import Artifacts, path_of
from proctor.domain.errors import DamagedArtifactError, NotFoundError, StoreError
from proctor.stores.artifacts.folder import FolderArtifacts

PAUSE_SECONDS = 60.0
"""How long a store that failed is not asked again to take anything: each trial would wait for it."""


class BufferedArtifacts:
    """A store that takes every body, because a finished program must not lose its marks when the network fails.

    Bodies that wait are found like all others, and are sent with the next one that gets through, or by `check`.
    """

    def __init__(self, location: str, open_store: Callable[[], Artifacts], waiting: FolderArtifacts) -> None:
        self.location = location
        self._open = open_store
        self._waiting = waiting
        self._paused_until = 0.0
        self._fault = ""

    @cached_property
    def _store(self) -> Artifacts:
        return self._open()

    def put(self, name: str, content: bytes | Iterable[bytes]) -> str:
        if isinstance(content, bytes):
            key = self._send(lambda: self._store.put(name, content))
            return self._waiting.put(name, content) if key is None else key
        key = self._waiting.put(name, content)  # chunks can be read only once
        self._send(lambda: self._forward(key))
        return key

    def _send(self, send: Callable[[], str]) -> str | None:
        """What sending gives; None where it failed, or did so a moment ago."""
        if time.monotonic() < self._paused_until:
            return None
        try:
            key = send()
            self._forward_all()
        except DamagedArtifactError as fault:
            self._fault = str(fault)
            return None
        except StoreError as fault:
            self._fault, self._paused_until = str(fault), time.monotonic() + PAUSE_SECONDS
            return None
        return key

    def _forward_all(self) -> None:
        for key in self._waiting.keys():  # noqa: SIM118 - not a mapping
            try:
                self._forward(key)
            except DamagedArtifactError as fault:  # it waits until somebody looks, and the others need not
                self._fault = str(fault)

    def _forward(self, key: str) -> str:
        with suppress(NotFoundError):  # another thread or process has sent it meanwhile
            self._store.put(key, self._waiting.chunks(key))
            self._waiting.delete(key)
        return key

    def get(self, key: str) -> bytes:
        return b"".join(self.chunks(key))

    def chunks(self, key: str) -> Iterator[bytes]:
        path_of(key)
        return self._read(key)

    def _read(self, key: str) -> Iterator[bytes]:
        try:
            yield from self._waiting.chunks(key)
        except NotFoundError:
            yield from self._store.chunks(key)

    def size(self, key: str) -> int | None:
        waiting = self._waiting.size(key)
        return self._store.size(key) if waiting is None else waiting

    def exists(self, key: str) -> bool:
        return self.size(key) is not None

    def kept_at(self, key: str) -> datetime | None:
        waiting = self._waiting.kept_at(key)
        return self._store.kept_at(key) if waiting is None else waiting

    def delete(self, key: str) -> int | None:
        stored, waited = self._store.delete(key), self._waiting.delete(key)
        return stored if waited is None else waited

    def keys(self) -> Iterator[str]:
        yield from (key for key in self._waiting.keys() if not self._store.exists(key))  # noqa: SIM118
        yield from self._store.keys()

    def link(self, key: str, *, seconds: int) -> str:
        if self._waiting.exists(key):
            self._forward(key)
        return self._store.link(key, seconds=seconds)

    def check(self) -> None:
        self._store.check()
        self._forward_all()
        self._paused_until = 0.0

    def delayed(self) -> str | None:
        count = sum(1 for _ in self._waiting.keys())  # noqa: SIM118
        if not count:
            return None
        what = "1 artifact waits" if count == 1 else f"{count} artifacts wait"
        why = f" {self._fault}" if self._fault else ""
        return f"{what} in {self._waiting.folder} to be sent to {self.location}; 'proctor doctor' sends them.{why}"
