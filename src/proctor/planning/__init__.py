"""Plan in, trials out. Knows protocols, no implementation."""
