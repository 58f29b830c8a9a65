"""The visitors of the demo: their conversations, their open tabs, their own models; isolated from each other.

A visitor is a browser, by a secret that it makes; a tab is one open page of it. When no tab is open any more, the
kernels end soon after; when none has been open for the idle time, the conversations and their folders are deleted.
"""

from __future__ import annotations

import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyvision.agent.task import Task
from pyvision.demo.session import AnswerQueue, ChatSession
from pyvision.errors import ConfigError
from pyvision.models.factory import ResolvedModel
from sandbox import Sandbox

GRACE_S = 10.0  # that a reload may take
_MAX_CHATS = 50  # of one visitor; the oldest is deleted
_MAX_VISITORS = 1000  # then visitors without a question are removed first
_MAX_TABS = 100  # of one visitor
_SECRET = re.compile(r"[0-9a-f]{32}")


@dataclass(slots=True)
class Visitor:
    """One browser. chats: by id, the oldest first. models: those with a key that the visitor typed, by name."""

    chats: dict[str, ChatSession] = field(default_factory=dict)
    tabs: set[str] = field(default_factory=set)
    models: dict[str, ResolvedModel] = field(default_factory=dict)
    left_at: float = field(default_factory=time.monotonic)  # when the last tab was closed, if none is open

    def close_models(self) -> None:
        for model in self.models.values():
            model.close()


class SessionRegistry:
    """Finds the conversations of a visitor by its secret. Thread-safe.

    out: where conversations are recorded; their folders are deleted with them unless `keep`. address: where a browser
    finds a file, by the id of its conversation and its path there. idle_s: as in DemoOptions.
    """

    def __init__(  # noqa: PLR0913 - each is one thing that the operator may choose
        self,
        sandbox: Sandbox,
        out: Path,
        address: Callable[[str], str],
        *,
        idle_s: float,
        at_once: int,
        keep: bool = False,
        grace_s: float = GRACE_S,
    ) -> None:
        self._sandbox = sandbox
        self._out = out
        self._address = address
        self._idle_s = idle_s
        self._grace_s = grace_s
        self._keep = keep
        self._queue = AnswerQueue(at_once)
        self._by_secret: dict[str, Visitor] = {}
        self._lock = threading.RLock()
        self._closing = threading.Event()
        threading.Thread(target=self._expire_idle, name="idle-visitors", daemon=True).start()

    def __len__(self) -> int:
        return len(self._by_secret)

    def enter(self, secret: str, tab: str) -> None:
        """A page was opened."""
        with self._lock:
            tabs = self._visitor(secret).tabs
            while len(tabs) >= _MAX_TABS:
                tabs.pop()
            tabs.add(tab)

    def leave(self, tab: str) -> None:
        """A page was closed."""
        with self._lock:
            for visitor in self._by_secret.values():
                if tab in visitor.tabs:
                    visitor.tabs.discard(tab)
                    visitor.left_at = time.monotonic()

    def start(self, secret: str, task: Task) -> ChatSession:
        """A new conversation."""
        with self._lock:
            visitor = self._visitor(secret)
            name = secrets.token_hex(16)  # nobody can guess the conversation of another
            chat = ChatSession(
                name,
                sandbox=self._sandbox,
                task=task,
                out=self._out / name,
                address=lambda file: self._address(f"{name}/{file}"),
                queue=self._queue,
            )
            visitor.chats[name] = chat
            oldest = next(iter(visitor.chats)) if len(visitor.chats) > _MAX_CHATS else None
        if oldest is not None:
            self.delete(secret, oldest)
        return chat

    def find(self, secret: str, chat: str) -> ChatSession | None:
        """The conversation, if it is one of this visitor."""
        visitor = self._by_secret.get(secret)
        return visitor.chats.get(chat) if visitor else None

    def find_any(self, chat: str) -> ChatSession | None:
        """The conversation with this id, which only its visitor knows."""
        with self._lock:
            return next((each.chats[chat] for each in self._by_secret.values() if chat in each.chats), None)

    def delete(self, secret: str, chat: str) -> None:
        """End a conversation and delete what was recorded of it, unless that is kept."""
        with self._lock:
            visitor = self._by_secret.get(secret)
            found = visitor.chats.pop(chat, None) if visitor else None
        if found is not None:
            self._close(found)

    def list_chats(self, secret: str) -> list[dict[str, Any]]:
        """The conversations of the visitor, the newest first."""
        visitor = self._by_secret.get(secret)
        chats = reversed(tuple(visitor.chats.values())) if visitor else ()
        return [{"id": chat.name, "title": chat.title, "running": chat.state["running"]} for chat in chats]

    def models(self, secret: str) -> Mapping[str, ResolvedModel]:
        """The models for which the visitor typed a key."""
        visitor = self._by_secret.get(secret)
        return visitor.models if visitor else {}

    def add_model(self, secret: str, model: ResolvedModel, name: str) -> None:
        with self._lock:
            self._visitor(secret).models[name] = model

    def close(self) -> None:
        self._closing.set()
        for secret in tuple(self._by_secret):
            self._forget(secret)

    def _visitor(self, secret: str) -> Visitor:
        if not _SECRET.fullmatch(secret):
            raise ConfigError("the page sent no valid browser secret; reload it")
        if secret not in self._by_secret and len(self._by_secret) >= _MAX_VISITORS:
            unused = next((each for each, visitor in self._by_secret.items() if not visitor.chats), None)
            if unused is None:
                raise ConfigError("too many visitors at the moment; try again later")
            self._by_secret.pop(unused).close_models()
        return self._by_secret.setdefault(secret, Visitor())

    def _expire_idle(self) -> None:
        while not self._closing.wait(min(self._idle_s / 4, self._grace_s / 4, 5.0)):
            now = time.monotonic()
            for secret, visitor in tuple(self._by_secret.items()):
                away_s = 0.0 if visitor.tabs else now - visitor.left_at
                if away_s > max(self._idle_s, self._grace_s):
                    self._forget(secret)
                    continue
                for chat in tuple(visitor.chats.values()):
                    is_idle = not chat.is_busy and now > chat.seen_at + self._idle_s
                    if is_idle or away_s > self._grace_s:
                        chat.release()

    def _forget(self, secret: str) -> None:
        with self._lock:
            visitor = self._by_secret.pop(secret, None)
        if visitor is not None:
            for chat in visitor.chats.values():
                self._close(chat)
            visitor.close_models()

    def _close(self, chat: ChatSession) -> None:
        chat.close()
        if not self._keep:
            shutil.rmtree(
                chat.out, ignore_errors=True
            )  # a file that cannot be deleted now concerns no visitor
