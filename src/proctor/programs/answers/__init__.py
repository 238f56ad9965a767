"""The files of a program, read out of what a model wrote."""
