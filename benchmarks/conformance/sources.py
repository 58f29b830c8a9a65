"""Files of public repositories at one commit, read with git and never kept in this one."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

GITHUB = "https://github.com/{owner}/{name}"


class SourceError(Exception):
    """A repository or a file of it cannot be had here."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Repositories by OWNER/NAME@COMMIT.

    address: where they are, with {owner} and {name}: URLs, from which files are fetched once, or git folders, which
    are read in place.
    """

    folder: Path
    address: str = GITHUB

    def read(self, repository: str, path: str) -> bytes:
        """A file's content. Raises SourceError."""
        name, _, commit = repository.partition("@")
        return _git(self._fetch(name, commit), "cat-file", "blob", f"{commit}:{path}")

    def find(self, repository: str, under: str, suffix: str) -> tuple[str, ...]:
        """The paths of the files below a folder with that ending, in order. Raises SourceError."""
        name, _, commit = repository.partition("@")
        listed = _git(self._fetch(name, commit), "ls-tree", "-rz", "--name-only", commit, "--", under)
        paths = [path.decode(errors="replace") for path in listed.split(b"\0") if path]
        return tuple(path for path in paths if path.endswith(suffix))

    def _fetch(self, name: str, commit: str) -> Path:
        owner, _, repository = name.partition("/")
        address = self.address.format(owner=owner, name=repository)
        if Path(address).is_dir():
            return Path(address)
        folder = self.folder / f"{owner}+{repository}.git"
        if not (folder / "HEAD").exists():
            folder.mkdir(parents=True, exist_ok=True)
            _git(folder, "init", "--quiet", "--bare")
            _git(folder, "config", "remote.origin.url", address)
            _git(folder, "config", "remote.origin.promisor", "true")
            _git(folder, "config", "remote.origin.partialclonefilter", "blob:none")
        if not _has(folder, commit):
            _git(folder, "fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", commit)
        return folder


def _has(folder: Path, commit: str) -> bool:
    try:
        _git(folder, "cat-file", "-e", f"{commit}^{{tree}}")
    except SourceError:
        return False
    return True


def _git(folder: Path, *arguments: str) -> bytes:
    command = ["git", "-C", str(folder), "-c", "safe.directory=*", *arguments]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise SourceError(
            f"{folder.name}: git {arguments[0]}: {done.stderr.decode(errors='replace').strip()[:200]}"
        )
    return done.stdout
