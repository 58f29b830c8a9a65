"""What a page asks the server to do, as plain data in and out: ask, stop, retry, edit, open, delete, give a key.

A page may send anything. What is not valid becomes one line under `error`, which the page shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyvision.agent.task import Task
from pyvision.config.files import data_folder
from pyvision.demo.session import ChatSession, MarkedBox
from pyvision.demo.session_registry import SessionRegistry
from pyvision.demo.settings import ChatOptions, Settings, UploadLimits, model_with_key, providers, read_images
from pyvision.errors import ConfigError, PyVisionError

_MAX_TEXT = 20_000
_MAX_CODE = 200_000
EXAMPLES = (
    ("How many differences are there between the two images?", ("portrait.jpg", "portrait_changed.jpg")),
    ("How many circles are in the image?", ("circles.png",)),
    ("How many rows and columns are in the table?", ("table.png",)),
)

Request = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """A question and the files of its images."""

    text: str
    files: tuple[Path, ...]


def find_examples() -> tuple[ExampleQuestion, ...]:
    """The example questions whose images exist."""
    folder = data_folder("examples")
    found = (ExampleQuestion(text, tuple(folder / name for name in names)) for text, names in EXAMPLES)
    return tuple(example for example in found if all(file.is_file() for file in example.files))


class Actions:
    """Carries out the requests of pages. uploads: the folder in which uploaded files lie, the only one that is read."""

    def __init__(
        self, registry: SessionRegistry, settings: Settings, limits: UploadLimits, uploads: Path
    ) -> None:
        self.registry = registry
        self.settings = settings
        self.examples = find_examples()
        self._limits = limits
        self._uploads = uploads.resolve()

    def act(self, request: Any) -> dict[str, Any]:
        """What the request asks for: the state of the conversation, if there is one, and the list of conversations."""
        try:
            secret, action = _text(request, "visitor"), _text(request, "act")
            if action not in _ACTIONS:
                raise ConfigError("the page sent an unknown request; reload it")
            found = _ACTIONS[action](self, secret, request)
            return {**self.overview(secret), **found}
        except (PyVisionError, OSError) as error:
            return {
                "error": str(error)
                if isinstance(error, PyVisionError)
                else "a file cannot be read; attach it again"
            }

    def overview(self, secret: str) -> dict[str, Any]:
        """The conversations of a visitor and the models that it can choose."""
        own = [{"name": name, "own": True} for name in self.registry.models(secret)]
        offered = [{"name": name, "own": False} for name in self.settings.models]
        return {"chats": self.registry.list_chats(secret), "models": [*offered, *own]}

    def offer(self) -> dict[str, Any]:
        """What is the same for all visitors."""
        return {
            "strategies": list(self.settings.strategies),
            "providers": [{"name": each.name, "model": each.model} for each in providers()],
            "limits": {"images": self._limits.pictures, "bytes": self._limits.picture_bytes},
            "examples": [
                {"text": each.text, "files": [file.name for file in each.files]} for each in self.examples
            ],
        }

    def ask(self, secret: str, request: Request) -> dict[str, Any]:
        task = self._task(secret, request)
        if request.get("example") is not None:
            example = self.examples[_number(request, "example", most=len(self.examples) - 1)]
            text, files = example.text, example.files
        else:
            text, files = _text(request, "text", _MAX_TEXT).strip(), self._files(request)
        if not text:
            raise ConfigError("the question is empty; type a question")
        pictures, regions = read_images(files, self._limits), _regions(request)
        number = _number(request, "question") if request.get("question") is not None else None
        chat = self._chat(secret, request) if request.get("chat") else self.registry.start(secret, task)
        chat.ask(task, text, pictures, regions, replaces=number)
        return {"chat": chat.state}

    def retry(self, secret: str, request: Request) -> dict[str, Any]:
        chat = self._chat(secret, request)
        chat.retry(self._task(secret, request), _number(request, "question"))
        return {"chat": chat.state}

    def resume(self, secret: str, request: Request) -> dict[str, Any]:
        chat, code = self._chat(secret, request), _text(request, "code", _MAX_CODE)
        if not code.strip():
            raise ConfigError("the cell is empty; write some code")
        chat.resume(self._task(secret, request), code, _number(request, "cell"))
        return {"chat": chat.state}

    def read_cell(self, secret: str, request: Request) -> dict[str, Any]:
        return {"code": self._chat(secret, request).code_of(_number(request, "cell"))}

    def stop(self, secret: str, request: Request) -> dict[str, Any]:
        self._chat(secret, request).stop()
        return {}

    def delete(self, secret: str, request: Request) -> dict[str, Any]:
        self.registry.delete(secret, _text(request, "chat"))
        return {}

    def connect(self, secret: str, request: Request) -> dict[str, Any]:
        name, key = _text(request, "model", 200).strip(), _text(request, "key", 500).strip()
        own = f"{name} (your key)"
        self.registry.add_model(secret, model_with_key(name, key), own)
        return {"model": own}

    def _chat(self, secret: str, request: Request) -> ChatSession:
        chat = self.registry.find(secret, _text(request, "chat"))
        if chat is None:
            raise ConfigError("this conversation is gone; start a new one")
        return chat

    def _task(self, secret: str, request: Request) -> Task:
        asked = request.get("choice")
        choice: Request = asked if isinstance(asked, Mapping) else {}
        return self.settings.task(
            ChatOptions(
                _text(choice, "strategy") if "strategy" in choice else "code_loop",
                _text(choice, "model") if choice.get("model") else self.settings.models[0],
                _text(choice, "options", 500) if choice.get("options") else "",
                _number(choice, "turns", least=1, most=50) if choice.get("turns") else 20,
            ),
            self.registry.models(secret),
        )

    def _files(self, request: Request) -> tuple[Path, ...]:
        """The uploaded files; no other file of the server."""
        paths = request.get("files") or ()
        if not isinstance(paths, list | tuple) or not all(isinstance(path, str) for path in paths):
            raise ConfigError("the page sent no valid list of files; reload it")
        files = tuple(Path(path).resolve() for path in paths)
        if not all(file.is_relative_to(self._uploads) for file in files):
            raise ConfigError("a file was not uploaded here; attach it again")
        return files


_ACTIONS: Mapping[str, Callable[[Actions, str, Request], dict[str, Any]]] = {
    "ask": Actions.ask,
    "retry": Actions.retry,
    "resume": Actions.resume,
    "cell": Actions.read_cell,
    "stop": Actions.stop,
    "delete": Actions.delete,
    "connect": Actions.connect,
}


def _text(request: Any, key: str, most: int = 200) -> str:
    value = request.get(key) if isinstance(request, Mapping) else None
    if not isinstance(value, str):
        raise ConfigError(f"the page sent no {key}; reload it")
    if len(value) > most:
        raise ConfigError(f"the {key} has {len(value):,} characters; the limit is {most:,}")
    return value


def _number(request: Request, key: str, least: int = 0, most: int = 10**6) -> int:
    value = request.get(key)
    if not isinstance(value, int) or not least <= value <= most:
        raise ConfigError(f"the page sent no valid number as {key}; it is {least} to {most}")
    return value


def _regions(request: Request) -> tuple[MarkedBox, ...]:
    """The marked regions: `{"image": NAME or NUMBER, "box": [left, top, right, bottom]}`."""
    found = request.get("regions") or ()
    if not isinstance(found, list | tuple) or len(found) > 20:
        raise ConfigError("the page sent no valid regions; mark at most 20")
    return tuple(_region(each) for each in found)


def _region(request: Any) -> MarkedBox:
    match request:
        case {"image": str() | int() as image, "box": [int(), int(), int(), int()] as box}:
            left, top, right, bottom = box
            named = isinstance(image, int) or (image.startswith("image_clue_") and image[11:].isdigit())
            if named and 0 <= left < right <= 10**6 and 0 <= top < bottom <= 10**6:
                return MarkedBox(image, (left, top, right, bottom))
    raise ConfigError("a marked region is not valid; mark it again")
