"""Addresses of endpoints: the usual ones, which are on this machine, and how they may be shown."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit, urlunsplit

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"
GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta"


def is_local(base_url: str | None) -> bool:
    """Whether the endpoint runs on this machine, and so is assumed to need no key."""
    host = urlsplit(base_url or OPENAI_URL).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified


def without_credentials(url: str) -> str:
    """The address without the name, the password and the query that may stand in it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.rpartition("@")[2]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def is_web_address(url: str) -> bool:
    """Whether it is a usable http or https address."""
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, brackets that do not match
        return False
