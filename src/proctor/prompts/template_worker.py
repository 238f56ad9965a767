"""Runs in its own process: fills in templates with little memory, and answers each request with one frame."""

from __future__ import annotations

import json
import os
import pickle
import resource
import signal
import struct
import sys
from contextlib import suppress
from functools import lru_cache
from typing import Any, BinaryIO

from proctor.domain.errors import TemplateLimitError
from proctor.prompts.jinja import Flavour, environment_of, join_pieces

MEMORY_BYTES = 512 * 1024**2


def write_frame(stream: BinaryIO, data: bytes) -> None:
    stream.write(struct.pack(">Q", len(data)) + data)
    stream.flush()


def main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    environment_of("benchmark")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with its parent, whose business an interrupt is
    with suppress(ValueError, OSError):  # macOS has no such limit; there, time alone is limited
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    cpu_seconds = float(sys.argv[1])
    write_frame(answers, b"{}")
    while len(head := sys.stdin.buffer.read(8)) == 8:
        (size,) = struct.unpack(">Q", head)
        request = sys.stdin.buffer.read(size)
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)  # its signal ends this process, whatever it is doing
        flavour, source, variables = pickle.loads(request)  # noqa: S301 - of our own process
        reply = json.dumps(_fill_in(flavour, source, variables)).encode()
        signal.setitimer(signal.ITIMER_PROF, 0)
        write_frame(answers, reply)


def _fill_in(flavour: Flavour, source: str, variables: dict[str, Any]) -> dict[str, str]:
    from jinja2 import TemplateError

    try:
        return {"text": join_pieces(_compile(flavour, source).generate(variables))}
    except TemplateLimitError as fault:
        return {"limit": str(fault)}
    except TemplateError as fault:
        return {"fault": str(fault)}
    except MemoryError:
        return {"limit": f"it takes more than {MEMORY_BYTES // 2**20} MB of memory"}
    except Exception as fault:  # noqa: BLE001 - whatever a template comes upon is told where it is used
        return {"fault": f"{type(fault).__name__}: {fault}"[:1000]}


@lru_cache(maxsize=64)
def _compile(flavour: Flavour, source: str) -> Any:
    return environment_of(flavour).from_string(source)


if __name__ == "__main__":
    main()
