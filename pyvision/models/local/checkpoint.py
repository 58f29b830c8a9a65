"""A vision-language checkpoint of Hugging Face in this process: `--model local:FOLDER`, without a server.

vLLM runs it where it is installed (`vllm.py`), else transformers, which also runs what vLLM cannot load. The weights
are loaded with the first request, onto a GPU where torch finds one. One reply is written at a time, token by token, and
ends at the first stop string. Weights have to be safetensors, code in the folder is never run, and nothing is
downloaded.

Not covered: log probabilities, tool calls (the text protocol needs none), batches. `vllm serve` does that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from pyvision.config.model_config import ModelConfig
from pyvision.config.reasoning import reasoning_fields
from pyvision.errors import ConfigError, MissingExtra, ModelError
from pyvision.images.pixels import open_image
from pyvision.models.streaming import StopCutter, whole
from pyvision.types import Finish, Message, Picture, Reply, Sampling, Text, Usage

_MAX_TOKENS = 4096
_WEIGHTS = "*.safetensors"


@dataclass(frozen=True, slots=True)
class Generated:
    """The tokens of a request and of a reply. is_cut: the reply reached its token limit."""

    prompt_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    is_cut: bool


class Checkpoint(Protocol):
    """A model that is loaded."""

    def generate(
        self, messages: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], is_over: Callable[[], bool]
    ) -> Generator[str | Generated, None, None]:
        """The text in pieces, then its tokens. It ends early once `is_over`. Raises ModelError."""
        ...


Loader: TypeAlias = Callable[[Path], Checkpoint]


class LocalModel:
    """One checkpoint. Safe to share between threads, which wait for each other."""

    def __init__(self, config: ModelConfig, load: Loader) -> None:
        self._config = config
        self._load = load
        self._checkpoint: Checkpoint | None = None
        self._turn = threading.Lock()
        self._template = dict(reasoning_fields(config).get("chat_template_kwargs", {}))
        self._template |= config.extra_body.get("chat_template_kwargs", {})

    @property
    def name(self) -> str:
        return Path(self._config.model or "local").name

    def complete(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """One reply. Raises ModelError."""
        return whole(self.stream(messages, sampling))

    def stream(self, messages: Sequence[Message], sampling: Sampling) -> Iterator[str | Reply]:
        """As `Model.stream` says. Closing it ends the generation."""
        seconds = min(self._config.total_s, sampling.seconds or self._config.total_s)
        until = time.monotonic() + seconds
        cut = StopCutter(sampling.stop)
        generated = Generated((), (), is_cut=False)
        with self._turn:
            settings = self._settings(sampling)
            pieces = self._open().generate(
                chat_messages(messages), settings, lambda: cut.is_cut or time.monotonic() >= until
            )
            with closing(pieces):
                for piece in pieces:
                    if isinstance(piece, Generated):
                        generated = piece
                    elif text := cut.feed(piece):
                        yield text
        if not cut.is_cut and time.monotonic() >= until:
            raise ModelError(f"{self.name}: no whole reply within {seconds:g} s; raise total_s", retry=False)
        if rest := cut.rest():
            yield rest
        yield self._reply(cut, generated)

    def close(self) -> None:
        """Release the weights; the next request loads them again."""
        with self._turn:
            self._checkpoint = None

    def _open(self) -> Checkpoint:
        if self._checkpoint is None:
            self._checkpoint = self._load(Path(self._config.model or ""))
        return self._checkpoint

    def _settings(self, sampling: Sampling) -> dict[str, Any]:
        """What transformers' `generate` takes, and `template`: what the chat template takes."""
        temperature = self._config.temperature if sampling.temperature is None else sampling.temperature
        settings: dict[str, Any] = {
            "max_new_tokens": sampling.max_tokens or self._config.max_tokens or _MAX_TOKENS,
            "template": self._template,
        }
        if temperature is not None:
            settings |= (
                {"do_sample": True, "temperature": temperature} if temperature else {"do_sample": False}
            )
        return settings

    def _reply(self, cut: StopCutter, generated: Generated) -> Reply:
        usage = Usage(len(generated.prompt_ids), len(generated.token_ids))
        if not (cut.text or cut.is_cut):
            raise ModelError(f"{self.name}: the reply is empty", retry=False)
        finish: Finish = "stop" if cut.is_cut else "length" if generated.is_cut else "end"
        return Reply(cut.text, usage, finish, prompt_ids=generated.prompt_ids, token_ids=generated.token_ids)


def local_model(config: ModelConfig, find_loader: Callable[[ModelConfig], Loader]) -> LocalModel:
    """The checkpoint in the folder `config.model`. Raises ConfigError, also for what is not installed."""
    folder = Path(config.model or "").expanduser()
    if not folder.is_dir():
        raise ConfigError(f"local:{folder}: no such folder; give the folder of a Hugging Face checkpoint")
    for pattern in ("config.json", _WEIGHTS):
        if not any(folder.glob(pattern)):
            raise ConfigError(
                f"local:{folder}: holds no {pattern}; give the folder of a Hugging Face checkpoint"
            )
    for package in ("torch", "transformers"):
        if find_spec(package) is None:
            raise MissingExtra(package, "local")
    return LocalModel(config, find_loader(config))


def chat_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The conversation as chat templates take it, with the images opened."""
    return [{"role": message.role, "content": list(_content(message))} for message in messages]


def _content(message: Message) -> Iterator[dict[str, Any]]:
    for part in message.parts:
        match part:
            case Text(text=text):
                yield {"type": "text", "text": text}
            case Picture():
                yield {"type": "image", "image": open_image(part).convert("RGB")}


def load_transformers(folder: Path) -> Checkpoint:
    """Load with transformers. Raises ModelError."""
    import torch
    from transformers import AutoModelForImageTextToText, AutoProcessor

    device = "cuda" if torch.cuda.is_available() else "cpu"
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        processor = AutoProcessor.from_pretrained(folder.expanduser(), **options)
        model = AutoModelForImageTextToText.from_pretrained(
            folder.expanduser(), dtype="auto", use_safetensors=True, **options
        )
        return _Transformers(folder.name, processor, model.to(device).eval())
    except (
        OSError,
        ValueError,
        ImportError,
        RuntimeError,
        AssertionError,
    ) as error:  # the last one with vLLM
        raise wrap_error(f"local:{folder}: cannot be loaded", error) from error


def wrap_error(what: str, error: Exception) -> ModelError:
    """The ModelError for what a library raised: what failed, and why in one line."""
    why = " ".join(str(error).split())[:300] or type(error).__name__
    return ModelError(f"{what} ({why})", retry=False)


def check_context(name: str, length: int, limit: int, longest: int | None) -> None:
    """Raises ModelError where a prompt of this length and a reply of `limit` tokens do not fit."""
    if longest is not None and length + limit > longest:
        raise ModelError(
            f"{name}: {length} tokens and {limit} for the reply are more than its context of {longest}",
            retry=False,
            kind="context",
        )


class _Transformers:
    """A checkpoint with its processor, in transformers."""

    def __init__(self, name: str, processor: Any, model: Any) -> None:
        self._name = name
        self._processor = processor
        self._model = model

    def generate(
        self, messages: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], is_over: Callable[[], bool]
    ) -> Generator[str | Generated, None, None]:
        """As `Checkpoint.generate` says: the model writes in a thread, which ends with this generator."""
        from transformers import TextIteratorStreamer

        settings = dict(settings)
        inputs = self._inputs(messages, settings.pop("template"), settings["max_new_tokens"])
        streamer = TextIteratorStreamer(self._tokenizer, skip_prompt=True, skip_special_tokens=True)
        writing = _Writing(self._model, inputs, streamer, settings, is_over)
        writing.start()
        try:
            yield from streamer
        finally:
            writing.is_abandoned = True
            writing.join()
        if writing.error is not None:
            raise wrap_error(f"{self._name}: the generation failed", writing.error) from writing.error
        prompt, reply = tuple(inputs["input_ids"][0].tolist()), tuple(writing.tokens)
        ends = self._model.generation_config.eos_token_id
        ended = reply[-1:] and reply[-1] in (ends if isinstance(ends, list) else [ends])
        yield Generated(prompt, reply, is_cut=len(reply) >= settings["max_new_tokens"] and not ended)

    @property
    def _tokenizer(self) -> Any:
        return getattr(self._processor, "tokenizer", self._processor)

    def _inputs(self, messages: Sequence[Mapping[str, Any]], template: Mapping[str, Any], limit: int) -> Any:
        try:
            inputs = self._processor.apply_chat_template(
                messages,
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
                **template,
            )
        except (ValueError, TypeError, KeyError, RuntimeError) as error:
            raise wrap_error(f"{self._name}: its chat template failed", error) from error
        longest = getattr(self._model.config.get_text_config(), "max_position_embeddings", None)
        check_context(self._name, inputs["input_ids"].shape[1], limit, longest)
        return inputs.to(self._model.device)


class _Writing(threading.Thread):
    """One call of `generate`, whose text goes to the streamer. error: why it failed."""

    def __init__(
        self, model: Any, inputs: Any, streamer: Any, settings: Mapping[str, Any], is_over: Callable[[], bool]
    ) -> None:
        super().__init__(name="local model")
        self._call = (model, inputs, streamer, settings, is_over)
        self.is_abandoned = False
        self.error: Exception | None = None
        self.tokens: Sequence[int] = ()

    def run(self) -> None:
        import torch

        model, inputs, streamer, settings, is_over = self._call

        def ends(ids: Any, *_: Any, **__: Any) -> Any:
            is_last = self.is_abandoned or is_over()
            return torch.full((ids.shape[0],), is_last, device=ids.device, dtype=torch.bool)

        try:
            with torch.inference_mode():
                output = model.generate(**inputs, **settings, streamer=streamer, stopping_criteria=[ends])
            self.tokens = output[0, inputs["input_ids"].shape[1] :].tolist()
        except Exception as error:  # noqa: BLE001 - the thread's boundary: the caller raises it
            self.error = error
            streamer.end()
