"""Scorers: sample and response in, score out; each is a plugin, made by `registry.create_scorers`."""
