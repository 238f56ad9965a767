"""Every hosted provider: its adapter, and the server that speaks its dialect."""

from __future__ import annotations

from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any

from fakes.anthropic_dialect import AnthropicMessages
from fakes.dialect import Dialect
from fakes.google_dialect import GoogleGenerate
from fakes.loopback import HERE
from fakes.openai_dialect import OpenAIChat
from fakes.openrouter_dialect import OpenRouterChat
from fakes.provider import FakeProvider
from fakes.responses_dialect import OpenAIResponses
from models.asking import KEY, make
from proctor.domain.model import Model


@dataclass(frozen=True)
class Hosted:
    """`path` is what a base_url adds to the server's address."""

    name: str
    provider: str
    dialect: Dialect
    key_variable: str | None
    path: str = "/v1"
    settings: dict[str, Any] = field(default_factory=dict)
    has_logprobs: bool = True
    takes_documents: bool = True

    def server(self, context: SSLContext | None = None, name: str = HERE) -> FakeProvider:
        key = KEY if self.key_variable else None
        return FakeProvider(key=key, dialects=(self.dialect,), context=context, name=name)

    def model(self, server: FakeProvider, *, key: str = KEY, **settings: Any) -> Model:
        given = {"model": f"{self.provider}/m-x", "base_url": server.url + self.path, **self.settings, **settings}
        return make(given, {self.key_variable: key} if self.key_variable else {})


HOSTED = [
    Hosted("openai", "openai", OpenAIChat(), "OPENAI_API_KEY", takes_documents=False),
    Hosted("openai-responses", "openai", OpenAIResponses(), "OPENAI_API_KEY", settings={"api": "responses"}),
    Hosted("anthropic", "anthropic", AnthropicMessages(), "ANTHROPIC_API_KEY", "", has_logprobs=False),
    Hosted("google", "google", GoogleGenerate(), "GEMINI_API_KEY", "/v1beta"),
    Hosted("openrouter", "openrouter", OpenRouterChat(), "OPENROUTER_API_KEY", "/api/v1"),
    Hosted("huggingface", "huggingface", OpenAIChat(), "HF_TOKEN", takes_documents=False),
    Hosted("ollama", "ollama", OpenAIChat(), None, takes_documents=False),
    Hosted("vllm", "vllm", OpenAIChat(), "VLLM_API_KEY", takes_documents=False),
]
