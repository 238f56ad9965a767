"""Lines are taken from whoever logs, also from a signal handler that interrupts him while he logs."""

from __future__ import annotations

import subprocess
import sys

LOGGED_BY_SIGNALS = """
import signal, sys
from proctor.telemetry.log_writer import LineWriter

writer, signals = LineWriter(), []

def handle(*_):
    signals.append(1)
    writer.put(f"signal {len(signals)}")

signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
number = 0
while len(signals) < 1_000:
    writer.put(f"line {number}")
    number += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print(number + len(signals) - writer.dropped)
writer.close()
"""


def test_a_signal_handler_that_logs_while_its_thread_logs_ends() -> None:
    """It waited for a lock that its own thread held: workers that were told twice to end stood still for ever."""
    done = subprocess.run(
        [sys.executable, "-c", LOGGED_BY_SIGNALS], capture_output=True, text=True, timeout=100, check=True
    )
    kept = done.stderr.splitlines()
    assert len(kept) <= int(done.stdout)
    assert {line.split()[0] for line in kept} == {"line", "signal"}
