"""Tests of the interval sets."""
