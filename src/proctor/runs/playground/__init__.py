"""One prompt put to several models side by side."""
