"""The page: one gradio component that holds the chat, and the events between it and the server.

The component is ours: `assets/chat.html` is its frame, the scripts beside it draw the conversation. They ask the
server function `act` for each action, and the event `follow` for the state of a conversation while it changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256
from typing import Any

import gradio as gr
from gradio.events import api as gradio_api

from pyvision.demo.actions import Actions
from pyvision.demo.first_paint import HOST_ID, read_asset

_SCRIPTS = ("chat.js", "composer.js", "images.js", "start.js")  # in the order in which they run, in one scope
_LOOK_S = 0.1
_CACHE_S = (600, 3600)  # every so often, uploaded files of this age are deleted


def build_page(actions: Actions, prefix: str) -> gr.Blocks:
    """The gradio Blocks. prefix: the path under which a proxy serves the demo."""

    def act(request: Any) -> dict[str, Any]:
        return actions.act(request)

    async def follow(event: gr.EventData, request: gr.Request) -> AsyncIterator[dict[str, Any]]:
        asked = event._data if isinstance(event._data, dict) else {}
        async for state in follow_chat(actions, asked, str(request.session_hash)):
            yield state

    def leave(request: gr.Request) -> None:
        actions.registry.leave(str(request.session_hash))

    with gr.Blocks(
        title="PyVision", fill_width=True, analytics_enabled=False, delete_cache=_CACHE_S
    ) as blocks:
        chat = gr.HTML(
            {},
            html_template=read_asset("chat.html"),
            js_on_load="\n".join(map(read_asset, _SCRIPTS)),
            apply_default_css=False,
            elem_id=HOST_ID,
            server_functions=[act],
            offer=actions.offer(),
            prefix=prefix.rstrip("/"),
        )
        chat.follow(
            follow,
            None,
            chat,
            concurrency_limit=None,
            trigger_mode="multiple",
            show_progress="hidden",
            api_visibility="private",
        )
        gradio_api(_ask_function(actions), api_name="ask", concurrency_limit=None)
        blocks.unload(leave)
    page: gr.Blocks = blocks
    return page


async def follow_chat(actions: Actions, asked: dict[str, Any], tab: str) -> AsyncIterator[dict[str, Any]]:
    """What a page shows, each time that it changes, until no question of this conversation is being answered."""
    secret, name = str(asked.get("visitor")), str(asked.get("chat"))
    actions.registry.enter(secret, tab)
    revision = None
    while True:
        chat = actions.registry.find(secret, name)
        state = chat.state if chat else None
        if state is None or state["revision"] != revision:
            yield {**actions.overview(secret), "chat": state, "asked": name}
        if state is None or not state["running"]:
            return
        revision = state["revision"]
        await asyncio.sleep(_LOOK_S)


def _ask_function(actions: Actions) -> Any:
    async def ask(
        request: gr.Request,
        text: str,
        images: list[dict[str, Any]],
        strategy: str = "code_loop",
        model: str = "",
    ) -> AsyncIterator[dict[str, Any]]:
        """Ask a question about images; yields its progress, at last with the answer. A client has one conversation."""
        tab = str(request.session_hash)
        secret = sha256(tab.encode()).hexdigest()[:32]
        chats = actions.registry.list_chats(secret)
        asked = {
            "act": "ask",
            "visitor": secret,
            "chat": chats[0]["id"] if chats else None,
            "text": text,
            "files": [image.get("path") for image in images],
            "choice": {"strategy": strategy, "model": model},
        }
        begun = await asyncio.to_thread(actions.act, asked)
        if "error" in begun:
            yield {"status": f"Error: {begun['error']}", "answer": None}
            return
        async for state in follow_chat(actions, {**asked, "chat": begun["chat"]["id"]}, tab):
            if chat := state["chat"]:
                yield {"status": chat["status"], "answer": chat["exchanges"][-1]["answer"]}

    return ask
