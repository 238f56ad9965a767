"""What a plan will cost before it runs, and a budget that survives a crash."""
