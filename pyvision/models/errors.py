"""Map the errors of an endpoint and its connection to ModelError, in one place; no message ever holds a key.

status                              kind            worth a retry
400, 404, 413, 422, context text    context         no: the conversation is longer than the model can read
401, 403, 400 for a bad key         auth            no (another key is tried first)
402, 429 with a quota text          quota           no (the same)
404                                 unknown_model   no
413                                 too_large       no
429                                 rate            yes, after Retry-After or the delay in the error
408, 409, 425, 5xx                  other           yes
other 4xx                           other           no
no connection, reset, half a body, silence          yes (a local server that was never there, a host that no
                                                    name server knows: no)
200 with HTML, broken JSON, an error, no reply      yes, unless the error in it has one of the kinds above
200 with invalid UTF-8, too much of anything        yes
"""

from __future__ import annotations

import json
import math
import re
import socket
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from pyvision.config.model_config import ModelConfig, is_local, without_credentials
from pyvision.config.secret_fields import secrets
from pyvision.config.vertex import VERTEX_LOGIN
from pyvision.errors import ErrorKind, ModelError
from pyvision.text.redaction import REDACTED, Redactor
from pyvision.text.sanitize import parse_json, printable

_LONGEST_DETAIL = 300
_MAX_JSON_VALUES = 400_000  # no thread runs while JSON is parsed: 0.1 s of nothing but brackets
_MAX_ERROR_CHARS = 64 << 10
_SECONDS = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|key)-[\w*.…-]{4,}|(?<=Bearer )\S+|\bya29\.[\w.-]+", re.I)
_QUOTA = re.compile(
    r"insufficient_quota|exceeded your current quota|billing_hard_limit|credit balance|insufficient credits",
    re.I,
)
_CONTEXT = re.compile(
    r"context_length_exceeded|(?:maximum|model's|available) context|context (?:length|window|size)|prompt is too long"
    r"|input is too long|maximum model length|too many tokens|reduce the length of the messages|max_seq_len"
    r"|input token count",
    re.I,
)
_TOOLS = re.compile(
    r"\b(?:tools?|tool_choice|[Ff]unction calling|function_declarations|functionDeclarations)\b"
)
_NOT_TAKEN = re.compile(
    r"support|requires|unrecognized|unknown (?:name|field|param)|not permitted|not allowed|not enabled"
    r"|not available",
    re.I,
)
_BAD_KEY = re.compile(r"API_KEY_INVALID|API key (?:not valid|expired)", re.I)  # Gemini sends 400 for it
_PER_DAY = re.compile(r"PerDay", re.I)
_AGAIN = re.compile(r"overloaded|unexpected end of data|try again", re.I)

# status -> (worth a retry, kind, what it means and what to do)
_STATUSES: Mapping[int, tuple[bool, ErrorKind, str]] = {
    400: (False, "other", "the request was refused (400)"),
    401: (False, "auth", "the key was refused (401); set {key}"),
    402: (False, "quota", "the quota of this key is used up (402)"),
    403: (False, "auth", "the key may not use this model (403); set {key} or choose another model"),
    404: (False, "unknown_model", "no such model or address (404); check the model id and base_url"),
    408: (True, "other", "the endpoint timed out (408)"),
    409: (True, "other", "the endpoint reports a conflict (409)"),
    413: (False, "too_large", "the request is too large (413); send fewer or smaller images"),
    422: (False, "other", "the request was refused (422)"),
    425: (True, "other", "the endpoint is not ready (425)"),
    429: (True, "rate", "too many requests (429)"),
}
_VERTEX_STATUSES = {
    401: f"the token was refused (401); run '{VERTEX_LOGIN}' again",
    403: "this account may not use the model (403); give it the role roles/aiplatform.user in the project",
    404: "no such model in this location (404); check the model id, and GOOGLE_CLOUD_LOCATION",
}


class ErrorMapper:
    """Maps the errors of one model behind one endpoint."""

    def __init__(self, config: ModelConfig, sdk: ModuleType) -> None:
        self._config = config
        self._sdk: Any = sdk
        self._redactor = Redactor(secrets(config))
        self.where = f"{config.model} at {without_credentials(config.address)}"
        self._host = urlsplit(config.address).netloc.rpartition("@")[2]

    def error(self, message: str, *, retry: bool = True, kind: ErrorKind = "other") -> ModelError:
        """The ModelError for a response with status 200 that holds no reply."""
        return ModelError(
            f"{self.where}: {message}", retry=retry, kind=kind, brief=f"{self._host}: {message}"
        )

    def from_response(self, error: Exception, *, reached: bool, too_slow: str) -> ModelError:
        """The ModelError for what the SDK or the connection raised.

        reached: the endpoint has answered before. too_slow: the message for a timeout.
        """
        import httpx2

        cause = error.__cause__ if isinstance(error, self._sdk.APIConnectionError) else error
        match cause:
            case self._sdk.APIStatusError():
                return self._of_status(cause)
            case self._sdk.APITimeoutError() | httpx2.TimeoutException():
                return self.error(too_slow)
            case httpx2.ConnectError():
                hint = "" if reached else self._missing(cause)
                return self.error(f"cannot be reached ({self.redact(str(cause))}){hint}", retry=not hint)
            case httpx2.DecodingError():
                return self.error(f"did not return a valid reply: {self.redact(str(cause))}")
            case None | httpx2.HTTPError() | OSError():
                return self.error(f"cannot be reached ({self.redact(str(cause or error))})")
            case _:
                return self.error(self.redact(str(cause)))

    def _missing(self, error: BaseException) -> str:
        """What to check where it makes no sense to try a first connection again; empty where it does."""
        if is_local(self._config.address):
            return "; is the server running?"
        chain: list[BaseException] = [error]
        while cause := chain[-1].__cause__ or chain[-1].__context__:
            chain.append(cause)
        is_unknown = any(
            isinstance(each, socket.gaierror) and each.errno == socket.EAI_NONAME for each in chain
        )
        return "; check the address and the network" if is_unknown else ""

    def of_body(self, body: object) -> ModelError:
        """The ModelError for an error that came with status 200, as a whole body or in mid-stream."""
        text = _full_text(body)
        kind = _kind(text, None)
        message = body.get("message", body) if isinstance(body, dict) else body
        error = f"answered with an error: {self.redact(_full_text(message))}"
        return self.error(error, retry=kind == "other", kind=kind)

    def redact(self, text: str) -> str:
        """One line without control characters, keys, and anything that looks like one: endpoints echo parts of keys."""
        text = self._redactor.text(" ".join(printable(self._redactor.text(text)).split()))
        return _KEY_LIKE.sub(REDACTED, text)[:_LONGEST_DETAIL]

    def _of_status(self, error: Any) -> ModelError:
        status: int = error.status_code
        retry, usual, meaning = _STATUSES.get(
            status, (status >= 500, "other", f"the endpoint failed ({status})")
        )
        meaning = _VERTEX_STATUSES.get(status, meaning) if self._config.vertex else meaning
        text = _full_text(error.body) or str(error.message)
        kind = _kind(text, status) if status not in {401, 403} else "auth"
        retry_after_s = _retry_after(error.response.headers) or _retry_delay(error.body)
        if status == 429 and kind == "quota" and _retry_delay(error.body) and not _PER_DAY.search(text):
            kind = "other"  # Gemini words a limit per minute as a quota too, and says when it ends
        if status == 400 and _BAD_KEY.search(text):
            kind, meaning = "auth", _STATUSES[401][2].replace("401", "400")
        elif kind == "quota":
            retry, meaning = False, f"the quota of this key is used up ({status})"
        elif kind == "context":
            retry, meaning = False, f"the conversation is too long for this model ({status})"
        elif kind == "tools":
            retry = False
        elif status == 400 and _AGAIN.search(text):
            retry = True
        message = meaning.format(key=self._config.api_key_env or "PYVISION_API_KEY")
        detail = self.redact(_detail(error.body))
        return ModelError(
            f"{self.where}: {message}" + (f": {detail}" if detail else ""),
            retry=retry,
            retry_after_s=retry_after_s if retry else None,
            kind=usual if kind == "other" else kind,
            brief=f"{status} from {self._host}",
        )


def decode_body(body: str, error_mapper: ErrorMapper) -> dict[str, Any]:
    """The JSON object that an endpoint answered with. Raises ModelError for anything else, and for an error in it."""
    values = sum(map(body.count, ",[{"))
    if values > _MAX_JSON_VALUES:
        raise error_mapper.error(f"answered with JSON of {values:,} values; too many for a reply")
    try:
        data = parse_json(body)
    except (ValueError, RecursionError):
        start = error_mapper.redact(body[:60])
        raise error_mapper.error(f"did not answer with JSON: {start!r}") from None
    if not isinstance(data, dict):
        raise error_mapper.error(f"answered with a JSON {type(data).__name__}, not an object")
    if error := data.get("error"):
        raise error_mapper.of_body(error)
    return data


def complaint(error: Any) -> tuple[str, str | None]:
    """What the endpoint says is wrong with a request: its whole text, and the parameter if it names one."""
    nested = _nest(error.body)
    param = nested.get("param") if isinstance(nested, dict) else None
    return _full_text(error.body) or str(error.message), param if isinstance(param, str) and param else None


def _kind(text: str, status: int | None) -> ErrorKind:
    if _QUOTA.search(text) and status in {None, 400, 402, 403, 429}:
        return "quota"
    if _CONTEXT.search(text) and status in {None, 400, 404, 413, 422, 500}:
        return "context"
    if _TOOLS.search(text) and _NOT_TAKEN.search(text) and status in {None, 400, 404, 422, 500, 501}:
        return "tools"
    return "other"


def _nest(body: object) -> object:
    """The error itself: one SDK passes the whole body, the other the content of its `error`."""
    return body.get("error", body) if isinstance(body, dict) else body


def _full_text(body: object) -> str:
    try:
        text = "" if body is None else json.dumps(body) if isinstance(body, dict | list) else str(body)
    except RecursionError:  # it was read just below the limit
        return ""
    return text[:_MAX_ERROR_CHARS]


def _detail(body: object) -> str:
    """The message of the server, if it sent JSON: HTML pages are of no help."""
    nested = _nest(body)
    if isinstance(nested, dict):
        return _full_text(nested.get("message") or nested.get("detail"))
    return str(nested) if isinstance(body, dict) else ""


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (a number or a date); None unless it is some time."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return _some_time(float(headers[name]) * unit_s)
        except (KeyError, ValueError):
            continue
    try:
        return _some_time(parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time())
    except (KeyError, ValueError, OverflowError, OSError):  # a year that no clock has
        return None


def _retry_delay(body: object) -> float | None:
    """Seconds to wait, as the details of a Google API's error say it (`"retryDelay": "34s"`)."""
    nested = _nest(body)
    details = nested.get("details") if isinstance(nested, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and (found := _SECONDS.fullmatch(delay)):
            return _some_time(float(found[1]))
    return None


def _some_time(seconds: float) -> float | None:
    """None for zero, a time that is past, infinity and NaN: waits of our own choice follow instead."""
    return seconds if 0 < seconds < math.inf else None
