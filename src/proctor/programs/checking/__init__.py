"""The checker: a process outside the place that runs a problem's tests and reaches the program by asking."""
