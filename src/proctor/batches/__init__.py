"""Trials sent through a provider's batch API: submitted, awaited, collected."""
