"""Where untrusted code runs: backends that isolate, limit and supervise it."""
