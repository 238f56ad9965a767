"""Scorers that ask a model: rubric, reference and pairwise judges, alone or as a panel."""
