"""Any JSON endpoint as a model: `http/?url=http://127.0.0.1:9000/ask`."""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from proctor.domain.errors import BenchmarkError, PlanError, ProviderFaultError, RequestRejectedError, UserError
from proctor.domain.message import DocumentPart, Image, Json, Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.price import reported
from proctor.domain.response import Response
from proctor.models.destinations import is_loopback
from proctor.models.extraction import Extraction, compile_extraction
from proctor.models.faults import Target, parse_or_none
from proctor.models.http1 import AnswerParser
from proctor.models.key_hosts import host_of, is_named, refuse_key
from proctor.models.parts import Accepts, prepare
from proctor.models.provider import Capabilities, Provider
from proctor.models.settings import clean_url, read_settings, version_of
from proctor.models.transport import Transport
from proctor.prompts.jinja import environment_of
from proctor.prompts.template import Template

ADAPTER_VERSION = "1"
USUAL_BODY = '{"prompt": {{ prompt | tojson }}, "messages": {{ messages | tojson }}, "options": {{ options | tojson }}}'
VARIABLE = re.compile(r"\$\{(\w+)\}")
SECRET_HEADERS = ("authorization", "key", "token", "secret", "cookie", "password")


class HttpAgentSettings(Struct, frozen=True):
    url: str = ""
    method: Literal["POST", "PUT", "GET"] = "POST"
    headers: dict[str, Any] | None = None
    body: str | None = None
    answer: str | None = None
    error: str | None = None
    usage: dict[str, Any] | None = None
    cache: bool = False
    """Take answers to the same request from the cache: whether the agent has changed cannot be seen."""


PROVIDER = Provider(
    "http",
    "Any JSON endpoint: http/?url=http://127.0.0.1:9000/ask",
    capabilities=Capabilities(images=True, documents=True),
    settings=HttpAgentSettings.__struct_fields__,
)


class HttpAgent:
    """Renders a body, sends it, and finds the answer in what comes back."""

    def __init__(
        self,
        identity: ModelIdentity,
        transport: Transport,
        settings: HttpAgentSettings,
        headers: dict[str, str],
        found: Extraction,
    ) -> None:
        self.identity = identity
        self.is_cached = settings.cache
        self._transport = transport
        self._method = settings.method
        self._headers = headers
        self._found = found
        self._host = host_of(settings.url)
        body = settings.body or USUAL_BODY
        named = {name: name in body for name in ("images", "documents", "tools", "schema")}
        self._accepts = Accepts(**named)
        self._url = _template(settings.url, "url")
        self._body = None if settings.method == "GET" else _template(body, "body")
        self._is_quick = self._url.is_quick and (self._body is None or self._body.is_quick)
        sent = settings.url if self._body is None else settings.url + body
        self._is_told_limit = _names_limit(environment_of("request").parse(sent))

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:
        prompt = await prepare(prompt, self._accepts, self._transport.target.model)
        if self._is_quick:
            url, body = self._rendered(prompt, options)
        else:
            url, body = await asyncio.to_thread(self._rendered, prompt, options)
        reply = await self._transport.send(self._method, url, self._headers, body, timeout_seconds)
        return self._read(reply)

    @property
    def unbounded(self) -> str | None:
        if self._is_told_limit:
            return None
        return "is not told max_tokens: put {{ options.max_tokens }} into its 'body'"

    async def close(self) -> None:
        await self._transport.close()

    def _rendered(self, prompt: Prompt, options: Mapping[str, Json]) -> tuple[str, bytes | None]:
        values = _values(prompt, options)
        try:
            url = self._url.render(values)
            if self._transport.target.secrets and host_of(url) != self._host:
                raise RequestRejectedError(f"{self._transport.target.model}: keys go to {self._host} only")
            return url, None if self._body is None else self._body.render(values).encode()
        except BenchmarkError as error:
            raise RequestRejectedError(f"{self._transport.target.model}: {error}") from None

    def _read(self, reply: AnswerParser) -> Response:
        model = self._transport.target.model
        raw = reply.body
        document = parse_or_none(raw)
        is_plain = (reply.headers.get("content-type") or "").lower().startswith("text/plain")
        # A number is JSON as well, and the answer that some questions ask for.
        if document is None or (is_plain and isinstance(document, (int, float))):
            if not is_plain:
                raise ProviderFaultError(f"{model} sent an answer that is neither JSON nor plain text")
            return Response(raw.decode("utf-8", "replace"), latency_seconds=reply.seconds)
        if (error := self._found.read_error(document)) is not None:
            raise RequestRejectedError(f"{model} reported an error: {self._transport.target.clean(error)}")
        if isinstance(document, str):
            return Response(document, latency_seconds=reply.seconds)
        usage, cost = self._found.read_usage(document)
        text = self._found.read_answer(document, model)
        request_id = reply.headers.get("x-request-id")
        return Response(
            text,
            usage=usage,
            cost_usd=cost,
            cost_basis=reported(cost),
            latency_seconds=reply.seconds,
            request_id=request_id,
        )


def create(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> HttpAgent:  # noqa: ARG001
    given = read_settings(HttpAgentSettings, settings, PROVIDER.name)
    if not given.url:
        raise PlanError("http needs an address: write http/?url=http://127.0.0.1:9000/ask.")
    url = clean_url(given.url, PROVIDER.name, "url")
    found = compile_extraction(PROVIDER.name, given.answer, given.error, given.usage)
    headers, secrets = _headers(given.headers or {}, environment, url)
    destination = urlsplit(url)
    label = name or destination.netloc
    endpoint = f"{destination.scheme}://{destination.netloc}{destination.path}"
    version = version_of(ADAPTER_VERSION, given, "method", "body", "answer")
    if destination.query:
        version += f";query={destination.query}"
    identity = ModelIdentity(PROVIDER.name, label, endpoint, version)
    return HttpAgent(identity, Transport(Target(f"http/{label}", None, secrets)), given, headers, found)


def _headers(
    given: Mapping[str, Any], environment: Mapping[str, str], url: str
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Headers with ${VARIABLES} filled in, and what was filled in: that is never shown, and goes to this host only."""
    may_hold = is_loopback(url) or is_named(url, environment)
    headers, secrets = {"content-type": "application/json", "accept": "application/json, text/plain"}, []
    for header, value in given.items():
        text = str(value)
        if any(word in header.lower() for word in SECRET_HEADERS) and not VARIABLE.search(text):
            raise PlanError(
                f"http: the header {header!r} looks like a secret; write ${{MY_VARIABLE}} and set that variable."
            )
        for variable in VARIABLE.findall(text):
            secret = environment.get(variable, "").strip()
            if not secret:
                raise UserError(
                    f"http: the header {header!r} needs the environment variable {variable}, which is not set."
                )
            if not may_hold:
                raise refuse_key(PROVIDER.name, variable, url)
            secrets.append(secret)
            text = text.replace(f"${{{variable}}}", secret)
        headers[header.lower()] = text
    return headers, tuple(secrets)


def _template(source: str, setting: str) -> Template:
    try:
        return Template(source, "request")
    except BenchmarkError as error:
        raise PlanError(f"http: the setting {setting!r} is no template: {error}") from None


def _names_limit(template: Any) -> bool:
    """Whether a parsed template holds max_tokens: by name, or as one of all the options."""
    from jinja2 import nodes

    names = [*(found.attr for found in template.find_all(nodes.Getattr))]
    names += [found.value for found in template.find_all(nodes.Const)]
    if "max_tokens" in names:
        return True
    picked = [
        found
        for found in template.find_all((nodes.Getattr, nodes.Getitem))
        if isinstance(found.node, nodes.Name) and found.node.name == "options"
    ]
    whole = [found for found in template.find_all(nodes.Name) if found.name == "options"]
    return len(whole) > len(picked)


def _values(prompt: Prompt, options: Mapping[str, Json]) -> dict[str, Json]:
    parts = [part for message in prompt.messages if not isinstance(message.content, str) for part in message.content]
    return {
        "prompt": prompt.text,
        "system": "\n\n".join(message.text for message in prompt.messages if message.role == "system"),
        "messages": [{"role": message.role, "content": message.text} for message in prompt.messages],
        "options": dict(options),
        "images": [_encoded(part) for part in parts if isinstance(part, Image)],
        "documents": [_encoded(part) for part in parts if isinstance(part, DocumentPart)],
        "tools": [dict(tool) for tool in prompt.tools],
        "schema": None if prompt.schema is None else dict(prompt.schema),
    }


def _encoded(part: Image | DocumentPart) -> dict[str, str]:
    return {"media_type": part.media_type, "base64": b64encode(part.data).decode()}
