"""The backends by name, and the choice among them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from proctor.domain.errors import NotFoundError, SandboxError, UserError, did_you_mean
from proctor.sandboxes.pool import Pool
from proctor.sandboxes.probe import self_test

UNSAFE = "none"
BACKENDS = {
    "namespaces": "proctor.sandboxes.namespaces:create",
    "bubblewrap": "proctor.sandboxes.bubblewrap:create",
    "nsjail": "proctor.sandboxes.nsjail:create",
    "firejail": "proctor.sandboxes.firejail:create",
    "docker": "proctor.sandboxes.containers:create_docker",
    "podman": "proctor.sandboxes.containers:create_podman",
    UNSAFE: "proctor.sandboxes.none:create",
}
# Container engines are slow and need an image: used when asked for by name, never picked.
AUTOMATIC = ("namespaces", "bubblewrap", "nsjail", "firejail")


def create(name: str, **options: Any) -> Pool:
    """The backend of that name; a SandboxError when this machine does not have it."""
    target = BACKENDS.get(name)
    if target is None:
        raise NotFoundError(f"No sandbox {name!r}.{did_you_mean(name, BACKENDS)} There are: {', '.join(BACKENDS)}.")
    module, _, function = target.partition(":")
    made: Pool = getattr(import_module(module), function)(**options)
    return made


def refuse_unasked(name: str | None, *, is_unsafe: bool) -> None:
    """Running code without any protection is asked for by a flag of its own, never by a name alone."""
    if name == UNSAFE and not is_unsafe:
        raise UserError("The sandbox 'none' isolates nothing. Add --unsafe-no-sandbox if that is what you want.")


async def choose(name: str | None = None, *, is_unsafe: bool = False, **options: Any) -> Pool:
    """A sandbox that has just passed its self-test; refuses when none does, unless no sandbox was asked for."""
    refuse_unasked(name, is_unsafe=is_unsafe)
    if is_unsafe and name in (None, UNSAFE):
        return create(UNSAFE, **options)
    reasons = []
    for candidate in (name,) if name else AUTOMATIC:
        made: Pool | None = None
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
