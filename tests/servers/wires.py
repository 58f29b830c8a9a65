"""The wires of the product, each with the configuration that leads it to a model server."""

from __future__ import annotations

from typing import Any

from pyvision.config.model_config import ModelConfig
from tests.servers.server import ModelServer

WIRES = {"completions": "openai", "responses": "responses", "messages": "anthropic"}


def configured(wire: str, server: ModelServer, **settings: Any) -> ModelConfig:
    """A configuration of that wire; `messages` is reached below the root, the others below /v1."""
    address = server.root_url if wire == "messages" else server.base_url
    known: dict[str, Any] = {"wire": WIRES[wire], "model": "m", "base_url": address}
    return ModelConfig(**(known | settings))
