"""The nouns of Proctor and the protocols between its parts; imports no other folder."""
