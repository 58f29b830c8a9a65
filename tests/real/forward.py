"""A Brain that asks a real chat completions server: so our model server speaks every wire with a real model behind."""

from __future__ import annotations

import base64
import json
import urllib.request
from dataclasses import dataclass
from typing import Any

from tests.servers.conversation import Request, Turn


@dataclass(frozen=True, slots=True)
class Forward:
    """The reply of the server at this address to the same turns and pictures."""

    base_url: str
    model: str

    def __call__(self, request: Request) -> str:
        body = {
            "model": self.model,
            "messages": [{"role": turn.role, "content": _content(turn)} for turn in request.turns],
            "max_tokens": 200,
            "stream": False,
        }
        asked = urllib.request.Request(
            f"{self.base_url}/chat/completions",
            json.dumps(body).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=120) as answer:
            return str(json.load(answer)["choices"][0]["message"]["content"])


def _content(turn: Turn) -> list[dict[str, Any]]:
    return [_part(part) for part in turn.parts]


def _part(part: str | bytes) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    return {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{base64.b64encode(part).decode()}"},
    }
