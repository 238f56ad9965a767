"""One module for each kind of thing that a query can say."""
