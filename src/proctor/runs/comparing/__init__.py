"""Runs and models held against one another: which pairs, by which test, in which order; the leaderboard."""
