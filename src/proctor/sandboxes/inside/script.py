"""Runs Python source as `python main.py` would, in a process that is already warm."""

from __future__ import annotations

import atexit
import contextlib
import linecache
import sys
import traceback
import types

_NAME = "main.py"


def run(source: str, arguments: list[str]) -> int:
    """The exit code; the interpreter's own end is left out, its exit functions and threads are not."""
    sys.argv = [_NAME, *arguments]
    sys.path.insert(0, ".")
    for number, mode in ((0, "r"), (1, "w"), (2, "w")):
        stream = open(  # noqa: SIM115  lives as long as the process
            number, mode, encoding="utf-8", errors="strict" if number < 2 else "backslashreplace", closefd=False
        )
        name = ("stdin", "stdout", "stderr")[number]
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    main = types.ModuleType("__main__")
    vars(main)["__file__"] = _NAME
    sys.modules["__main__"] = main
    linecache.cache[_NAME] = (len(source), None, source.splitlines(keepends=True), _NAME)
    code = _execute(source, main)
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()  # noqa: SLF001  what the interpreter itself does at its end
        atexit._run_exitfuncs()  # noqa: SLF001
        sys.stdout.flush()
    except BrokenPipeError:
        code = code or 120
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    return code


def _execute(source: str, main: types.ModuleType) -> int:
    try:
        exec(compile(source, _NAME, "exec", dont_inherit=True), vars(main))  # noqa: S102  the point of it all
    except SystemExit as error:
        return _exit_code(error)
    except BaseException as error:  # noqa: BLE001  printed as the interpreter would
        trace = error.__traceback__.tb_next if error.__traceback__ else None
        traceback.print_exception(type(error), error, trace)
        return 1
    return 0


def _exit_code(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    print(error.code, file=sys.stderr)  # noqa: T201  as the interpreter does
    return 1
