"""Tools that read a program without running it: each in its own process, on a clean copy, with our settings."""
