"""The loop itself: ask, run the code of the reply, show what came back, until there is an answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pyvision.episode import Episode
from pyvision.errors import FormatError
from pyvision.prompts import render
from pyvision.replies import code_is_cut, find_answer, find_code, said
from pyvision.strategies.code_loop.observation import observe
from pyvision.strategies.code_loop.opening import open_talk
from pyvision.types import Answer, Message, Part, Question, Reply, Text
from sandbox import CellResult

STOP = "</code>"
_SAME_FAILURE = 3  # times that one cell may fail in one way before the model is told
_FEW_TURNS = 3  # turns left at which the model is told how many


@dataclass(frozen=True, slots=True)
class CodeLoop:
    """Think, write a cell, look, repeat; `repairs` malformed replies in a row end it.

    prompt_file, prompt: an upstream PyVision prompt JSON and the template in it, in place of our own prompts.
    output_chars: how much text of one cell is shown to the model; head and tail are kept.
    """

    repairs: int = 3
    output_chars: int = 8000
    prompt_file: Path | None = None
    prompt: str | None = None

    def solve(self, question: Question, episode: Episode) -> Answer:
        talk, turn = open_talk(question, self.prompt_file, self.prompt)
        episode.expect_code()
        failures: Counter[tuple[str, str]] = Counter()
        malformed = 0
        while True:
            last = episode.last_call()
            talk = (*talk, Message("user", (*turn, *_notice(episode))))
            reply = episode.ask("solver", talk, stop=() if last else (STOP,))
            if reply.finish == "refusal":
                return Answer(None, "refused", remark=reply.text)
            talk = (*talk, Message("assistant", (Text(said(reply.text) or "(empty)"),)))
            code, answer, fault = _read(reply)
            if answer is not None and (code is None or last):
                return Answer(answer)
            if last:
                return Answer(None, last, remark="the last reply held no answer")
            if code is not None:
                malformed = 0
                result = episode.run(code)
                turn = observe(result, episode, self.output_chars) + _repetition(code, result, failures)
                continue
            malformed += 1
            episode.note("malformed", why=fault)
            if malformed > self.repairs:
                return Answer(
                    None, "no_answer", remark=f"{malformed} malformed replies in a row; last: {fault}"
                )
            turn = (Text(render("code_loop/repair.md", fault=fault)),)


def _read(reply: Reply) -> tuple[str | None, str | None, str]:
    """The code and the answer of a reply, and what is wrong when it has neither."""
    if reply.finish == "length" and code_is_cut(reply.text):
        return (
            None,
            None,
            "the reply was cut at its length limit in the middle of the code; write a shorter cell",
        )
    try:
        code, answer = find_code(reply.text), find_answer(reply.text)
    except FormatError as error:
        return None, None, str(error)
    return code, answer, "the reply holds neither code nor an answer"


def _repetition(code: str, result: CellResult, failures: Counter[tuple[str, str]]) -> tuple[Part, ...]:
    """A word to the model when the same cell has failed in the same way for the third time."""
    if result.status == "ok":
        return ()
    failure = (code.strip(), result.error.message if result.error else result.status)
    failures[failure] += 1
    if failures[failure] < _SAME_FAILURE:
        return ()
    return (Text("\n" + render("code_loop/repeated.md", times=failures[failure])),)


def _notice(episode: Episode) -> tuple[Part, ...]:
    """What the model must know about its budget with this turn."""
    if episode.last_call():
        return (Text("\n\n" + render("code_loop/last_turn.md")),)
    if episode.turns > 0 and episode.turns_left <= _FEW_TURNS:
        return (Text("\n\n" + render("code_loop/few_turns.md", left=episode.turns_left)),)
    return ()
