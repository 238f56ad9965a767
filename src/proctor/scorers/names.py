"""Where the name begins that ends with a target: what is said of 'Austen' stands around 'Jane Austen'."""

from __future__ import annotations

import unicodedata

from proctor.scorers.lazy_pattern import lazy_pattern

WINDOW = 60
_FIRST_NAMES = lazy_pattern(
    r"(?:(?<![\w'’-])(?:[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ'’]+(?:-[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]+)?|[A-ZÀ-ÖØ-Þ]\.)"
    r"\s(?:(?:van|da|di)\s)?){1,3}\Z"
)
_WORD = lazy_pattern(r"\S+\s+")
_FUNCTION_WORDS = (
    "a an the it its this that these those he she they we i you there here in on at by of to from for with"
    " without not no nope hardly except apart instead rather never neither nor either both is are was were"
    " be could might maybe perhaps yes well so but and or if when while although though because since"
    " after before unlike like only even also actually probably certainly definitely surely some many most"
    " my our your his her their which what who whose where name named called answer correct right wrong"
    " saint der die das den dem des ein eine einen einem einer es er sie wir ich ist sind war waren in im"
    " am an auf bei von vom zu zum zur mit ohne für nicht kein keine nie niemals keineswegs keinesfalls"
    " statt anstatt außer weder noch entweder oder und aber doch ja nein also wenn weil da während obwohl"
    " nach vor seit nur auch sogar vielleicht wohl sicher manche viele einige mein unser sein ihr statt"
    " antwort laut le la les un une des du de il elle ils elles ce cet cette ces c'est est sont était dans"
    " en au aux à par pour avec sans sur selon chez ne pas jamais aucunement nullement soit ni non oui"
    " mais ou et si quand comme lorsque après avant depuis seul seule peut-être certains beaucoup mon"
    " notre son leur réponse el la los las un una unos unas lo es son era fue en de del al a por para con"
    " sin sobre según no ni sí si pero o y u e cuando como aunque mientras después antes desde solo sólo"
    " nunca jamás tampoco nada excepto salvo también quizá quizás tal muchos algunos mi nuestro su"
    " respuesta"
)
_NO_NAME = frozenset(unicodedata.normalize("NFC", word) for word in _FUNCTION_WORDS.split())
"""Words that open a sentence with a capital and are no part of a name."""


def is_function_word(word: str) -> bool:
    return word.casefold() in _NO_NAME


def start_of_name(text: str, start: int) -> int:
    """Where up to three words with capitals begin directly before this place; the place itself where none do."""
    found = _FIRST_NAMES.search(text, max(0, start - WINDOW), start)
    if found is None:
        return start
    begin = found.start()
    for word in _WORD.findall(found[0]):
        if word.strip().strip("'’").casefold() in _NO_NAME:
            begin += len(word)
        else:
            break
    return begin
