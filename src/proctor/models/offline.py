"""Programs that are kept off every network while a run is offline."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

from proctor.domain.errors import PlanError

TRIAL_SECONDS = 10


@cache
def without_network() -> tuple[str, ...]:
    """What is put before a command so that it starts with no network at all; empty where that cannot be had."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return ()
    wrapper = (unshare, "--net", "--map-current-user", "--")
    return wrapper if is_working(wrapper) else ()


def is_working(wrapper: tuple[str, ...]) -> bool:
    """Whether a command can be started with this before it: tried, because being installed is not enough."""
    try:
        done = subprocess.run([*wrapper, "true"], capture_output=True, timeout=TRIAL_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def refuse_unless_cut_off(model: str) -> None:
    """A program of its own may connect anywhere: offline, it runs without a network or not at all."""
    if not without_network():
        raise PlanError(
            f"{model} is a program of its own, and this machine has no means to keep it off the network "
            "('unshare --net' does not work here); run it without --offline."
        )
