"""Benchmarks described, drafted from documents, and kept as a project's own."""
