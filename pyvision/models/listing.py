"""Which models an endpoint offers, and which endpoints run on this machine.

Only the list of models is asked for. An endpoint on this machine is looked for at the usual ports of Ollama, vLLM,
llama.cpp and SGLang; whatever else answers there is ignored. Most servers do not say whether a model sees images:
llama.cpp, OpenRouter and Anthropic do.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pyvision.config.model_config import (
    ENDPOINTS,
    GEMINI_URL,
    ModelConfig,
    is_local,
    list_shipped,
    load_shipped,
    without_credentials,
)
from pyvision.config.secret_fields import secrets
from pyvision.config.vertex import VERTEX_LOGIN
from pyvision.errors import ModelError
from pyvision.models.connection import deadline, open_client
from pyvision.models.vertex_tokens import VertexTokens
from pyvision.text.redaction import Redactor
from pyvision.text.sanitize import printable

_LIST_S = 15.0
_LOCAL_S = 0.5
_MAX_MODELS = 2000
_MAX_ID_CHARS = 200
_SEEING = ("vision", "multimodal", "image")


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model that an endpoint offers. sees: whether it takes images; None if the endpoint does not say."""

    id: str
    sees: bool | None = None


@dataclass(frozen=True, slots=True)
class LocalEndpoint:
    """An endpoint that runs on this machine. name: as `--model` takes it."""

    name: str
    address: str
    models: tuple[ListedModel, ...]

    @property
    def offer(self) -> str | None:
        """What to give to `--model`: a model that sees, else one that may; None if there is neither."""
        ranked = sorted(
            (model for model in self.models if model.sees is not False), key=lambda m: m.sees is None
        )
        return f"{self.name}:{ranked[0].id}" if ranked else None


def list_models(config: ModelConfig, timeout_s: float = _LIST_S) -> tuple[ListedModel, ...]:
    """The models of an endpoint, in its own order. Raises ModelError."""
    import httpx2

    where = without_credentials(config.address)
    url, headers = _request(config)
    client = open_client(httpx2.Client, trust_env=not is_local(config.address))
    try:
        with closing(client), deadline(time.monotonic() + timeout_s):
            response = client.get(url, headers=headers, timeout=timeout_s)
            content = response.text
    except httpx2.HTTPError as error:
        why = " ".join(Redactor(secrets(config)).text(str(error)).split()) or type(error).__name__
        raise ModelError(f"{where}: cannot be asked for its models ({why[:200]})") from None
    if response.status_code in {401, 403} and config.vertex is not None:
        raise ModelError(
            f"{where}: the token was refused ({response.status_code}); run '{VERTEX_LOGIN}'", kind="auth"
        )
    if response.status_code in {401, 403}:
        key = config.api_key_env or "PYVISION_API_KEY"
        raise ModelError(f"{where}: the key was refused ({response.status_code}); set {key}", kind="auth")
    if response.status_code != 200:
        raise ModelError(f"{where}: answered {response.status_code} when asked for its models")
    try:
        return _read(json.loads(content))
    except (ValueError, RecursionError, TypeError, AttributeError, LookupError):
        raise ModelError(f"{where}: did not answer with a list of models") from None


def find_local(timeout_s: float = _LOCAL_S) -> tuple[LocalEndpoint, ...]:
    """The endpoints that run on this machine, in the order of their names; this takes `timeout_s` at most."""
    return find_among(dict(_local_configs()), timeout_s)


def find_among(configs: Mapping[str, ModelConfig], timeout_s: float) -> tuple[LocalEndpoint, ...]:
    """Those of these endpoints that answer with a list of models within this time."""
    if not configs:
        return ()
    with ThreadPoolExecutor(len(configs)) as pool:
        found = pool.map(lambda name: _look_at(name, configs[name], timeout_s), configs)
        return tuple(endpoint for endpoint in found if endpoint is not None)


def suggest(endpoints: Sequence[LocalEndpoint]) -> str:
    """One line about the endpoints that can be used instead of one that needs a key; empty if there are none."""
    offers = [f"--model {endpoint.offer}" for endpoint in endpoints if endpoint.offer]
    return f"running on this machine: {', '.join(offers)}" if offers else ""


def _local_configs() -> Iterator[tuple[str, ModelConfig]]:
    for name in list_shipped():
        config = load_shipped(name)
        if config.wire in ENDPOINTS and is_local(config.address) and not config.api_key_env:
            yield name, config


def _look_at(name: str, config: ModelConfig, timeout_s: float) -> LocalEndpoint | None:
    if not _listens(config.address, timeout_s):  # mostly so; the HTTP client is slow to load
        return None
    try:
        return LocalEndpoint(name, config.address, list_models(config, timeout_s))
    except ModelError:  # something else runs there
        return None


def _listens(address: str, timeout_s: float) -> bool:
    url = urlsplit(address)
    try:
        with socket.create_connection((url.hostname, url.port or 80), timeout_s):
            return True
    except OSError:
        return False


def _request(config: ModelConfig) -> tuple[str, dict[str, str]]:
    """Where the list is, and the headers that hold the key."""
    address, key = config.address.rstrip("/"), config.keys[0] if config.keys else None
    match config.wire:
        case "anthropic":
            headers = {"anthropic-version": "2023-06-01"} | ({"x-api-key": key} if key else {})
            return f"{address.removesuffix('/v1')}/v1/models?limit=1000", headers
        case "gemini" if config.vertex is not None:
            url = config.vertex.list_address(config.base_url)
            return f"{url}?pageSize=1000", VertexTokens(config).headers(url)
        case "gemini" | "interactions":
            root = address if urlsplit(address).path else address + urlsplit(GEMINI_URL).path
            return f"{root}/models?pageSize=1000", {"x-goog-api-key": key} if key else {}
        case _ if config.api_version:
            version = config.api_version
            return f"{address}/openai/models?api-version={version}", {"api-key": key} if key else {}
        case _:
            return f"{address}/models", {"authorization": f"Bearer {key}"} if key else {}


def _read(body: dict[str, Any]) -> tuple[ListedModel, ...]:
    """The forms of OpenAI and Anthropic (`data`, `id`) and of Gemini (`models`, `name`); llama.cpp sends both.

    Of all that Google publishes on Vertex AI (`publisherModels`), what is a Gemini.
    """
    more = {str(each.get("name")): each for each in body.get("models") or ()}
    entries = body.get("data")
    if "publisherModels" in body:
        names = (str(each["name"]).rpartition("/")[2] for each in body["publisherModels"])
        entries = [{"id": name} for name in names if name.startswith("gemini")]
    elif not isinstance(entries, list):
        entries = [each | {"id": str(each["name"]).removeprefix("models/")} for each in body["models"]]
    found = (
        ListedModel(_id(entry), _sees({**more.get(str(entry["id"]), {}), **entry}))
        for entry in entries[:_MAX_MODELS]
        if _generates(entry)
    )
    return tuple(found)


def _id(entry: Mapping[str, Any]) -> str:
    text = printable(entry["id"])
    if not text or len(text) > _MAX_ID_CHARS or text != entry["id"]:
        raise ValueError(text)
    return text


def _generates(entry: Mapping[str, Any]) -> bool:
    methods = entry.get("supportedGenerationMethods")
    return methods is None or "generateContent" in methods


def _sees(entry: Mapping[str, Any]) -> bool | None:
    modalities = (entry.get("architecture") or {}).get("input_modalities")
    match entry.get("capabilities"), modalities:
        case _, list(inputs):
            return "image" in inputs
        case list(named), _:
            return any(name in named for name in _SEEING)
        case {"image_input": {"supported": bool(sees)}}, _:
            return sees
        case _:
            return None
