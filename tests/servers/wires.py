"""The wires of the product: the configuration that leads each to a model server, and what tests say over it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from pyvision.config.model_config import ModelConfig
from pyvision.models.endpoint import Endpoint
from pyvision.models.wires.anthropic import anthropic_messages
from pyvision.models.wires.gemini import gemini
from pyvision.models.wires.gemini_interactions import gemini_interactions
from pyvision.models.wires.openai_chat import openai_chat
from pyvision.models.wires.openai_responses import openai_responses
from pyvision.types import Message, Picture, Sampling, Text
from tests.servers.capabilities import CLEAN, Capabilities
from tests.servers.conversation import Brain, ServedReply
from tests.servers.faults import Fault, Plan
from tests.servers.server import ModelServer

HELLO = (Message("system", (Text("be brief"),)), Message("user", (Text("hello"),)))
STOP = Sampling(stop=("</code>",))
CELL = "I look.\n<code>\n```python\nprint(1)\n```\n</code>"
MAKE = {
    "completions": openai_chat,
    "responses": openai_responses,
    "messages": anthropic_messages,
    "gemini": gemini,
    "interactions": gemini_interactions,
}
WIRES = {
    "completions": "openai",
    "responses": "responses",
    "messages": "anthropic",
    "gemini": "gemini",
    "interactions": "interactions",
}


def configured(wire: str, server: ModelServer, **settings: Any) -> ModelConfig:
    """A configuration of that wire, with the address that its SDK takes."""
    known: dict[str, Any] = {"wire": WIRES[wire], "model": "m", "base_url": address_of(wire, server)}
    return ModelConfig(**(known | settings))


def address_of(wire: str, server: ModelServer) -> str:
    """Chat completions and responses are reached below /v1; the other wires add their version themselves."""
    return server.root_url if wire in {"messages", "gemini", "interactions"} else server.base_url


@contextmanager
def open_model(
    wire: str,
    says: Brain | Sequence[str | ServedReply],
    can: Capabilities = CLEAN,
    faults: Sequence[str | Fault | None] = (),
    **settings: Any,
) -> Iterator[tuple[Endpoint, ModelServer]]:
    """A model over this wire, and the server that answers it."""
    with ModelServer(says, can=can, weather=Plan(faults)) as server:
        config = configured(wire, server, **({"timeout_s": 5.0} | settings))
        with closing(MAKE[wire](config)) as model:
            yield model, server


def answer(body: dict[str, Any], status: int = 200) -> Fault:
    """An answer of the test in place of the server's."""
    return Fault(body=json.dumps(body).encode(), status=status, headers={"content-type": "application/json"})


def text(*parts: str | Picture, role: Any = "user") -> Message:
    """A message of texts and pictures."""
    return Message(role, tuple(Text(part) if isinstance(part, str) else part for part in parts))
