"""The nouns of Proctor and the protocols between its parts; imports nothing of ours but the plugin table."""
