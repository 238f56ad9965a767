"""Tests of the link shelf."""
