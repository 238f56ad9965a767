"""Tests of the Nest formatter."""
