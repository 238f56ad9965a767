from decimal import Decimal


def test_refuses_more_than_it_holds(program):
    with program.module.Shelf(0) as shelf, program.raises("ValueError", match="0") as caught:
        shelf.put(1)
    assert caught.value.size == 0
    with program.raises("FullError"):
        program.module.Shelf(0).put(2)


def test_adds_exactly(program):
    assert program.module.total(["0.1", "0.2"]) == Decimal("0.3")


def test_calls_for_each(program):
    seen = []
    shelf = program.module.Shelf(2)
    shelf.put({"x": 1})
    shelf.put(b"y")
    shelf.each(seen.append)
    assert seen == [{"x": 1}, b"y"]
