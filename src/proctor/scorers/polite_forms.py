"""Japanese and Korean verbs of an option (減る, 오른다) as a polite answer has them (減ります, 오릅니다)."""

from __future__ import annotations

_ENDINGS = dict(zip("うくぐすつぬぶむる", "いきぎしちにびみり", strict=True))
_NEGATED = dict(zip("わかがさたなばまら", "いきぎしちにびみり", strict=True))
_FIRST_SYLLABLE, _FINALS = 0xAC00, 28
_NIEUN, _BIEUP = 4, 17
"""Places of the final consonants ㄴ and ㅂ in a Hangul syllable."""


def polite_forms(text: str) -> set[str]:
    """The forms the text's last word may take; a few that no verb has are harmless."""
    if text.endswith("다"):
        return _korean(text.removesuffix("다"))
    if text.endswith("ない"):
        stem = text.removesuffix("ない")
        return {f"{stem}ません", f"{stem[:-1]}{_NEGATED.get(stem[-1:], '')}ません"}
    if text[-1:] in _ENDINGS:
        return {f"{text[:-1]}ます", f"{text[:-1]}{_ENDINGS[text[-1]]}ます"}
    return set()


def _korean(stem: str) -> set[str]:
    if stem.endswith("는"):  # 먹는다
        return {f"{stem[:-1]}습니다"}
    code = ord(stem[-1:] or " ") - _FIRST_SYLLABLE
    if not 0 <= code < 11_172:
        return set()
    final = code % _FINALS
    if final in (0, _NIEUN):  # 크다, 오른다
        return {f"{stem[:-1]}{chr(_FIRST_SYLLABLE + code - final + _BIEUP)}니다"}
    return {f"{stem}습니다"}  # 있다, 높다
