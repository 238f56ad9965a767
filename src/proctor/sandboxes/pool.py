"""A sandbox made of slots: bounded parallelism, one supervisor per slot, nothing left when it is closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from msgspec.structs import asdict

from proctor.domain.errors import SandboxError
from proctor.domain.measuring import is_measured, measure
from proctor.domain.sandbox import Check, Ending, Program, SandboxLimits, SandboxResult, Verdict
from proctor.domain.tracing import span
from proctor.sandboxes.orders import check_order, execution_of, program_order, verdict_of
from proctor.sandboxes.slot import Slot, cores

USERS = range(60_001, 61_001)
"""Host users that slots lease, two each, where Proctor runs as root."""


class SandboxPool:
    """Runs code in as many slots as there are cores; `config` says how a slot isolates."""

    def __init__(
        self,
        name: str,
        config: Mapping[str, Any],
        *,
        python: str,
        parallel: int | None = None,
        is_isolated: bool = True,
        users: range = USERS,
    ) -> None:
        self.name = name
        self.is_isolated = is_isolated
        self.parallel = parallel or cores()
        self.config = {**config, "uids": (users.start, len(users))}
        self._python = python
        self._idle: list[Slot] = []
        self._gate = asyncio.Semaphore(self.parallel)
        # While the kernel takes a finished run's namespaces down, which is mostly waiting, another slot computes.
        self._slots = asyncio.Semaphore(2 * self.parallel)
        self._described: dict[str, Any] | None = None
        self._is_closed = False

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[Slot]:
        """A slot for one run; one that failed or was interrupted is closed, never used again."""
        async with self._slots:
            if self._is_closed:
                raise SandboxError("The sandbox is closed.")
            slot = self._idle.pop() if self._idle else None
            try:
                slot = slot or await Slot.open(self.config)
                yield slot
            except BaseException:
                if slot is not None:
                    await slot.close()
                raise
            await self._keep(slot)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[Callable[[], None]]:
        """Leave to compute; given back when the block ends, or by the function at the end of what computes in it."""
        await self._gate.acquire()
        is_held = True

        def give_back() -> None:
            nonlocal is_held
            if is_held:
                is_held = False
                self._gate.release()

        try:
            yield give_back
        finally:
            give_back()

    async def _keep(self, slot: Slot) -> None:
        """For the next run, unless the sandbox was closed meanwhile."""
        if self._is_closed:
            await slot.close()
        else:
            self._idle.append(slot)

    async def _ask(self, order: Mapping[str, Any], limits: SandboxLimits) -> dict[str, Any]:
        with span("sandbox", {"proctor.sandbox.backend": self.name}) as tracing:
            answer = await self._ask_slot(order, limits)
            tracing.set({"proctor.sandbox.ending": str(Ending(answer["ending"]))})
            return answer

    async def _ask_slot(self, order: Mapping[str, Any], limits: SandboxLimits) -> dict[str, Any]:
        async with self._slot() as slot, self._turn() as give_back:
            if self._described is None:
                self._described = await slot.ask({"op": "describe"}, timeout_seconds=0)
            return await slot.ask(order, timeout_seconds=limits.wall_seconds, on_ending=give_back)

    def _record(self, limits: SandboxLimits) -> dict[str, Any]:
        return {
            "backend": self.name,
            "is_isolated": self.is_isolated,
            "enforced_by": self._described,
            "limits": asdict(limits),
        }

    async def run(self, program: Program, limits: SandboxLimits = SandboxLimits()) -> SandboxResult:  # noqa: B008  frozen
        answer = await self._ask(program_order(program, limits, self._python), limits)
        self._measure(answer)
        return execution_of(answer, self._record(limits))

    async def check(self, check: Check, limits: SandboxLimits = SandboxLimits()) -> Verdict:  # noqa: B008  frozen
        order = check_order(check, limits)
        answer = await self._ask(order, limits)
        if answer["judge_is_lost"]:
            # Once may be the machine; twice is the submission's answers, and those are its own.
            answer = await self._ask(order, limits)
            if answer["judge_is_lost"]:
                answer["ending"] = Ending.VIOLATION
        self._measure(answer)
        return verdict_of(answer, check, self._record(limits))

    def _measure(self, answer: Mapping[str, Any]) -> None:
        if not is_measured():
            return
        ending = str(Ending(answer["ending"]))
        measure("sandbox_seconds", answer["spent"].get("seconds") or 0.0, backend=self.name, ending=ending)
        if answer["violations"]:
            measure("sandbox_violations", float(sum(answer["violations"].values())), backend=self.name)

    async def close(self) -> None:
        self._is_closed = True
        slots, self._idle = self._idle, []
        for slot in slots:
            await slot.close()
