"""Ask the roles of a debate: every request is a conversation of its own, the images first, the prompt after them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pyvision.agent.episode import Episode
from pyvision.errors import ConfigError, FormatError
from pyvision.text.prompts import render
from pyvision.text.replies import find_answer, last_resort_answer, without_thinking
from pyvision.types import Answer, Message, Picture, Question, Reply, Text


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its reply, which a further request may follow."""

    role: str
    messages: tuple[Message, ...]
    reply: Reply


@dataclass(frozen=True, slots=True)
class RoleClient:
    """The question as the roles are asked it. personalities: role -> the name of its personality, or `none`."""

    question: ChoiceQuestion
    images: tuple[Picture, ...]
    episode: Episode
    personalities: Mapping[str, str]

    def ask(self, role: str, prompt: str, **variables: object) -> Exchange:
        """Put a prompt of prompts/bdog to a role. Raises LimitReached and ModelError, as Episode.ask does."""
        turn = Message("user", (*self.images, Text(render(f"bdog/{prompt}.md", **variables))))
        return self._put(role, (*self._personality(role), turn))

    def follow(self, exchange: Exchange, prompt: str, **variables: object) -> Exchange:
        """Ask the same role once more, with what was said so far."""
        said = Message("assistant", (Text(exchange.reply.text.strip() or "(empty)"),))
        turn = Message("user", (Text(render(f"bdog/{prompt}.md", **variables)),))
        return self._put(exchange.role, (*exchange.messages, said, turn))

    def _put(self, role: str, messages: tuple[Message, ...]) -> Exchange:
        return Exchange(role, messages, self.episode.ask(role, messages))

    def _personality(self, role: str) -> tuple[Message, ...]:
        name = self.personalities.get(role, "none")
        return (
            () if name == "none" else (Message("system", (Text(render(f"bdog/personalities/{name}.md")),)),)
        )


# ---- The choices of a question, and which one of them a reply settles on; never a guess.
# ----
# ---- Rules for a reply (after VLMEvalKit's, arXiv 2407.11691, which the paper's code uses), in this order:
# ---- * What `replies.find_answer` finds alone counts; else what follows the last "answer is" or "answer:"; else it all.
# ---- * Exactly one letter of a choice among the words. `A` and `I` in front of a lower-case word are words themselves: there
# ----   we differ from the original, which reads "A baby is pulling" as choice A.
# ---- * Else exactly one choice whose text stands in the reply. Where one choice contains another, the longer one counts
# ----   unless the shorter one also stands by itself: the original finds both and gives up.
# ---- What settles on none, or on two, is told; the original then takes a random choice.


MOST = 26  # letters
_MARKER = re.compile(r"(?:^|(?<=\s))[(\[]?([A-Z])[.):\]](?=\s)[ \t]*")
_HEADING = re.compile(r"(?:\b(?:answer\s+)?(?:options|choices)\b[^\n:]*:?)\s*\Z", re.IGNORECASE)
_CONCLUSION = re.compile(r"\banswer\s*(?:is|:|would be)\s*:?\s*(.+)", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[.()\[\],:;!*#{}\"'`?]")
_BARE_LETTER = re.compile(r"[\s(\[*\"']*([A-Za-z])[\s.)\]*:\"']*")
_ALSO_WORDS = {"A", "I"}
_BEHIND_LETTERS = {"and", "or", "nor", "but", "is", "because", "since", "as", "if", "not"}


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A question taken apart: its text with the context but without the choices, and those."""

    text: str
    choices: tuple[str, ...] = ()

    @property
    def letters(self) -> str:
        """A, B, C … one for each choice."""
        return "".join(chr(ord("A") + place) for place in range(len(self.choices)))

    @property
    def full_text(self) -> str:
        """The text with the choices below it."""
        return Question(self.text, choices=self.choices).full_text


@dataclass(frozen=True, slots=True)
class Choice:
    """What a reply settles on: a letter, or None and why not."""

    letter: str | None
    why: str


def parse_choices(question: Question) -> ChoiceQuestion:
    """The question taken apart; choices that are listed in its text, as `A. …` or `(A) …`, are found.

    Raises ConfigError for more choices than there are letters.
    """
    if len(question.choices) > MOST:
        raise ConfigError(f"the question has {len(question.choices)} choices; at most {MOST} have a letter")
    text = "\n".join(part for part in (question.context, question.text) if part)
    return ChoiceQuestion(text, question.choices) if question.choices else _list(text)


def find_choice(reply: str, choices: tuple[str, ...]) -> Choice:
    """Which of the choices the reply settles on, by the rules at the top of this file."""
    text = without_thinking(reply)
    try:
        part = find_answer(text)
    except FormatError as error:
        return Choice(None, str(error))
    if part is None:
        concluded = _CONCLUSION.findall(text)
        part = concluded[-1] if concluded else text
    return _settled(part.strip(), choices)


def _settled(part: str, choices: tuple[str, ...]) -> Choice:
    if not part:
        return Choice(None, "the reply is empty")
    letters = ChoiceQuestion("", choices).letters
    bare = _BARE_LETTER.fullmatch(part)
    if bare:
        letter = bare[1].upper()
        known = letter in letters
        return Choice(letter, "its letter") if known else Choice(None, f"there is no choice {letter}")
    named = _letters_in(part, letters)
    if len(named) == 1:
        return Choice(named[0], "its letter")
    told = _format(part, choices)
    if len(told) == 1:
        return Choice(letters[told[0]], "its text")
    found = named or [letters[place] for place in told]
    return Choice(None, f"it names {' and '.join(found)}" if found else "it names no choice")


def _letters_in(part: str, letters: str) -> list[str]:
    words = _PUNCTUATION.sub(" ", part).split()
    following = [*words, ""][1:]
    return sorted(
        {
            word
            for word, after in zip(words, following, strict=True)
            if word in letters and len(word) == 1 and not _is_word(word, after)
        }
    )


def _is_word(letter: str, after: str) -> bool:
    """Whether an A is an article, or an I a person, by the word that follows."""
    return letter in _ALSO_WORDS and after[:1].islower() and after not in _BEHIND_LETTERS


def _format(part: str, choices: tuple[str, ...]) -> list[int]:
    """The places of the choices whose text stands in the part, longer ones first taken out of it."""
    rest = " ".join(part.casefold().split())
    found: list[int] = []
    for place in sorted(range(len(choices)), key=lambda place: -len(choices[place])):
        text = " ".join(choices[place].casefold().split()).rstrip(".")
        twins = [other for other in found if choices[other].casefold() == choices[place].casefold()]
        shorter = re.sub(rf"(?<!\w){re.escape(text)}(?!\w)", "\0", rest) if text else rest
        if shorter != rest or twins:
            found.append(place)
        rest = shorter
    return sorted(found)


def _list(text: str) -> ChoiceQuestion:
    markers: list[re.Match[str]] = []
    for marker in _MARKER.finditer(text):
        if marker[1] == chr(ord("A") + len(markers)):
            markers.append(marker)
        elif marker[1] == "A":
            markers = [marker]
    if len(markers) < 2:
        return ChoiceQuestion(text)
    line_end = text.find("\n", markers[-1].end())
    end = len(text) if line_end < 0 else line_end
    starts = [*(marker.start() for marker in markers[1:]), end]
    choices = tuple(
        text[m.end() : stop].strip().rstrip(";,") for m, stop in zip(markers, starts, strict=True)
    )
    if not all(choices):
        return ChoiceQuestion(text)
    stem = _HEADING.sub("", text[: markers[0].start()].rstrip()).rstrip()
    return ChoiceQuestion("\n".join(part for part in (stem, text[end:].strip()) if part), choices)


# ---- Get an answer out of a role: a letter where the question has choices, asked for once more where none came.


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
