"""Ask the roles of a debate and read their answers: a letter if the question has choices, else free text.

Rules for a letter (after VLMEvalKit's, arXiv 2407.11691, which the paper's code uses), in this order:
* If `replies.find_answer` finds an answer, only that counts; else what follows the last "answer is" or "answer:"; else
  the whole reply.
* Exactly one letter of a choice among the words. `A` and `I` before a lower-case word are words: here we differ from
  the original, which reads "A baby is pulling" as choice A.
* Else exactly one choice whose text occurs in the reply. If one choice contains another, the longer one counts unless
  the shorter one also occurs by itself: the original finds both and gives up.
A reply that names no choice, or two, is asked for once more; the original then takes a random choice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pyvision.agent.asking import RoleTurn, follow, read_or_ask_again, send, settle
from pyvision.agent.episode import Episode
from pyvision.errors import ConfigError, FormatError
from pyvision.text.answers import Missing, answer_without_form
from pyvision.text.prompts import render
from pyvision.text.replies import find_answer, without_thinking
from pyvision.types import Answer, Message, Picture, Question, Reply, Text

_MAX_CHOICES = 26  # one for each letter
_MARKER = re.compile(r"(?:^|(?<=\s))[(\[]?([A-Z])[.):\]](?=\s)[ \t]*")
_HEADING = re.compile(r"(?:\b(?:answer\s+)?(?:options|choices)\b[^\n:]*:?)\s*\Z", re.IGNORECASE)
_CONCLUSION = re.compile(r"\banswer\s*(?:is|:|would be)\s*:?\s*(.+)", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[.()\[\],:;!*#{}\"'`?]")
_BARE_LETTER = re.compile(r"[\s(\[*\"']*([A-Za-z])[\s.)\]*:\"']*")
_ALSO_WORDS = {"A", "I"}
_AFTER_LETTERS = {"and", "or", "nor", "but", "is", "because", "since", "as", "if", "not"}


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A question without its choices, and the choices. text: includes the context."""

    text: str
    choices: tuple[str, ...] = ()

    @property
    def letters(self) -> str:
        """A, B, C …, one for each choice."""
        return "".join(chr(ord("A") + place) for place in range(len(self.choices)))

    @property
    def full_text(self) -> str:
        """The text with the choices below it."""
        return Question(self.text, choices=self.choices).full_text


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice that a reply makes. letter: None if it makes none; why: how it was found, or why there is none."""

    letter: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer of a role, or why it gave none, and the turn in which it did so."""

    answer: Answer
    turn: RoleTurn


@dataclass(frozen=True, slots=True)
class RoleClient:
    """Asks the roles about one question: each request is a separate conversation, the images before the prompt.

    personalities: role -> the name of its personality, or `none`.
    """

    question: ChoiceQuestion
    images: tuple[Picture, ...]
    episode: Episode
    personalities: Mapping[str, str]

    def ask(self, role: str, prompt: str, **variables: object) -> RoleTurn:
        """Send a prompt of prompts/bdog to a role. Raises LimitReached and ModelError, as Episode.ask does."""
        message = Message("user", (*self.images, Text(render(f"bdog/{prompt}.md", **variables))))
        return send(self.episode, role, (*self._personality(role), message))

    def follow(self, turn: RoleTurn, prompt: str, **variables: object) -> RoleTurn:
        """Ask the same role again, in the same conversation."""
        return follow(self.episode, turn, render(f"bdog/{prompt}.md", **variables))

    def _personality(self, role: str) -> tuple[Message, ...]:
        name = self.personalities.get(role, "none")
        if name == "none":
            return ()
        return (Message("system", (Text(render(f"bdog/personalities/{name}.md")),)),)


def parse_choices(question: Question) -> ChoiceQuestion:
    """The question and its choices; if none are given, those listed in its text as `A. …` or `(A) …`.

    Raises ConfigError for more choices than there are letters.
    """
    if len(question.choices) > _MAX_CHOICES:
        raise ConfigError(f"the question has {len(question.choices)} choices; the limit is {_MAX_CHOICES}")
    text = "\n".join(part for part in (question.context, question.text) if part)
    return ChoiceQuestion(text, question.choices) if question.choices else _parse_listed(text)


def format_ending(question: ChoiceQuestion) -> str:
    """The last line of a prompt, which asks for an answer in a certain form."""
    if question.choices:
        return render("bdog/ending_choice.md", letters=", ".join(question.letters))
    return render("bdog/ending_free.md")


def decide(client: RoleClient, role: str, prompt: str, **variables: object) -> Decision:
    """Send a prompt that asks for an answer to a role; `ending` is filled in here."""
    return decide_from(client, client.ask(role, prompt, ending=format_ending(client.question), **variables))


def decide_from(client: RoleClient, turn: RoleTurn) -> Decision:
    """The answer in a reply. If there is none, the role is asked once more, unless the budget does not allow it."""
    if not client.question.choices:
        return Decision(*settle(client.episode, turn))

    def read(reply: Reply) -> Answer | Missing:
        return _read_choice(reply, client.question.choices)

    def repair(why: str) -> str:
        return render("bdog/no_choice.md", why=why, letters=", ".join(client.question.letters))

    found, turn = read_or_ask_again(client.episode, turn, read, repair)
    return Decision(_no_choice(turn, found.why) if isinstance(found, Missing) else found, turn)


def find_choice(reply: str, choices: tuple[str, ...]) -> Choice:
    """The choice that a reply makes, by the rules at the top of this file; never a guess."""
    text = without_thinking(reply)
    try:
        part = find_answer(text)
    except FormatError as error:
        return Choice(None, str(error))
    if part is None:
        conclusions = _CONCLUSION.findall(text)
        part = conclusions[-1] if conclusions else text
    return _choice_in(part.strip(), choices)


def _read_choice(reply: Reply, choices: tuple[str, ...]) -> Answer | Missing:
    if reply.finish == "refusal":
        return Missing("it refused")
    choice = find_choice(reply.text, choices)
    return Answer(choice.letter) if choice.letter else Missing(choice.why)


def _no_choice(turn: RoleTurn, why: str) -> Answer:
    answer = answer_without_form(turn.reply)
    if answer.text is None and answer.end_reason != "no_answer":
        return answer
    return Answer(None, "no_answer", remark=f"the {turn.role} gave no answer: {why}")


def _choice_in(part: str, choices: tuple[str, ...]) -> Choice:
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
    quoted = _places_in(part, choices)
    if len(quoted) == 1:
        return Choice(letters[quoted[0]], "its text")
    found = named or [letters[place] for place in quoted]
    return Choice(None, f"it names {' and '.join(found)}" if found else "it names no choice")


def _letters_in(part: str, letters: str) -> list[str]:
    tokens = _PUNCTUATION.sub(" ", part).split()
    following = [*tokens, ""][1:]
    return sorted(
        {
            token
            for token, after in zip(tokens, following, strict=True)
            if token in letters and len(token) == 1 and not _is_word(token, after)
        }
    )


def _is_word(letter: str, after: str) -> bool:
    """Whether an A is an article, or an I a pronoun, judged by the word that follows."""
    return letter in _ALSO_WORDS and after[:1].islower() and after not in _AFTER_LETTERS


def _places_in(part: str, choices: tuple[str, ...]) -> list[int]:
    """The indices of the choices whose text occurs in the part; longer choices are removed from it first."""
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


def _parse_listed(text: str) -> ChoiceQuestion:
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
