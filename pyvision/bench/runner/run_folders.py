"""The run folders of an experiment: one for each attempt at a sample, which share their images and configuration.

What is the same in all of them is a hard link: creating a file is what costs a file system most.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from pyvision.bench.runner.answering import Job
from pyvision.bench.store import PICTURES, RUNS, explain_errors
from pyvision.config.files import write_atomic
from pyvision.errors import RunFolderError
from pyvision.events import Event, RunEnded
from pyvision.trajectory import CONFIG, IMAGES, read_trajectory, write_events

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_CHARS = 60
_ATTEMPT = re.compile(r"-attempt(\d+)$")


def run_name(job: Job) -> str:
    """The folder of a job's trajectory: readable, and unique for every sample id."""
    again = f"-attempt{job.attempt}" if job.attempt > 1 else ""
    return first_run_name(job) + again


def first_run_name(job: Job) -> str:
    """The folder of the first attempt at the job's sample."""
    readable = _UNSAFE.sub("_", job.sample.id).strip("._")[:_NAME_CHARS] or "sample"
    hashed = sha256(job.sample.id.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    return f"{readable}-{hashed}-{job.repeat}"


def attempt_of(run: str) -> int:
    """The attempt that `run_name` put into the name."""
    found = _ATTEMPT.search(run)
    return int(found[1]) if found else 1


class RunFolders:
    """The run folders in the folder of an experiment; may be used in any thread. Raises RunFolderError.

    configuration: that of the experiment, without secrets. secrets: redacted in every text.
    """

    def __init__(self, folder: Path, configuration: Mapping[str, Any], secrets: tuple[str, ...] = ()) -> None:
        self._folder = folder
        self._configuration = configuration
        self._secrets = secrets
        self._runs = folder / RUNS
        self._images_link = folder / IMAGES  # then that of a run
        with explain_errors(folder):
            (folder / PICTURES).mkdir(exist_ok=True)
            self._runs.mkdir(exist_ok=True)
            content = json.dumps(configuration, ensure_ascii=False, indent=2)
            write_atomic(folder / CONFIG, content.encode("utf-8", "replace"))

    def write(self, run: str, events: Sequence[Event]) -> None:
        """Write the trajectory of a run that is over."""
        folder = self._runs / run
        with explain_errors(self._folder):
            try:
                folder.mkdir()
            except FileExistsError:  # left without a record by a killed runner
                shutil.rmtree(folder)
                folder.mkdir()
            self._link_images(folder / IMAGES)
            _link_or_copy(self._folder / CONFIG, folder / CONFIG)
        write_events(folder, events, secrets=self._secrets)

    def read_complete(self, run: str) -> tuple[Event, ...]:
        """The events of a run of this configuration; none if it is incomplete or of another one."""
        folder = self._runs / run
        try:
            if json.loads((folder / CONFIG).read_bytes()) != self._configuration:
                return ()
            events = read_trajectory(folder).events
        except (OSError, ValueError, RunFolderError):
            return ()
        return events if events and isinstance(events[-1], RunEnded) else ()

    def by_first_attempt(self, *, without: frozenset[str] | set[str]) -> Mapping[str, Sequence[str]]:
        """Name of the first attempt -> the names of all attempts that have a folder, but for some."""
        found: dict[str, list[str]] = {}
        with explain_errors(self._folder):
            names = {path.name for path in self._runs.iterdir()}
        for name in names - without:
            found.setdefault(_ATTEMPT.sub("", name), []).append(name)
        return found

    def _link_images(self, path: Path) -> None:
        """Link to the folder of all images, by one symbolic link with many names."""
        try:
            os.link(self._images_link, path, follow_symlinks=False)
        except OSError:  # it is the first, or has as many names as the file system allows
            path.symlink_to(Path("..", "..", PICTURES), target_is_directory=True)
            self._images_link = path


def _link_or_copy(source: Path, target: Path) -> None:
    """Give the file a second name, or copy it where the file system has no hard links."""
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copyfile(source, target)
