"""Reading, merging and counting logs."""
