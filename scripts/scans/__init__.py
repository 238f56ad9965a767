"""What `make scan` looks for: each scan gives what it found, or says why nothing was measured."""
