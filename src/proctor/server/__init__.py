"""The service: REST, events and the dashboard over the use cases of `runs`."""
