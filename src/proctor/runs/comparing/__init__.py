"""Evaluations held against one another: which pairs, by which test, in which order."""
