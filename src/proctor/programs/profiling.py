"""Where a program's time goes: a profile taken inside its workspace, kept as it came out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from proctor.domain.problem import InterfaceKind
from proctor.domain.workspace import APP, Reach
from proctor.programs.entry import PYTHON
from proctor.programs.inside.sent import command
from proctor.programs.limits import command_limits
from proctor.programs.load import do_work, service_load
from proctor.programs.load_answers import LoadFailedError
from proctor.programs.sending import send
from proctor.programs.subject import PROFILE, PROFILES, Subject

REQUESTS = 60
_TOP_SECONDS = 30.0
_POLLS, _POLL_SECONDS = 100, 0.05


@dataclass(frozen=True, slots=True)
class Profile:
    files: Mapping[str, bytes]
    top: str = ""
    problem: str = ""


async def profile(subject: Subject) -> Profile:
    """Do the problem's work once more, under a profiler; the program is left stopped."""
    kind = subject.problem.interface.kind
    if subject.problem.load is None:
        return Profile({}, problem="the problem has no workload to profile")
    await subject.stop()
    await subject.workspace.write({"about": b"Profiles are written here."}, under=PROFILES)
    if kind is InterfaceKind.COMMAND:
        _, problem, _ = await do_work(subject, subject.profiled())
    else:
        problem = await _profile_listening(subject)
    found = await _collect(subject)
    if not found.files:
        return Profile({}, problem=problem or "the program left no profile: it did not end in order")
    return found


async def _profile_listening(subject: Subject) -> str:
    await subject.start(is_profiled=True)
    problem = await subject.ready()
    if problem or subject.hosted is None or subject.hosted.reach is None:
        return problem
    if subject.problem.interface.kind is InterfaceKind.SERVICE:
        problem = await _ask(subject, subject.hosted.reach)
    else:
        _, problem, _ = await do_work(subject)
        await _written(subject)
    await subject.stop()
    return problem


async def _ask(subject: Subject, reach: Reach) -> str:
    """The profile's requests one after the other; why they could not all be sent, if so."""
    try:
        requests = (await service_load(subject)).requests
        many = [one for one in requests for _ in range(int(one.get("weight", 1)))]
        await send(reach, [many[number % len(many)] for number in range(REQUESTS)])
    except LoadFailedError as error:
        return str(error)
    return ""


async def _written(subject: Subject) -> None:
    """A library's process writes its profile once its connection is closed."""
    for _ in range(_POLLS):
        if PROFILE in await subject.workspace.read([PROFILE]):
            return
        await asyncio.sleep(_POLL_SECONDS)


async def _collect(subject: Subject) -> Profile:
    if subject.entry.language != PYTHON:
        names = [name for name in await subject.workspace.list(PROFILES) if name.endswith(".cpuprofile")]
        found = await subject.workspace.read([f"{PROFILES}/{name}" for name in sorted(names)[:1]])
        return Profile(dict(zip(["profile.cpuprofile"], found.values(), strict=False)))
    found = await subject.workspace.read([PROFILE])
    if PROFILE not in found:
        return Profile({})
    done = await subject.workspace.execute(
        command("profiled:top", PROFILE, APP), limits=command_limits(subject.problem, _TOP_SECONDS)
    )
    top = done.stdout.decode("utf-8", "replace")
    return Profile({"profile.pstats": found[PROFILE], "profile.txt": top.encode()}, top)
