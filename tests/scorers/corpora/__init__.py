"""Responses written for these tests, each labelled with what a careful reader takes for its answer."""
