"""The use cases: submit a plan, execute it, resume it, cancel it, read it."""
