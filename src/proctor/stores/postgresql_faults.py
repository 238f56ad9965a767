"""What a PostgreSQL server says when something fails, in one clear line."""

from __future__ import annotations

import re

import psycopg

from proctor.domain.errors import StoreError
from proctor.stores.patience import StoreUnreachableError

_AWAY = ("08", "57P", "53300", "25P03", "25P04")
"""Beginnings of the codes of errors that pass: connections that fail or are too many, transactions that took long."""
_REFUSED = re.compile(r"authentication failed|does not exist|no pg_hba.conf entry|SSL|ssl|is not permitted|certificate")
_REPEATED = re.compile(r"^(connection failed: )?(connection (to server )?at \"[^\"]*\", port \d+ failed: )?(FATAL: +)?")


def in_words(label: str, error: psycopg.Error) -> StoreError:
    """What the driver says, as something that a user can act on; `label` is the database without its password."""
    text = str(error).strip().partition("\n")[0].rstrip(".")
    state = error.sqlstate
    if state is not None and state.startswith(_AWAY):
        return StoreUnreachableError(f"{label} is not available: {text}.")
    if state == "53100":  # waited for: what was paid for has nowhere else to go
        return StoreUnreachableError(
            f"The disk of {label} is full. What was recorded is kept; free some room and resume the run."
        )
    if state == "40001" and "recovery" in text:
        return StoreError(
            f"A replica of {label} ended a long query in favour of what it had to take over. Ask again; "
            "'hot_standby_feedback = on' there keeps it from doing so."
        )
    if state == "42501":
        return StoreError(f"{label} does not allow this: {text}. Grant the user the rights on Proctor's tables.")
    if isinstance(error, psycopg.IntegrityError):
        return StoreError(f"{label}: a row that was to be written contradicts what is there ({text}).")
    if state is None and isinstance(error, psycopg.OperationalError):
        if _REFUSED.search(text):
            return StoreError(f"{label} refuses the connection: {_without_address(text)}.")
        return StoreUnreachableError(f"{label} cannot be reached: {_without_address(text)}.")
    return StoreError(f"{label} cannot be used: {text}.")


def _without_address(text: str) -> str:
    """The driver repeats the address, which the message has already."""
    return _REPEATED.sub("", text)
