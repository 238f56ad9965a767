"""Accounts, sessions and a lock against guessing."""
