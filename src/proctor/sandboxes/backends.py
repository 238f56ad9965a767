"""The backends by name, and the choice among them."""

from __future__ import annotations

from typing import Any

from proctor import plugins
from proctor.domain.errors import SandboxError, UserError
from proctor.domain.sandbox import Sandbox
from proctor.sandboxes.probe import self_test

UNSAFE = "none"
# Container engines are slow and need an image, and other packages' are strangers: used when named, never picked.
AUTOMATIC = ("namespaces", "bubblewrap", "nsjail", "firejail")


def create(name: str, **options: Any) -> Sandbox:
    """The backend of that name; a SandboxError when this machine does not have it."""
    made: Sandbox = plugins.create("sandboxes", name, **options)
    return made


def isolating() -> list[str]:
    """The names of all backends that promise to isolate, whether or not they are here."""
    return [name for name in plugins.names("sandboxes") if name != UNSAFE]


def refuse_unasked(name: str | None, *, is_unsafe: bool) -> None:
    """Running code without any protection is asked for by a flag of its own, never by a name alone."""
    if name == UNSAFE and not is_unsafe:
        raise UserError("The sandbox 'none' isolates nothing. Add --unsafe-no-sandbox if that is what you want.")


async def choose(name: str | None = None, *, is_unsafe: bool = False, **options: Any) -> Sandbox:
    """A sandbox that has just passed its self-test; refuses when none does, unless no sandbox was asked for."""
    refuse_unasked(name, is_unsafe=is_unsafe)
    if is_unsafe and name in (None, UNSAFE):
        return create(UNSAFE, **options)
    reasons = []
    for candidate in (name,) if name else AUTOMATIC:
        made: Sandbox | None = None
        try:
            made = create(candidate, **options)
            leaks = await self_test(made)
        except SandboxError as error:
            leaks = [str(error)]
        if made is not None and not leaks:
            return made
        if made is not None:
            await made.close()
        reasons.append(f"{candidate}: {'; '.join(leaks)}")
    raise SandboxError(
        "No sandbox holds on this machine, so code written by a model is not run. "
        + " | ".join(reasons)
        + " | Run 'proctor doctor --sandbox', or accept the danger with --unsafe-no-sandbox."
    )
