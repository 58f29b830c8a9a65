"""How a model asks for a cell, and how its output goes back: code in the text of a reply, or native tool calls.

Everything else is the same for both: the images, the loop, the budgets, the record, and the answer, which is always
text. There is no tool for the answer: one finder reads it in both protocols, and the last reply may call none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

from pyvision.agent.episode import Episode
from pyvision.errors import FormatError
from pyvision.text.foreign_tool_calls import SentSizes
from pyvision.text.native_tool_calls import as_text, code_of, render_reply
from pyvision.text.prompts import load, render
from pyvision.text.replies import find_code
from pyvision.types import Message, Part, Reply, Text, ToolCall, ToolOffer

ProtocolChoice: TypeAlias = Literal["auto", "text", "tools"]
TOOL = "run_python"
STOP = "</code>"


@dataclass(frozen=True, slots=True)
class CellRequest:
    """A cell that a reply asks for: the code, or the fault for which there is none. call_id: of a tool call."""

    code: str | None
    call_id: str = ""
    fault: str = ""


class CodeProtocol(Protocol):
    """One way to offer the execution of code. stop: what ends a reply. offers: the tools of each request."""

    @property
    def name(self) -> Literal["text", "tools"]: ...

    @property
    def stop(self) -> tuple[str, ...]: ...

    @property
    def offers(self) -> tuple[ToolOffer, ...]: ...

    def resume(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """A conversation so far, in whichever protocol, as this one can continue it."""
        ...

    def accept(self, reply: Reply) -> Reply:
        """A reply, in whichever protocol, in this one."""
        ...

    def cells(self, reply: Reply, sizes: SentSizes) -> tuple[CellRequest, ...]:
        """The cells that the reply asks for, in order. Raises FormatError for a block that cannot be used."""
        ...

    def respond(self, cell: CellRequest, output: tuple[Part, ...], *, is_error: bool) -> Message:
        """The turn with what a cell showed."""
        ...


@dataclass(frozen=True, slots=True)
class TextProtocol:
    """Code between `<code>` tags, output between `<interpreter>` tags: for every model, and for training."""

    name: Literal["text"] = "text"
    stop: tuple[str, ...] = (STOP,)
    offers: tuple[ToolOffer, ...] = ()

    def resume(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Calls become cells of the text, and results interpreter turns."""
        return tuple(map(without_tools, close_calls(messages)))

    def accept(self, reply: Reply) -> Reply:
        """Calls become cells of the text."""
        return replace(reply, text=render_reply(reply), calls=(), opaque=None) if reply.calls else reply

    def cells(self, reply: Reply, sizes: SentSizes) -> tuple[CellRequest, ...]:
        """The first block of code."""
        code = find_code(reply.text, sizes)
        return () if code is None else (CellRequest(code),)

    def respond(self, cell: CellRequest, output: tuple[Part, ...], *, is_error: bool) -> Message:
        """A turn of the user; how the cell ended is part of its text."""
        return Message("user", (Text("<interpreter>\n"), *output, Text("</interpreter>")))


@dataclass(frozen=True, slots=True)
class ToolProtocol:
    """Code as the argument of a tool. A model that writes it into its text nevertheless is understood."""

    name: Literal["tools"] = "tools"
    stop: tuple[str, ...] = ()

    @property
    def offers(self) -> tuple[ToolOffer, ...]:
        purpose, argument = load("code_loop/tool.md").strip().split("\n\n")
        return (ToolOffer(TOOL, purpose, "code", argument, is_free_form=True),)

    def resume(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """As it is, with a result for each call that was never run."""
        return tuple(close_calls(messages))

    def accept(self, reply: Reply) -> Reply:
        """As it is."""
        return reply

    def cells(self, reply: Reply, sizes: SentSizes) -> tuple[CellRequest, ...]:
        """One for each call; the last one of a reply that was cut at its length limit may be incomplete."""
        if not reply.calls:
            return TextProtocol().cells(reply, sizes)
        is_cut = reply.finish == "length"
        *whole, last = reply.calls
        cells = [_cell_of(call, sizes) for call in whole]
        cut = CellRequest(None, last.id, "the reply was cut in the middle of its code")
        return (*cells, cut if is_cut else _cell_of(last, sizes))

    def respond(self, cell: CellRequest, output: tuple[Part, ...], *, is_error: bool) -> Message:
        """The result of the call; an interpreter turn for code that came as text."""
        if not cell.call_id:
            return TextProtocol().respond(cell, output, is_error=is_error)
        return Message("tool", output, cell.call_id, is_error)


def choose_protocol(choice: ProtocolChoice, episode: Episode, *, has_own_prompt: bool) -> CodeProtocol:
    """The protocol of a question: `auto` is the tools of a model that is known to prefer them.

    A conversation keeps its protocol, unless the user chooses. has_own_prompt: an upstream prompt describes the text
    protocol.
    """
    earlier = episode.question.earlier.messages
    if choice == "auto":
        began_with_tools = not earlier or _offers_tool(earlier[0])
        choice = (
            "tools" if began_with_tools and episode.calls_tools("solver") and not has_own_prompt else "text"
        )
    return ToolProtocol() if choice == "tools" else TextProtocol()


def close_calls(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages with a result for each call that has none, as after an interrupt: endpoints want one."""
    waiting: dict[str, ToolCall] = {}
    for message in messages:
        if message.role == "tool":
            waiting.pop(message.call_id, None)
        else:
            yield from map(_not_run, waiting.values())
            waiting = {call.id: call for call in message.calls}
        yield message
    yield from map(_not_run, waiting.values())


def _not_run(call: ToolCall) -> Message:
    return Message("tool", (Text(render("code_loop/not_run.md")),), call.id, is_error=True)


def _cell_of(call: ToolCall, sizes: SentSizes) -> CellRequest:
    try:
        return CellRequest(code_of(call, sizes), call.id)
    except FormatError as error:
        return CellRequest(None, call.id, str(error))


def _offers_tool(system: Message) -> bool:
    return TOOL in system.text


def without_tools(message: Message) -> Message:
    """A message as it is in the text protocol; of a system message, the instructions too."""
    if message.role != "system":
        return as_text(message)
    text = message.text
    for part in ("turn", "material"):
        text = text.replace(render(f"code_loop/{part}_tools.md"), render(f"code_loop/{part}_text.md"))
    return Message("system", (Text(text),))
