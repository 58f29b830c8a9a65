"""Serve a study page with tools that have fixed outputs:
python -m tests.experiments.avis_study.served DATASET LOG.
"""

from __future__ import annotations

import signal
import sys
from contextlib import closing, suppress
from pathlib import Path

from pyvision.bench.datasets.sources import find_source
from pyvision.experiments.avis_study.serve import Study, StudyOptions
from pyvision.experiments.avis_study.toolbox import StudyToolbox
from tests.experiments.avis_study.doubles import FakeTool, box, boxes
from tests.payloads import PAYLOADS

HOSTILE = "\n".join(PAYLOADS)
TOOLS = (
    FakeTool("detect", data=boxes(box((5, 5, 40, 40), "tower"), box((60, 50, 110, 85), f"bridge {HOSTILE}"))),
    FakeTool("caption", "a tower by a river"),
    FakeTool("vqa", fails="the service is down"),
    FakeTool("identical_image", "Retrievals: [\n  Tower of Velt (score=97.3),\n]"),
    FakeTool("similar_image", HOSTILE),
    FakeTool("document", "Knowledge: [\n  Title: Velt\n  Content: built in 1664,\n]"),
    FakeTool("llm_qa", "1664"),
)


def main(dataset: str, log: str) -> None:
    """Serve until SIGINT, also if started in the background of a shell, which ignores that signal."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    samples = tuple(find_source(dataset, count=1, seed=0, difficulty=0.5).samples())
    toolbox = StudyToolbox({tool.name: tool for tool in TOOLS})
    with closing(Study(StudyOptions(Path(log), samples, port=0), toolbox)) as study:
        print(study.url, flush=True)  # noqa: T201
        with suppress(KeyboardInterrupt):
            study.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
