"""What commands print with `--json`, a struct each: the fields are the keys, in their order."""
