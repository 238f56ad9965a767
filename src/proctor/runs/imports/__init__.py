"""Logs of other tools become runs: labelled as imported, with the scores that these tools gave."""
