"""Marks a program: builds, starts, checks, loads, profiles, scans and reads it, in a workspace of its own."""
