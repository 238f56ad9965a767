"""Proctor examines AI models and coding agents, and says how sure it is."""

from proctor.version import __version__

__all__ = ["__version__"]
