"""Tests of the job desk."""
