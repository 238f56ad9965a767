"""Finished evaluations packed for reading: columns of a million results, and the words of their texts."""
