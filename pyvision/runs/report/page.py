"""A run as one HTML page that opens offline: no request, no script, nothing of the run's data but text and pixels."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from pyvision.events import ModelCall, ImageDefined
from pyvision.runs.report.code import highlight_styles
from pyvision.runs.report.crops import CropFinder
from pyvision.runs.report.figures import Figures
from pyvision.runs.report.gallery import Gallery
from pyvision.runs.report.markup import Markup, element, join, render
from pyvision.runs.report.overview import overview, title_of
from pyvision.runs.report.run import Run, as_picture, pair_figures
from pyvision.runs.report.steps import turn_section
from pyvision.types import Picture

_HERE = Path(__file__).parent


def report(run: Run) -> str:
    """The page. Its own style sheet is named by its hash in the policy; any other style or script is refused."""
    figures = Figures(Gallery(pictures_of(run)), run.inputs, CropFinder(run.inputs))
    head, turns = overview(run, figures), _turns(run, figures)
    styles = ((_HERE / name).read_text(encoding="utf-8") for name in ("page.css", "blocks.css"))
    style = "".join(styles) + highlight_styles()
    began = run.began
    return render(
        (_HERE / "template.html").read_text(encoding="utf-8"),
        policy=_policy(style),
        style=Markup(style),
        title=title_of(run),
        strategy=" · ".join([began.strategy, *sorted(set(began.models.values()))])
        if began
        else "no beginning on record",
        folder=run.folder.name,
        overview=head,
        turns=turns,
        originals=figures.originals(),
    )


def pictures_of(run: Run) -> Iterator[Picture]:
    """Every picture that the page shows at full size."""
    yield from run.question.images
    for ran, names in pair_figures(run.events):
        for figure, named in zip(ran.result.figures, names, strict=True):
            yield named[1] if named else as_picture(figure)
    yield from (event.picture for event in run.events if isinstance(event, ImageDefined))


def _turns(run: Run, figures: Figures) -> Markup:
    before: dict[str, ModelCall] = {}
    sections = []
    for turn in run.turns:
        role = turn.asked.role if turn.asked else ""
        sections.append(turn_section(turn, before.get(role), figures, run.events))
        if turn.asked:
            before[role] = turn.asked
    return join(*sections) if sections else element("p", "Nothing happened in this run.", class_="facts")


def _policy(style: str) -> str:
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
