"""Logs: one JSON object a line where programs read them, a readable line on a terminal; secrets are masked.

Modules log with the standard library (`logging.getLogger("proctor.…")`, fields in `extra`); structlog makes the lines.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Mapping, MutableMapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from proctor.domain.errors import UserError, did_you_mean
from proctor.domain.log_context import current_context
from proctor.secret_files import with_secret_files
from proctor.telemetry.log_writer import LineHandler, LineWriter

LEVELS = ("debug", "info", "warning", "error")
MAX_FIELD, MAX_TRACEBACK = 1_000, 2_500
"""Characters; of a traceback its end is kept. A line must fit what a pipe takes at once (4,096 bytes)."""
MASK = "***"
_SECRET_NAME = re.compile(r"(?:^|_)(?:key|secret|token|password|cookie|authorization)$", re.IGNORECASE)
_SECRET_VARIABLE = re.compile(r"(?:^|_)(?:KEY|KEYS|SECRET|SECRETS|TOKEN|PASSWORD)$")
_SECRET_TEXT = re.compile(
    r"(?:(?<=://)[^/@\s:]*:[^/\s]*(?=@)|\b(?:pk|sk|hf|gho|ghp|xox[a-z])[_-][\w-]{8,}|(?<=Bearer )\S+)", re.IGNORECASE
)
MIN_SECRET = 8
Event = MutableMapping[str, Any]


class LogSettings(Protocol):
    """What operators may set of logs."""

    @property
    def log_level(self) -> str: ...
    @property
    def log_format(self) -> str: ...
    @property
    def log_folder(self) -> Path | None: ...
    @property
    def log_days(self) -> int: ...


def read_levels(text: str) -> dict[str, str]:
    """The level of each logger; raises UserError for what is none."""
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, level = part.rpartition("=")
        if level.lower() not in LEVELS:
            hint = did_you_mean(level, LEVELS)
            raise UserError(f"PROCTOR_LOG_LEVEL: {level!r} is no level.{hint} There are: {', '.join(LEVELS)}.")
        found[name.strip() or "proctor"] = level.lower()
    return found


class Redaction:
    """Masks what is secret by its name or its form, and every secret of the environment wherever it stands."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        secrets = {
            value.strip()
            for name, value in environment.items()
            if _SECRET_VARIABLE.search(name) and len(value.strip()) >= MIN_SECRET
        }
        own = [re.escape(secret) for secret in sorted(secrets, key=len, reverse=True)]
        self._own = re.compile("|".join(own)) if own else None

    def __call__(self, logger: object, method: str, event: Event) -> Event:  # noqa: ARG002 - structlog's form
        for name, value in event.items():
            if isinstance(value, str):
                event[name] = MASK if _SECRET_NAME.search(name) else self.mask(value)
        return event

    def mask(self, text: str) -> str:
        if self._own is not None:
            text = self._own.sub(MASK, text)
        return _SECRET_TEXT.sub(MASK, text)


class _State:
    """What this process logs through, once it was started."""

    def __init__(self) -> None:
        self.handler: LineHandler | None = None
        self.is_json = self.has_folder = False


_STATE = _State()


def start_logging(settings: LogSettings, service: str, environment: Mapping[str, str] = os.environ) -> None:
    """Send everything that is logged in this process out in lines; called again, the newest settings hold."""
    levels = read_levels(settings.log_level)
    if find_spec("structlog") is None:
        if settings.log_format == "json" or settings.log_folder is not None:
            raise UserError("Logs as JSON need structlog: pip install 'proctor[server]'.")
        logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
        return
    is_wanted = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    _STATE.is_json = is_wanted or settings.log_folder is not None
    _STATE.has_folder = settings.log_folder is not None
    root = logging.getLogger()
    if _STATE.handler is not None:
        root.removeHandler(_STATE.handler)
        _STATE.handler.writer.close()
    _STATE.handler = LineHandler(LineWriter(settings.log_folder, settings.log_days))
    _STATE.handler.setFormatter(_formatter(service, Redaction(with_secret_files(environment)), is_json=_STATE.is_json))
    root.addHandler(_STATE.handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("proctor").setLevel(logging.INFO)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level.upper())


def lines_dropped() -> int:
    """Log lines that this process could not write."""
    return 0 if _STATE.handler is None else _STATE.handler.writer.dropped


def announce(text: str, *, is_kept: bool = True, **fields: str) -> None:
    """Tell whoever started this process; a line like all others where programs read them.

    What is not to be kept, since it is a secret, goes into no file of the log.
    """
    if _STATE.is_json and (is_kept or not _STATE.has_folder):
        logging.getLogger("proctor").info(text, extra=fields)
        if not _STATE.has_folder:
            return
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _formatter(service: str, redaction: Redaction, *, is_json: bool) -> logging.Formatter:
    import orjson
    import structlog

    def name_process(logger: object, method: str, event: Event) -> Event:  # noqa: ARG001
        event["service"], event["pid"] = service, os.getpid()
        return event

    def dumps(event: Any, **_: object) -> str:
        return orjson.dumps(event, default=str, option=orjson.OPT_NON_STR_KEYS).decode()

    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        _add_context,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last: list[Any] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, redaction]
    if is_json:
        renderer: Any = structlog.processors.JSONRenderer(serializer=dumps)
        steps = [name_process, structlog.processors.format_exc_info, *last, _shorten, renderer]
    else:
        steps = [*last, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=20)]
    return structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=steps)


def _add_context(logger: object, method: str, event: Event) -> Event:  # noqa: ARG001 - structlog's form
    for name, value in current_context().items():
        event.setdefault(name, value)
    return event


def _shorten(logger: object, method: str, event: Event) -> Event:  # noqa: ARG001 - structlog's form
    for name, value in event.items():
        if not isinstance(value, str):
            continue
        if name == "exception":
            event[name] = value if len(value) <= MAX_TRACEBACK else f"…{value[-MAX_TRACEBACK:]}"
        elif len(value) > MAX_FIELD:
            event[name] = f"{value[:MAX_FIELD]}…"
    return event


class Quieted(logging.Filter):
    """Leaves the tracebacks of other programs' parts out: a broker that restarts is no reason for pages."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.name.startswith("proctor"):
            record.exc_info = None
            lines = record.getMessage().splitlines()
            record.msg, record.args = (lines[0] if lines else ""), None
        return True


def leave_out_tracebacks_of_others() -> None:
    """Of what is not ours, only first lines are logged from now on."""
    if _STATE.handler is not None:
        _STATE.handler.addFilter(Quieted())
