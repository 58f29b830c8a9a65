"""Serve the study page on this machine until it is interrupted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyvision.bench.samples import Sample
from pyvision.experiments.avis_study.log import Log, list_answered, read_log
from pyvision.experiments.avis_study.sessions import TabRegistry, TaskQueue
from pyvision.experiments.avis_study.toolbox import StudyToolbox
from pyvision.pages.server import PageServer

_STYLE = Path(__file__).parent / "study.css"


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """How the page is served. everyone: each participant gets every question, not a share.

    max_concurrent: how many events of the page are handled at the same time.
    """

    log: Path
    samples: Sequence[Sample]
    host: str = "127.0.0.1"
    port: int = 7861
    everyone: bool = False
    max_concurrent: int = 8


class Study:
    """A page being served; the caller closes the toolbox.

    Raises MissingExtra, ConfigError for its address, or RunFolderError for its log.
    """

    def __init__(self, options: StudyOptions, toolbox: StudyToolbox) -> None:
        self._server = PageServer(options.host, options.port)
        self._log = Log(options.log)
        try:
            closed = list_answered(read_log(options.log).attempts)
            queue = TaskQueue(options.samples, closed, everyone=options.everyone)
            self._sessions = TabRegistry(queue, toolbox, self._log)
            self.url = self._launch(options)
        except BaseException:
            self.close()
            raise

    def wait(self) -> None:
        """Block until KeyboardInterrupt."""
        self._server.wait()

    def close(self) -> None:
        """Stop serving and close the log. Idempotent."""
        self._server.close()
        self._log.close()

    def _launch(self, options: StudyOptions) -> str:
        from pyvision.experiments.avis_study.page import StudyPage

        blocks = StudyPage(self._sessions, options.max_concurrent).blocks.queue(max_size=200)
        _, url = self._server.launch(blocks, css=_STYLE.read_text(encoding="utf-8"))
        return url
