"""Workers: what executes the chunks of runs on any number of machines, and what these share."""
