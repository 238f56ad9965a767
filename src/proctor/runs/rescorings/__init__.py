"""Runs that are scored again in the background."""
