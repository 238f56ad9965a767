"""A shelf that holds only so much."""

from decimal import Decimal

print("a library may print while it is imported")


class FullError(ValueError):
    """No room is left."""

    def __init__(self, size):
        super().__init__(f"the shelf holds {size}")
        self.size = size


class Shelf:
    """Things in the order they were put."""

    def __init__(self, size):
        self.size = size
        self._things = []

    def put(self, thing):
        """Keep a thing, or raise FullError."""
        if len(self._things) >= self.size:
            raise FullError(self.size)
        self._things.append(thing)

    def each(self, call):
        """Call a function with every thing."""
        for thing in self._things:
            call(thing)

    def __len__(self):
        return len(self._things)

    def __iter__(self):
        return iter(self._things)

    def __getitem__(self, index):
        return self._things[index]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._things.clear()


def total(numbers):
    """The exact sum."""
    return sum(map(Decimal, numbers), Decimal(0))
