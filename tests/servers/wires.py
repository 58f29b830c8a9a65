"""The wires of the product, each with the configuration that leads it to a model server."""

from __future__ import annotations

from typing import Any

from pyvision.config.model_config import ModelConfig
from tests.servers.server import ModelServer

WIRES = {"completions": "openai", "responses": "responses", "messages": "anthropic", "gemini": "gemini"}


def configured(wire: str, server: ModelServer, **settings: Any) -> ModelConfig:
    """A configuration of that wire, with the address that its SDK takes."""
    known: dict[str, Any] = {"wire": WIRES[wire], "model": "m", "base_url": address_of(wire, server)}
    return ModelConfig(**(known | settings))


def address_of(wire: str, server: ModelServer) -> str:
    """Chat completions and responses are reached below /v1; the other wires add their version themselves."""
    return server.root_url if wire in {"messages", "gemini"} else server.base_url
