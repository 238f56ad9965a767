"""Tests of the time sheet."""
