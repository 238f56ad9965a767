"""A client of a Proctor server, with the same objects as the library."""
