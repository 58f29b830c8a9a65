"""Get an answer out of a role: a letter where the question has choices, asked for once more where none came."""

from __future__ import annotations

from dataclasses import dataclass

from pyvision.errors import FormatError
from pyvision.strategies.bdog.choices import ChoiceQuestion, find_choice
from pyvision.strategies.bdog.role_client import Exchange, RoleClient
from pyvision.text.prompts import render
from pyvision.text.replies import find_answer, last_resort_answer
from pyvision.types import Answer


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer of one role, or the end that it comes to, with the exchange in which it was given."""

    answer: Answer
    exchange: Exchange


def ending(question: ChoiceQuestion) -> str:
    """What a prompt says last: in which form the answer is to be given."""
    if question.choices:
        return render("bdog/ending_choice.md", letters=", ".join(question.letters))
    return render("bdog/ending_free.md")


def decide(client: RoleClient, role: str, prompt: str, **variables: object) -> Verdict:
    """Put a prompt that ends in an answer to a role; `ending` is filled in here."""
    return settle(client, client.ask(role, prompt, ending=ending(client.question), **variables))


def settle(client: RoleClient, exchange: Exchange) -> Verdict:
    """The answer in a reply. Where there is none, the role is asked once more, unless no budget is left for it."""
    found, why = _find(exchange, client.question)
    if found is not None or exchange.reply.finish == "refusal":
        return Verdict(found or _no_answer(exchange, why), exchange)
    client.episode.note("malformed", role=exchange.role, why=why)
    if client.episode.last_call():
        return Verdict(_no_answer(exchange, why), exchange)
    again = _once_more(client, exchange, why)
    found, why = _find(again, client.question)
    return Verdict(found or _no_answer(again, why), again)


def _once_more(client: RoleClient, exchange: Exchange, why: str) -> Exchange:
    letters = ", ".join(client.question.letters)
    if not letters:
        return client.follow(exchange, "no_answer")
    return client.follow(exchange, "no_choice", why=why, letters=letters)


def _no_answer(exchange: Exchange, why: str) -> Answer:
    match exchange.reply.finish:
        case "refusal":
            return Answer(None, "refused", remark=exchange.reply.text)
        case "length":
            return Answer(None, "truncated", remark="the reply was cut before its answer; raise max_tokens")
        case _:
            return Answer(None, "no_answer", remark=f"the {exchange.role} gave no answer: {why}")


def _find(exchange: Exchange, question: ChoiceQuestion) -> tuple[Answer | None, str]:
    """The answer of a reply, a letter where there are choices; or why there is none."""
    reply = exchange.reply
    if reply.finish == "refusal":
        return None, "it refused"
    if question.choices:
        choice = find_choice(reply.text, question.choices)
        return Answer(choice.letter) if choice.letter else None, choice.why
    try:
        found = find_answer(reply.text)
    except FormatError as error:
        return None, str(error)
    if found is not None:
        return Answer(found), ""
    if reply.finish == "length":
        return None, "the reply was cut"
    text = last_resort_answer(reply.text)
    return Answer(text, is_last_resort=True) if text else None, "the reply is empty"
