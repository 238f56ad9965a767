"""Stop rules: ask until the answer is known, with intervals that hold at every look."""
