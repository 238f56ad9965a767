"""Proctor examines AI models and coding agents, and says how sure it is."""

from typing import TYPE_CHECKING, Any

from proctor.version import __version__

if TYPE_CHECKING:
    from proctor.domain.errors import ProctorError, UserError
    from proctor.domain.sample import Sample
    from proctor.library import Run, evaluate

__all__ = ["ProctorError", "Run", "Sample", "UserError", "__version__", "evaluate"]


def __getattr__(name: str) -> Any:
    """Load the library when it is first used: the command line starts without it."""
    if name in ("Run", "evaluate"):
        from proctor import library

        return getattr(library, name)
    if name in ("ProctorError", "UserError"):
        from proctor.domain import errors

        return getattr(errors, name)
    if name == "Sample":
        from proctor.domain.sample import Sample

        return Sample
    raise AttributeError(f"module 'proctor' has no attribute {name!r}")
