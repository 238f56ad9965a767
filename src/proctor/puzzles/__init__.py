"""Seeded puzzles that cannot have been memorised: made, solved and checked by rules of their own."""
