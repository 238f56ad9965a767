"""Tests of the crash store."""
