"""Copies of the database and of artifacts, in a folder or in S3."""
