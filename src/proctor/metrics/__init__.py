"""Scores in, estimates out: intervals, paired tests, repeats, power, sequences. Pure Python."""
