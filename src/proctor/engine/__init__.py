"""Trials in, stream of recorded results out. Knows protocols, no implementation."""
