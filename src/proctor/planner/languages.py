"""Languages by name, and those of a part of the world."""

from __future__ import annotations

from collections.abc import Mapping

NAMES_OF_LANGUAGES = {
    "en": "English", "de": "German", "ko": "Korean", "ja": "Japanese", "zh": "Chinese", "es": "Spanish",
    "fr": "French", "it": "Italian", "pt": "Portuguese", "ru": "Russian", "ar": "Arabic", "hi": "Hindi",
    "nl": "Dutch", "pl": "Polish", "tr": "Turkish", "sv": "Swedish", "bn": "Bengali", "sw": "Swahili",
    "te": "Telugu", "th": "Thai", "vi": "Vietnamese", "uk": "Ukrainian",
    "el": "Greek", "he": "Hebrew", "id": "Indonesian", "cs": "Czech", "da": "Danish", "fi": "Finnish",
    "hu": "Hungarian", "fa": "Persian",
    "la": "Latin", "eo": "Esperanto", "is": "Icelandic", "no": "Norwegian", "ro": "Romanian",
    "bg": "Bulgarian", "hr": "Croatian", "sr": "Serbian", "ca": "Catalan", "eu": "Basque", "cy": "Welsh",
    "ga": "Irish", "tl": "Filipino", "ms": "Malay", "ur": "Urdu", "ta": "Tamil", "pa": "Punjabi",
    "gu": "Gujarati", "mr": "Marathi", "mn": "Mongolian", "ka": "Georgian", "hy": "Armenian", "ha": "Hausa",
    "yo": "Yoruba", "zu": "Zulu", "am": "Amharic", "km": "Khmer", "lo": "Lao", "my": "Burmese",
    "ne": "Nepali", "si": "Sinhala", "kk": "Kazakh", "uz": "Uzbek", "af": "Afrikaans", "sk": "Slovak",
    "sl": "Slovenian", "et": "Estonian", "lv": "Latvian", "lt": "Lithuanian", "lb": "Luxembourgish",
    "ml": "Malayalam", "kn": "Kannada", "az": "Azerbaijani", "sq": "Albanian", "mk": "Macedonian",
    "gl": "Galician", "so": "Somali", "be": "Belarusian", "tlh": "Klingon", "yue": "Cantonese",
    "sa": "Sanskrit", "qu": "Quechua", "yi": "Yiddish", "mt": "Maltese",
}  # fmt: skip

_WORDS = {
    "asia": "ar az bn fa gu he hi hy id ja ka kk km kn ko lo ml mn mr ms my ne pa si ta te th tl ur uz vi yue zh",
    "europe": "be bg ca cs cy da de el en es et eu fi fr ga gl hr hu is it lb lt lv mk mt nl no pl pt ro ru sk sl "
    "sq sr sv uk",
    "africa": "af am ar ha so sw yo zu",
    "romance": "ca es fr gl it la pt ro",
    "germanic": "af da de en is lb nl no sv yi",
    "slavic": "be bg cs hr mk pl ru sk sl sr uk",
    "eastasia": "ja ko mn yue zh",
    "southeastasia": "id km lo ms my th tl vi",
    "india": "bn gu hi kn ml mr pa ta te ur",
}
LANGUAGES_OF: Mapping[str, frozenset[str]] = {name: frozenset(codes.split()) for name, codes in _WORDS.items()}
"""Languages that a part of the world is asked for by: `any Asian language you have`."""
