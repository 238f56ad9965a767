"""Tests of the rate gate."""
