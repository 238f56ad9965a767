"""Workspaces for whole programs: files, processes and a network of their own, kept by one process inside."""
