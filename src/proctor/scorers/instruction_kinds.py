"""The 25 kinds of instruction that can be checked without a judge, each a function of the text and its arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import orjson

from proctor.scorers.languages import language_of
from proctor.scorers.sentences import count_capital_words, count_sentences

Check = Callable[..., bool]
CONSTRAINED = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


def _holds(count: int, relation: str, number: int) -> bool:
    """The two relations there are: 'at least' and 'less than'."""
    return count < number if relation == "less than" else count >= number


def _keyword(word: str, *, whole: bool = False) -> re.Pattern[str]:
    edge = r"\b" if whole else ""
    return re.compile(f"{edge}{re.escape(word)}{edge}", re.IGNORECASE)


def existence(text: str, keywords: Sequence[str]) -> bool:
    return all(_keyword(word).search(text) for word in keywords)


def frequency(text: str, keyword: str, frequency: int, relation: str) -> bool:
    return _holds(len(_keyword(keyword.strip()).findall(text)), relation, frequency)


def forbidden_words(text: str, forbidden_words: Sequence[str]) -> bool:
    return not any(_keyword(word, whole=True).search(text) for word in forbidden_words)


def letter_frequency(text: str, letter: str, let_frequency: int, let_relation: str) -> bool:
    return _holds(text.lower().count(letter.strip().lower()), let_relation, let_frequency)


def response_language(text: str, language: str, *, detector: str = "own") -> bool:
    said = language_of(text, detector)
    return said is None or said == language


def number_sentences(text: str, num_sentences: int, relation: str) -> bool:
    return _holds(count_sentences(text), relation, num_sentences)


def number_paragraphs(text: str, num_paragraphs: int) -> bool:
    """Paragraphs are divided by ***; none but the first and the last piece may be empty."""
    pieces = re.split(r"\s?\*\*\*\s?", text)
    return _filled(pieces) == num_paragraphs


def _filled(pieces: Sequence[str]) -> int | None:
    """How many pieces say something, or None when one in the middle is empty."""
    if any(not piece.strip() for piece in pieces[1:-1]):
        return None
    return sum(1 for piece in pieces if piece.strip())


def number_words(text: str, num_words: int, relation: str) -> bool:
    return _holds(len(re.findall(r"\w+", text)), relation, num_words)


def nth_paragraph_first_word(text: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    pieces = text.split("\n\n")
    filled = sum(1 for piece in pieces if piece.strip())
    if nth_paragraph > filled or nth_paragraph > len(pieces):
        return False
    words = pieces[nth_paragraph - 1].split()
    if not words:
        return False
    word = re.match(r"[^.,?!'\"]*", words[0].lstrip("'").lstrip('"'))
    return filled == num_paragraphs and word is not None and word[0].lower() == first_word.lower()


def number_placeholders(text: str, num_placeholders: int) -> bool:
    return sum(map(_placeholders, text.split("\n"))) >= num_placeholders


def _placeholders(line: str) -> int:
    """Pairs of square brackets, counted from the left in one pass."""
    count, position = 0, 0
    while (start := line.find("[", position)) >= 0 and (end := line.find("]", start)) >= 0:
        count, position = count + 1, end + 1
    return count


def postscript(text: str, postscript_marker: str) -> bool:
    marker = postscript_marker.strip()
    if marker == "P.P.S":
        pattern = r"p\.\s?p\.\s?s"
    elif marker == "P.S.":
        pattern = r"p\.\s?s\."
    else:
        pattern = re.escape(marker.lower())
    return re.search(pattern, text.lower()) is not None


def number_bullet_lists(text: str, num_bullets: int) -> bool:
    """Lines that begin with one asterisk or with a hyphen."""
    lines = [line.lstrip() for line in text.split("\n")]
    starred = sum(1 for line in lines if re.match(r"\*[^*]", line))
    return starred + sum(1 for line in lines if line.startswith("-")) == num_bullets


def constrained_response(text: str) -> bool:
    return any(allowed in text for allowed in CONSTRAINED)


def number_highlighted_sections(text: str, num_highlights: int) -> bool:
    single = sum(1 for part in re.findall(r"\*[^\n*]*\*", text) if part.strip("*").strip())
    double = sum(1 for part in re.findall(r"\*\*[^\n*]*\*\*", text) if part[2:-2].strip())
    return single + double >= num_highlights


def multiple_sections(text: str, section_spliter: str, num_sections: int) -> bool:
    return len(re.findall(rf"{re.escape(section_spliter.strip())}\s?\d+", text)) >= num_sections


def json_format(text: str) -> bool:
    text = text.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        text = text.removeprefix(fence)
    try:
        orjson.loads(text.removesuffix("```").strip())
    except orjson.JSONDecodeError:
        return False
    return True


def title(text: str) -> bool:
    """Words between << and >> on one line."""
    for line in text.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if start >= 0 and end - start > 2 and line[start:end].lstrip("<").rstrip(">").strip():
            return True
    return False


def two_responses(text: str) -> bool:
    pieces = text.split("******")
    if _filled(pieces) != 2:
        return False
    first, second = (piece.strip() for piece in pieces if piece.strip())
    return first != second


def repeat_prompt(text: str, prompt_to_repeat: str) -> bool:
    return text.strip().lower().startswith(prompt_to_repeat.strip().lower())


def end_checker(text: str, end_phrase: str) -> bool:
    return text.strip().strip('"').lower().endswith(end_phrase.strip().lower())


def capital_word_frequency(text: str, capital_frequency: int, capital_relation: str) -> bool:
    return _holds(count_capital_words(text), capital_relation, capital_frequency)


def english_capital(text: str, *, detector: str = "own") -> bool:
    return text.isupper() and language_of(text, detector) in ("en", None)


def english_lowercase(text: str, *, detector: str = "own") -> bool:
    return text.islower() and language_of(text, detector) in ("en", None)


def no_comma(text: str) -> bool:
    return "," not in text


def quotation(text: str) -> bool:
    text = text.strip()
    return len(text) > 1 and text[0] == '"' and text[-1] == '"'


ASK_LANGUAGE = frozenset({"language:response_language", "change_case:english_capital", "change_case:english_lowercase"})
KINDS: dict[str, Check] = {
    "keywords:existence": existence,
    "keywords:frequency": frequency,
    "keywords:forbidden_words": forbidden_words,
    "keywords:letter_frequency": letter_frequency,
    "language:response_language": response_language,
    "length_constraints:number_sentences": number_sentences,
    "length_constraints:number_paragraphs": number_paragraphs,
    "length_constraints:number_words": number_words,
    "length_constraints:nth_paragraph_first_word": nth_paragraph_first_word,
    "detectable_content:number_placeholders": number_placeholders,
    "detectable_content:postscript": postscript,
    "detectable_format:number_bullet_lists": number_bullet_lists,
    "detectable_format:constrained_response": constrained_response,
    "detectable_format:number_highlighted_sections": number_highlighted_sections,
    "detectable_format:multiple_sections": multiple_sections,
    "detectable_format:json_format": json_format,
    "detectable_format:title": title,
    "combination:two_responses": two_responses,
    "combination:repeat_prompt": repeat_prompt,
    "startend:end_checker": end_checker,
    "change_case:capital_word_frequency": capital_word_frequency,
    "change_case:english_capital": english_capital,
    "change_case:english_lowercase": english_lowercase,
    "punctuation:no_comma": no_comma,
    "startend:quotation": quotation,
}
