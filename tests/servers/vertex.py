"""A token endpoint of Google's OAuth on loopback, and the key file of a service account that leads to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

AUDIENCE = "https://oauth2.googleapis.com/token"  # which Google's client names wherever the endpoint is
SCOPE = "https://www.googleapis.com/auth/cloud-platform"


class TokenServer(ThreadingHTTPServer):
    """Gives a new token for each signed assertion; refuses what is not one.

    lifetime_s: what it says of its tokens. failing: the status and the error that it answers with instead.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tokens: list[str] = []
        self.lifetime_s = 3600
        self.failing: tuple[int, str] | None = None
        self.public_key = ""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/token"


class _Handler(BaseHTTPRequestHandler):
    server: TokenServer

    def do_POST(self) -> None:
        body = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
        if self.server.failing:
            status, error = self.server.failing
            self._answer(status, {"error": error, "error_description": "Token has been expired or revoked."})
        elif problem := self._problem(body):
            self._answer(400, {"error": "invalid_grant", "error_description": problem})
        else:
            token = f"ya29.secret-{len(self.server.tokens)}"
            self.server.tokens.append(token)
            self._answer(
                200, {"access_token": token, "expires_in": self.server.lifetime_s, "token_type": "Bearer"}
            )

    def _problem(self, body: dict[str, list[str]]) -> str | None:
        """What is wrong with the assertion: its grant, signature, audience or scope."""
        from google.auth import jwt

        if body.get("grant_type") != ["urn:ietf:params:oauth:grant-type:jwt-bearer"]:
            return "grant_type"
        decode: Any = jwt.decode
        try:
            claims = decode(body["assertion"][0], certs=self.server.public_key, audience=AUDIENCE)
        except ValueError as error:
            return str(error)
        return None if claims.get("scope") == SCOPE else "scope"

    def _answer(self, status: int, body: dict[str, object]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@contextmanager
def token_server(folder: Path) -> Iterator[tuple[TokenServer, Path]]:
    """The endpoint, and a key file that names it."""
    server = TokenServer()
    key_file = folder / "key.json"
    private, server.public_key = _key_pair()
    content = {
        "type": "service_account",
        "project_id": "of-the-key-file",
        "private_key_id": "1",
        "private_key": private,
        "client_email": "robot@example.iam.gserviceaccount.com",
        "token_uri": server.address,
    }
    key_file.write_text(json.dumps(content), encoding="utf-8")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server, key_file
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _key_pair() -> tuple[str, str]:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    private = rsa.generate_private_key(65537, 2048)
    return (
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode(),
        private.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode(),
    )
