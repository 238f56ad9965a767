"""Who may use a server, and how they prove who they are: users, sessions, keys, projects, the audit log."""
