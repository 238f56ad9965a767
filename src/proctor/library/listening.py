"""What happens in a run, told to functions of the caller's."""

from __future__ import annotations

import inspect
import logging
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, get_args

from msgspec import Struct

from proctor.domain.errors import PlanError, did_you_mean
from proctor.domain.event import Event, NoticeGiven

log = logging.getLogger("proctor")
Function = Callable[[Any], object]


def _kind_of(event: type) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event.__name__).lstrip("_")


KINDS: dict[str, type[Struct]] = {_kind_of(event): event for event in get_args(Event)}
"""The events by name: `results_recorded` is ResultsRecorded."""


class Listener(Struct, frozen=True):
    """A function, and the kind of event that it is called with."""

    kind: type[Struct]
    function: Function


def listener(kind: str, function: Function) -> Listener:
    """Raises PlanError for a kind that there is not, and for what cannot be called here."""
    if kind not in KINDS:
        raise PlanError(f"There is no event {kind!r}.{did_you_mean(kind, KINDS)} There are: {', '.join(KINDS)}.")
    if inspect.iscoroutinefunction(function) or not callable(function):
        raise PlanError(f"subscribe() takes a plain function, which is called with each event, not {function!r}.")
    return Listener(KINDS[kind], function)


def log_notices(event: Event) -> None:
    """A danger is logged as a warning, which is seen also where nobody has set up logging; the rest as information."""
    if isinstance(event, NoticeGiven):
        log.log(logging.WARNING if event.is_warning else logging.INFO, "%s", event.text)


class Listening:
    """Calls listeners in a thread of their own: in order, and whatever they do, the run goes on."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._listeners = list(listeners)
        self._events: SimpleQueue[Event | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._tell, name="proctor-listeners", daemon=True)
        self._thread.start()

    def __call__(self, event: Event) -> None:
        self._events.put(event)

    def close(self) -> None:
        """Wait until every event was told."""
        self._events.put(None)
        self._thread.join()

    def _tell(self) -> None:
        for event in iter(self._events.get, None):
            for one in list(self._listeners):
                if isinstance(event, one.kind):
                    self._call(one, event)

    def _call(self, one: Listener, event: Struct) -> None:
        try:
            one.function(event)
        except BaseException:  # sys.exit() in a listener must not end the others, either
            log.exception("a listener failed and is not called again: %r", one.function)
            self._listeners.remove(one)
