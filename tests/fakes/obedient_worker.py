"""A worker that does as it is told."""

from __future__ import annotations

import os
import time

from proctor.worker_loop import answer_questions


def main() -> None:
    answer_questions(_answer, get_ready=lambda: None)


def _answer(question: bytes) -> bytes:
    word = question.split()[0] if question[:4] != b"echo" else b"echo"
    match word:
        case b"echo":
            return question[4:]
        case b"pid":
            return b"%d" % os.getpid()
        case b"print":
            print("not an answer", flush=True)
            return b"printed"
        case b"environment":
            return " ".join(sorted(os.environ)).encode()
        case b"work":
            until = time.process_time() + float(question.split()[1])
            while time.process_time() < until:
                pass
            return b"worked"
        case b"wait":
            time.sleep(600)
        case b"die":
            os.abort()
    while True:
        pass
