"""Runs that workers carry out: accepted, prepared, cut into chunks, executed by many processes, ended once."""
