"""The blocks of a question as HTML: images that open large, cells folded to one line, the answer with its buttons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pyvision.demo.markdown import render_line, render_markdown
from pyvision.events import CellRun, ModelCall, RunEnded
from pyvision.pages.markup import Markup, count, element, fold, shorten
from pyvision.runs.report.crops import Crop
from pyvision.runs.report.figures import draw_map
from pyvision.runs.report.turns import error_block, output_block
from pyvision.runs.run import Names, ending
from pyvision.text.replies import find_thought
from pyvision.trajectory import picture_file
from pyvision.types import Outcome, Picture

Address = Callable[[str], str]  # where a browser finds a file of the run

_SHORT_CHARS = 60  # up to which an answer is set in large type
_LINE_CHARS = 90  # of the line that stands for a folded cell
_STATUS = {"ok": "Ran", "error": "Failed", "timeout": "Timed out", "died": "Kernel died"}
_SPEAKERS = ("default", "solver")  # the roles whose replies are shown open


def figure(name: str, picture: Picture, url: str, *, is_small: bool = False) -> Markup:
    """An image that a click or key opens large."""
    size = f"{picture.width} × {picture.height} px"
    image = element(
        "img", src=url, alt=f"{name}, {size}", width=picture.width, height=picture.height, loading="lazy"
    )
    if is_small:
        return image
    button = element(
        "button", image, type="button", class_="chat-image", data_name=name, title=f"Enlarge {name}"
    )
    return element("figure", button, element("figcaption", element("b", name), f" {size}"))


def error_message(text: str) -> Markup:
    """An error of the question."""
    return element("p", f"Error: {text}", class_="bad", role="alert")


class Images:
    """Shows images by address. A crop is not located in its original: the report does that."""

    inputs: Mapping[str, Picture] = {}

    def __init__(self, address: Address) -> None:
        self._address = address

    def url(self, picture: Picture) -> str:
        return self._address(picture_file(picture))

    def figure(self, name: str, picture: Picture) -> Markup:
        return figure(name, picture, self.url(picture))

    def thumbnail(self, name: str, picture: Picture) -> Markup:
        return self.figure(name, picture)

    def boxes(self, crops: Sequence[Crop], title: str = "Crops in the code") -> Markup | None:
        return None


def boxes_on(
    originals: Mapping[str, Picture], urls: Mapping[str, str], name: str, crops: Sequence[Crop]
) -> Markup:
    """Boxes on an image of the question."""
    size = {"width": originals[name].width, "height": originals[name].height}
    return draw_map(name, originals[name], element("image", href=urls[name], **size), crops)


def reply_block(call: ModelCall) -> Markup | None:
    """The prose of a reply; that of a role beside the solver is folded."""
    text = find_thought(call.reply.text)
    if call.role in _SPEAKERS or not text:
        return prose(text)
    return fold(f"{call.role}: {shorten(text, _LINE_CHARS)}", prose(text))


def prose(text: str) -> Markup | None:
    return element("div", render_markdown(text), class_="chat-prose") if text else None


def cell_line(
    ran: CellRun, names: Names, images: Images, highlighter: Callable[[str], Markup], cell: int | None
) -> Markup:
    """A cell as one line, which unfolds to code, output and figures."""
    result, lines = ran.result, ran.code.count("\n") + 1
    lost = "all variables were lost, the images were loaded again · " if result.state == "lost" else ""
    last_image = next((named for named in reversed(names) if named), None)
    summary = element(
        "summary",
        element("span", _STATUS[result.status], class_=f"status {result.status}"),
        element("code", _describe(ran.code), class_="chat-line"),
        element("small", f"{lost}{count(lines, 'line')} · {result.seconds:.1f} s"),
        figure(*last_image, images.url(last_image[1]), is_small=True) if last_image else None,
    )
    edit = (
        element("button", "Edit", type="button", data_act="edit-cell", data_cell=cell)
        if cell is not None
        else None
    )
    return element(
        "details",
        summary,
        element(
            "div", element("button", "Copy", type="button", data_act="copy-code"), edit, class_="chat-tools"
        ),
        element(
            "pre",
            element("code", highlighter(ran.code)),
            class_="code",
            tabindex=0,
            aria_label="code of the cell",
        ),
        output_block(ran, names, images),
        class_="chat-cell",
    )


def _describe(code: str) -> str:
    """The line of a cell that says most: its first comment, else the first line that is no import."""
    lines = [line.strip() for line in code.splitlines() if line.strip()]
    comments = [line.lstrip("# ") for line in lines if line.startswith("#") and line.lstrip("# ")]
    others = [line for line in lines if not line.startswith(("import ", "from ", "#"))]
    return shorten(next(iter((*comments, *others, *lines)), "empty cell"), _LINE_CHARS)


def outcome_block(ended: RunEnded, evidence: Markup | None, number: int, files: Sequence[Markup]) -> Markup:
    facts = [count(ended.turns, "turn"), count(ended.cells, "cell"), f"{ended.seconds:.1f} s"]
    if ended.usage.total:
        facts.append(f"{ended.usage.total:,} tokens")
    if ended.cost is not None:
        facts.append(f"{ended.cost:.4f} cost")
    answer = ended.outcome.answer
    copy = element("button", "Copy", type="button", data_act="copy") if answer is not None else None
    return element(
        "section",
        *_answer(ended.outcome),
        evidence,
        element("div", copy, retry_button(number), *files, class_="chat-actions"),
        element("p", " · ".join(facts), class_="facts"),
        class_="chat-outcome",
        aria_label="Answer",
    )


def _answer(outcome: Outcome) -> Iterator[Markup | None]:
    if outcome.answer is None:
        yield element("p", f"No answer: {why_none(outcome)}.", class_="bad")
        yield error_block(outcome) if outcome.end_reason != "interrupted" else None
        return
    if outcome.is_last_resort:
        yield element("p", "No answer was marked; this is the whole last reply.", class_="facts")
    text = outcome.answer.strip()
    is_line = "\n" not in text
    rendered = render_line(text) if is_line else render_markdown(text)
    size = "short" if is_line and len(text) <= _SHORT_CHARS else None
    yield element(
        "div", rendered, class_=" ".join(filter(None, ("chat-answer", size))), data_copy=outcome.answer
    )
    yield element("p", outcome.error, class_="facts") if outcome.error else None


def why_none(outcome: Outcome) -> str:
    """The reason that there is no answer; an interrupt also says what it interrupted."""
    text = ending(outcome.end_reason).text
    return outcome.error or text if outcome.end_reason == "interrupted" else text


def retry_button(number: int) -> Markup:
    return element("button", "Retry", type="button", data_act="retry", data_question=number)


def download_link(url: str, label: str) -> Markup:
    return element("a", label, href=url, target="_blank", rel="noopener")
