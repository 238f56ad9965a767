"""Streams over plain HTTP: pieces of an answer are handed over in the very callback that receives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from proctor.domain.errors import ModelError
from proctor.models.direct import (
    BrokenConnectionError,
    DirectClient,
    NoConnectionError,
    StreamParser,
    UnsendableError,
)
from proctor.models.faults import fault_of
from proctor.models.http1 import TooLargeError
from proctor.models.transport import CONNECT_SECONDS, USER_AGENT, Transport

if TYPE_CHECKING:
    from collections.abc import Iterator

Take = Callable[[bytes], bool]


class StreamedAnswer(StreamParser):
    """An answer that is read while it arrives; the body of a refusal is kept, as any other is."""

    __slots__ = ("_has_enough", "_take", "fault", "when_enough")

    def __init__(self, largest: int, take: Take) -> None:
        super().__init__(largest)
        self._take = take
        self._has_enough = False
        self.fault: ModelError | None = None
        """What reading it came upon: raised by whoever asked, because a callback must not."""
        self.when_enough: Callable[[], object] = lambda: None
        """Called once everything that is wanted has come, though the server may not have ended yet."""

    def feed(self, data: bytes) -> bool:
        is_whole = super().feed(data)
        if self.fault is not None and not is_whole:
            self.is_reusable = False
            return True
        return is_whole

    def end(self) -> None:
        if not self._has_enough:
            super().end()

    def _keep(self, data: bytes) -> None:
        if self.status >= 300:
            super()._keep(data)
            return
        self._size += len(data)
        if self._size > self._largest:
            raise TooLargeError
        if not data or self._has_enough:
            return
        try:
            self._has_enough = self._take(data)
        except ModelError as error:
            self.fault, self._has_enough = error, True
        if self._has_enough:
            self.when_enough()


class StreamingTransport(Transport):
    """A transport whose streams go out directly, too, where plain requests do: a tenth of the cost for each piece."""

    async def stream(
        self, url: str, headers: Mapping[str, str], body: bytes, timeout_seconds: float, take: Take
    ) -> Mapping[str, str]:
        place = self._directly(url)
        if place is None:
            return await super().stream(url, headers, body, timeout_seconds, take)
        self._refuse_when_offline(url)
        if self._direct is None:
            self._refuse_when_closed()
            self._direct = DirectClient(USER_AGENT, CONNECT_SECONDS)
        answer = StreamedAnswer(self._largest, take)
        with self._in_our_words(url, timeout_seconds):
            await self._direct.stream(place, headers, body, answer, timeout_seconds=timeout_seconds)
        if answer.fault is not None:
            raise answer.fault
        if answer.status >= 300:
            raise fault_of(self.target, answer.status, answer.headers, answer.body)
        return answer.headers

    @contextmanager
    def _in_our_words(self, url: str, timeout_seconds: float) -> Iterator[None]:
        try:
            yield
        except TooLargeError:
            raise self._too_large() from None
        except (NoConnectionError, BrokenConnectionError, UnsendableError, TimeoutError) as error:
            raise self._direct_fault(error, url, timeout_seconds) from None
