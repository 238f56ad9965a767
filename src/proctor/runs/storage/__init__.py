"""What is kept on disk: backups, archives of projects, files, caches, and how long each stays."""
