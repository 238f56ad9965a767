"""Results in, what people read out."""
