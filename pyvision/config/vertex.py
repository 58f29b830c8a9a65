"""Gemini on Vertex AI: a project and a location of Google Cloud, in place of an address and a key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pyvision.errors import ConfigError

VERTEX_LOGIN = "gcloud auth application-default login"
VERTEX_VARIABLES = ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION")
_EVERYWHERE = "global"
_REGIONS_TOGETHER = ("us", "eu")  # whose hosts are named in another way
_PROJECT = re.compile(r"[a-z0-9][a-z0-9.:-]{0,99}")
_LOCATION = re.compile(r"[a-z][a-z0-9-]{0,39}")


@dataclass(frozen=True, slots=True)
class Vertex:
    """Where the model runs. project: its id. location: a region, such as `europe-west4`, `us`, `eu` or `global`.

    None: GOOGLE_CLOUD_PROJECT, and GOOGLE_CLOUD_LOCATION or `global`.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}  # an unknown key of the file is an error

    project: str | None = None
    location: str | None = None

    def fill(self, environ: Mapping[str, str], source: str) -> Vertex:
        """With what the environment adds. Raises ConfigError for what is missing or cannot be in an address."""
        project, location = (environ.get(name) for name in VERTEX_VARIABLES)
        filled = Vertex(self.project or project, self.location or location or _EVERYWHERE)
        if not filled.project:
            raise ConfigError(
                f"{source}: Vertex AI needs the id of a project; set GOOGLE_CLOUD_PROJECT, or "
                '"vertex": {"project": …} in a configuration'
            )
        if not _PROJECT.fullmatch(filled.project):
            raise ConfigError(f"{source}: project {filled.project!r} is not the id of a Google Cloud project")
        if not _LOCATION.fullmatch(filled.location or ""):
            raise ConfigError(
                f"{source}: location {filled.location!r} is not one such as europe-west4 or global"
            )
        return filled

    def address(self, base_url: str | None) -> str:
        """The address of its models; base_url: a host to use in place of Google's."""
        place = f"projects/{self.project}/locations/{self.location}/publishers/google"
        return f"{(base_url or self._host).rstrip('/')}/v1/{place}"

    def list_address(self, base_url: str | None) -> str:
        """The address of the list of Google's models, which is the same for all projects."""
        return f"{(base_url or self._host).rstrip('/')}/v1beta1/publishers/google/models"

    @property
    def _host(self) -> str:
        if self.location in (None, _EVERYWHERE):
            return "https://aiplatform.googleapis.com"
        if self.location in _REGIONS_TOGETHER:
            return f"https://aiplatform.{self.location}.rep.googleapis.com"
        return f"https://{self.location}-aiplatform.googleapis.com"
