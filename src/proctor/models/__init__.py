"""Adapters: everything that answers prompts, behind one protocol."""
