"""Judges behind limits, retries and a cache, for scorers that ask models."""
