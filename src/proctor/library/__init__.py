"""Proctor from Python: the use cases of the command line as functions, with the same numbers."""
