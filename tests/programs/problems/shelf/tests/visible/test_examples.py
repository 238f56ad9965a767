def test_keeps_things_in_order(program):
    shelf = program.module.Shelf(3)
    shelf.put("a")
    shelf.put(("b", 2))
    assert len(shelf) == 2
    assert list(shelf) == ["a", ("b", 2)]
    assert shelf[0] == "a"
    assert "a" in shelf
    assert shelf.size == 3
