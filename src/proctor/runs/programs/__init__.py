"""Programs that are built and marked: problems proven, answers repaired, a runner for all of them."""
