"""What the documents show is executed here, and kept as it really is."""
