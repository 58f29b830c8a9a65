"""The tokens of Vertex AI, from Application Default Credentials: a login with gcloud, a key file, or the machine's own.

`google-auth` finds the credentials and refreshes a token before it expires. A token is kept in memory alone.

Not covered: client certificates (mTLS), and keys of Vertex AI's express mode.
"""

from __future__ import annotations

import threading
import warnings
from functools import partial
from importlib.util import find_spec
from typing import Any

from pyvision.config.model_config import ModelConfig
from pyvision.config.vertex import VERTEX_LOGIN
from pyvision.errors import MissingExtra, ModelError
from pyvision.models.errors import ErrorMapper

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_TOKEN_S = 20.0


class VertexTokens:
    """The headers that authorise a request. Safe to share between threads."""

    def __init__(self, config: ModelConfig) -> None:
        """Raises MissingExtra."""
        if find_spec("google") is None or find_spec("google.auth") is None:
            raise MissingExtra("google-auth", "vertex")
        self._config = config
        self._credentials: Any = None
        self._lock = threading.Lock()

    def headers(self, url: str) -> dict[str, str]:
        """For a request to this address. Raises ModelError where there are no credentials, or they are refused."""
        import google.auth
        import google.auth.exceptions as errors
        from google.auth.transport.requests import Request

        headers: dict[str, str] = {}
        request: Any = partial(Request(), timeout=_TOKEN_S)
        try:
            with self._lock:
                if self._credentials is None:
                    with warnings.catch_warnings():  # of a login that names no project for quotas
                        warnings.simplefilter("ignore")
                        self._credentials, _ = google.auth.default(scopes=[_SCOPE], request=request)
                self._credentials.before_request(request, "POST", url, headers)
        except errors.DefaultCredentialsError as error:
            raise self._error("there are no credentials", error) from None
        except errors.GoogleAuthError as error:
            is_passing = isinstance(error, errors.TransportError) or error.retryable
            raise self._error("the credentials give no token", error, retry=is_passing) from None
        return headers

    def _error(self, what: str, error: Exception, *, retry: bool = False) -> ModelError:
        import openai

        error_mapper = ErrorMapper(self._config, openai)
        why = error_mapper.redact(str(error.args[0] if error.args else error))
        fix = "" if retry else f"; run '{VERTEX_LOGIN}', or set GOOGLE_APPLICATION_CREDENTIALS to a key file"
        return error_mapper.error(f"{what} ({why}){fix}", retry=retry, kind="other" if retry else "auth")
