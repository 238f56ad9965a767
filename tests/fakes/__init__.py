"""Real but small stand-ins for the outside world."""
