"""A checkpoint in vLLM's `LLM`, in this process: what `--model local:FOLDER` uses where vLLM is installed.

The engine is stepped here, so that text arrives token by token and a reply that is over is aborted at once. It samples
as the checkpoint's own generation settings say, greedily where they say nothing, as transformers does.

vLLM would report its use over the network and log to standard output; neither happens unless the environment asks for
it. It takes most of the memory of a GPU: `"vllm": {"gpu_memory_utilization": 0.5}` in a configuration takes half.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

from pyvision.config.model_config import ModelConfig
from pyvision.errors import MissingExtra, ModelError
from pyvision.models.local.checkpoint import (
    Checkpoint,
    Generated,
    Loader,
    check_context,
    load_transformers,
    wrap_error,
)

_LOG = logging.getLogger("pyvision.models")
_DEFAULTS = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # a started process would run the caller's script again
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_NO_USAGE_STATS": "1",
}


def find_loader(config: ModelConfig) -> Loader:
    """What loads a local checkpoint: `ModelConfig.vllm` decides. Raises MissingExtra."""
    is_installed = find_spec("vllm") is not None
    match config.vllm:
        case None if is_installed:
            return _load_with_either
        case None | False:
            return load_transformers
        case arguments if is_installed:
            return partial(_load_vllm, arguments=arguments if isinstance(arguments, dict) else {})
        case _:
            raise MissingExtra("vllm", "vllm")


def _load_with_either(folder: Path) -> Checkpoint:
    """With vLLM, which serves fewer architectures, else with transformers. Raises ModelError."""
    try:
        return _load_vllm(folder, {})
    except ModelError as error:
        _LOG.warning("%s; transformers runs it", error)
        return load_transformers(folder)


def _load_vllm(folder: Path, arguments: Mapping[str, Any]) -> VllmCheckpoint:
    """Load with vLLM; `arguments` go to its `LLM`. Raises ModelError."""
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    path = folder.expanduser()
    try:
        from vllm import LLM

        return VllmCheckpoint(folder.name, LLM(str(path), **({"trust_remote_code": False} | dict(arguments))))
    except Exception as error:  # vLLM has errors of its own, and raises what its workers raise
        raise wrap_error(f"local:{folder}: vLLM cannot load it", error) from error


class VllmCheckpoint:
    """A checkpoint that vLLM has loaded. One reply at a time."""

    def __init__(self, name: str, llm: Any) -> None:
        self._name = name
        self._llm = llm
        self._engine = llm.llm_engine
        self._numbers = count()

    def generate(
        self, messages: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], is_over: Callable[[], bool]
    ) -> Generator[str | Generated, None, None]:
        """As `Checkpoint.generate` says."""
        prompt = self._render(messages, settings)
        asked = f"pyvision-{next(self._numbers)}"
        tokens: list[int] = []
        finish = None
        try:
            self._engine.add_request(asked, prompt, self._sampling(settings))
            while finish is None and not is_over():
                for output in self._engine.step():
                    if output.request_id == asked:
                        part = output.outputs[0]
                        tokens += part.token_ids
                        finish = part.finish_reason
                        yield part.text
        except Exception as error:  # as above
            raise wrap_error(f"{self._name}: the generation failed", error) from error
        finally:
            if finish is None:
                self._engine.abort_request([asked])
        yield Generated(tuple(prompt["prompt_token_ids"]), tuple(tokens), is_cut=finish == "length")

    def _render(self, messages: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> Any:
        """The prompt: tokens and pixels."""
        from vllm.renderers import ChatParams

        renderer, longest = self._engine.renderer, self._llm.model_config.max_model_len
        template = {"add_generation_prompt": True} | dict(settings["template"])
        # The template adds special tokens; the length is checked below.
        settled = {"add_special_tokens": False, "max_total_tokens": None}
        try:
            _, (prompt,) = renderer.render_chat(
                [[_with_images(message) for message in messages]],
                ChatParams(chat_template_kwargs=template),
                replace(renderer.default_chat_tok_params, **settled),
            )
        except Exception as error:  # as above
            raise wrap_error(f"{self._name}: its chat template failed", error) from error
        check_context(self._name, len(prompt["prompt_token_ids"]), settings["max_new_tokens"], longest)
        return prompt

    def _sampling(self, settings: Mapping[str, Any]) -> Any:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        config = self._llm.model_config
        own = config.get_diff_sampling_param()
        samples = settings.get("do_sample", config.try_get_generation_config().get("do_sample", False))
        return SamplingParams.from_optional(
            **own
            | {
                "temperature": settings.get("temperature", own.get("temperature")) if samples else 0.0,
                "max_tokens": settings["max_new_tokens"],
                "output_kind": RequestOutputKind.DELTA,
            }
        )


def _with_images(message: Mapping[str, Any]) -> dict[str, Any]:
    """The message with its images in vLLM's own form."""
    parts = [
        {"type": "image_pil", "image_pil": part["image"]} if part["type"] == "image" else part
        for part in message["content"]
    ]
    return {**message, "content": parts}
