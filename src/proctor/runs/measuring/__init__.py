"""The numbers of a run, computed from what is stored."""
