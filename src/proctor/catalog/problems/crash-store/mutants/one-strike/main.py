"""A store of keys and values that survives being killed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TextIO

from records import Change, DamagedError
from store import Store

LOG = Path("store.log")
KEY = re.compile(r"[!-~]{1,100}")
VALUE = re.compile(r"[^\r\n]{0,10000}")
USAGE = "usage: main.py set KEY VALUE|get KEY|del KEY|list|batch|session|compact"

DONE, WRONG, DAMAGED, ABSENT = 0, 2, 3, 4


class WrongError(Exception):
    """A command, key, value or line is not as it should be."""


def check_key(key: str) -> str:
    """Give the key back; raises WrongError if it is none."""
    if not KEY.fullmatch(key):
        raise WrongError("a key is 1 to 100 visible ASCII characters")
    return key


def check_value(value: str) -> str:
    """Give the value back; raises WrongError if it is none."""
    if not VALUE.fullmatch(value):
        raise WrongError("a value is one line of at most 10000 characters")
    return value


def read_change(line: str) -> Change:
    """Read `set KEY VALUE` or `del KEY`; raises WrongError."""
    verb, *rest = line.split(" ", 2)
    if verb == "set" and len(rest) == 2:
        return check_key(rest[0]), check_value(rest[1])
    if verb == "del" and len(rest) == 1:
        return check_key(rest[0]), None
    raise WrongError("expected 'set KEY VALUE' or 'del KEY'")


def lines_of(stream: TextIO) -> Iterable[str]:
    """Give the lines of a stream as they come, without their line feeds."""
    return (line.removesuffix("\n") for line in stream)


def set_value(store: Store, key: str, value: str) -> int:
    """Set a key."""
    store.apply([(check_key(key), check_value(value))])
    print("OK")
    return DONE


def get_value(store: Store, key: str) -> int:
    """Print the value of a key."""
    value = store.get(check_key(key))
    if value is None:
        return ABSENT
    print(value)
    return DONE


def delete(store: Store, key: str) -> int:
    """Delete a key that is there."""
    if store.get(check_key(key)) is None:
        return ABSENT
    store.apply([(key, None)])
    print("OK")
    return DONE


def list_all(store: Store) -> int:
    """Print all keys and values."""
    sys.stdout.write("".join(f"{key}\t{value}\n" for key, value in store.items()))
    return DONE


def batch(store: Store) -> int:
    """Make all changes of standard input, or none."""
    changes = []
    for number, line in enumerate(lines_of(sys.stdin), 1):
        try:
            changes.append(read_change(line))
        except WrongError as error:
            raise WrongError(f"line {number}: {error}") from None
    if changes:
        store.apply(changes)
    print("OK")
    return DONE


def answer(store: Store, line: str) -> str:
    """Serve one line of a session."""
    try:
        if line.startswith("get "):
            value = store.get(check_key(line.removeprefix("get ")))
            return "NONE" if value is None else f"VALUE {value}"
        key, new = read_change(line)
    except WrongError as error:
        return f"ERR {error}"
    if new is None and store.get(key) is None:
        return "NONE"
    store.apply([(key, new)])
    return "OK"


def session(store: Store) -> int:
    """Answer standard input line by line."""
    for line in lines_of(sys.stdin):
        reply = answer(store, line)
        print(reply, flush=True)
        if reply.startswith("ERR "):
            break
    return DONE


def compact(store: Store) -> int:
    """Rewrite the log."""
    store.compact()
    print("OK")
    return DONE


COMMANDS: dict[tuple[str, int], Callable[..., int]] = {
    ("set", 2): set_value,
    ("get", 1): get_value,
    ("del", 1): delete,
    ("list", 0): list_all,
    ("batch", 0): batch,
    ("session", 0): session,
    ("compact", 0): compact,
}


def main(arguments: Sequence[str]) -> int:
    """Run a command, give the exit code."""
    name, *rest = arguments or [""]
    command = COMMANDS.get((name, len(rest)))
    try:
        if command is None:
            raise WrongError(USAGE)
        with closing(Store(LOG)) as store:
            return command(store, *rest)
    except WrongError as error:
        print(error, file=sys.stderr)
        return WRONG
    except DamagedError as error:
        print(error, file=sys.stderr)
        return DAMAGED


if __name__ == "__main__":
    for stream in (sys.stdin, sys.stdout):
        # Lines end with LF only, whatever the locale says about text.
        stream.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))
