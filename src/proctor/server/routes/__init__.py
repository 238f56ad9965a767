"""One module per resource; what a route does is done by the use cases of `runs`."""
