"""Proctor examines AI models and coding agents, and says how sure it is."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from proctor.version import __version__

if TYPE_CHECKING:
    from proctor.client.client import Client
    from proctor.domain.documents.comparison import Comparison, Comparisons
    from proctor.domain.documents.leaderboard import Leaderboard
    from proctor.domain.documents.rescored import Rescored
    from proctor.domain.errors import ProctorError, UserError
    from proctor.domain.estimate import Estimate
    from proctor.domain.sample import Sample
    from proctor.library.browsing import browse
    from proctor.library.evaluating import evaluate, evaluate_async, prepare
    from proctor.library.report import Report
    from proctor.library.run import Run
    from proctor.library.stored import compare, leaderboard, open_run, report, rescore, sql

_MODULES = {
    "proctor.domain.documents.comparison": ("Comparison", "Comparisons"),
    "proctor.domain.documents.leaderboard": ("Leaderboard",),
    "proctor.domain.documents.rescored": ("Rescored",),
    "proctor.domain.errors": ("ProctorError", "UserError"),
    "proctor.domain.estimate": ("Estimate",),
    "proctor.domain.sample": ("Sample",),
    "proctor.library.report": ("Report",),
    "proctor.client.client": ("Client",),
    "proctor.library.browsing": ("browse",),
    "proctor.library.evaluating": ("evaluate", "evaluate_async", "prepare"),
    "proctor.library.run": ("Run",),
    "proctor.library.stored": ("compare", "leaderboard", "open_run", "report", "rescore", "sql"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Client", "Comparison", "Comparisons", "Estimate", "Leaderboard", "ProctorError", "Report", "Rescored", "Run",
    "Sample", "UserError", "__version__", "browse", "compare", "evaluate", "evaluate_async", "leaderboard", "open_run",
    "prepare", "report", "rescore", "sql",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load the library when it is first used: the command line starts without it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'proctor' has no attribute {name!r}")
    if "IPython" in sys.modules:
        import_module("proctor.library.notebook").set_up()
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """What is for use, also before it is loaded; what it is built of is not offered."""
    return sorted(__all__)
