"""The checker: a process outside the workspace that runs a problem's tests and reaches the program by asking."""
