"""Benchmark files, data sets and generated families become Benchmark values."""
