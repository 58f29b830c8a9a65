"""Write the request schemas of the installed vLLM to tests/real/vllm_schemas.json, with its version.

python -m tests.real.vllm_schemas

Done once for a version; needs vllm (its modules for the protocols load without a GPU), which the tests do not.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_suffix(".json")


def main() -> None:
    from importlib.metadata import version

    from vllm.entrypoints.anthropic.protocol import AnthropicMessagesRequest
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.entrypoints.openai.responses.protocol import ResponsesRequest

    requests = {
        "completions": ChatCompletionRequest,
        "responses": ResponsesRequest,
        "messages": AnthropicMessagesRequest,
    }
    schemas = {name: _bare(request.model_json_schema()) for name, request in requests.items()}
    FILE.write_text(json.dumps({"vllm": version("vllm"), **schemas}, sort_keys=True) + "\n", encoding="utf-8")


def _bare(schema: Any) -> Any:
    """Without the texts for people: they are most of it."""
    if isinstance(schema, list):
        return [_bare(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    texts = {key for key in ("title", "description") if isinstance(schema.get(key), str)}
    return {key: _bare(value) for key, value in schema.items() if key not in texts}


if __name__ == "__main__":
    main()
