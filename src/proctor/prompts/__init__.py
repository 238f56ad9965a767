"""Samples become prompts: templates and choice layouts."""
