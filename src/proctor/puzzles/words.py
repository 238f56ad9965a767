"""The words and names puzzles are made of: short, lower case, all different, no two that sort differently by locale."""

from __future__ import annotations

_TEXT = """amber anchor apple arrow autumn badger basket beacon bridge bucket butter candle canyon carbon castle cedar
    cherry circle clover cobalt copper cotton cradle crystal desert dragon eagle ember engine fabric falcon feather
    fiddle forest fountain garden ginger glacier granite hammer harbor harvest hazel helmet honey island ivory jacket
    jasmine jungle kettle kitten ladder lantern lemon linen lizard magnet maple marble meadow mirror monkey mountain
    needle nickel oasis ocean olive onion orange orchid oyster paddle palace panther pebble pencil pepper pigeon
    planet pocket pollen prairie puzzle quarry quartz rabbit raven ribbon river robin rocket saddle salmon sapphire
    saturn shadow shelter silver spider spiral sponge summer sunset tablet temple thunder ticket timber tulip tunnel
    turtle umbrella valley velvet violet walnut whistle willow window winter yellow zebra zigzag"""
WORDS = tuple(_TEXT.split())
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivo", "Jun", "Kim", "Leo", "Mia", "Noor", "Omar")
