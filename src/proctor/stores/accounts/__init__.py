"""Users, members, sessions, keys, one-time links and the audit log, as rows."""
