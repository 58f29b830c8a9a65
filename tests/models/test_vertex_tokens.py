"""Gemini on Vertex AI: its address, tokens from a key file, and what is said of credentials that do not work."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import pyvision
from pyvision.config.model_config import ModelConfig, load_model_config
from pyvision.config.secret_fields import without_secrets
from pyvision.config.vertex import Vertex
from pyvision.errors import ConfigError, MissingExtra, ModelError
from pyvision.models.endpoint import Endpoint
from pyvision.models.factory import resolve_model
from pyvision.models.listing import ListedModel, list_models
from pyvision.models.wires.gemini import gemini
from pyvision.types import Sampling
from tests.servers.faults import Fault, Plan
from tests.servers.server import ModelServer
from tests.servers.vertex import TokenServer, token_server
from tests.servers.wires import HELLO, STOP, answer

PLACE = Vertex("my-project", "europe-west4")
ROOT = "/v1/projects/my-project/locations/europe-west4/publishers/google"


@pytest.fixture
def tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TokenServer]:
    """The token endpoint that the credentials of this test lead to."""
    with token_server(tmp_path) as (server, key_file):
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(key_file))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield server


@contextmanager
def open_vertex(
    says: Sequence[str] = ("hi",), faults: Sequence[Fault | None] = (), **settings: Any
) -> Iterator[tuple[Endpoint, ModelServer]]:
    with ModelServer(says, weather=Plan(faults)) as server:
        known: dict[str, Any] = {"base_url": server.root_url, "vertex": PLACE, "timeout_s": 5.0}
        with closing(gemini(ModelConfig("gemini", "gemini-3.6-flash", **(known | settings)))) as model:
            yield model, server


def error_of(*faults: Fault) -> ModelError:
    with open_vertex(faults=faults) as (model, _), pytest.raises(ModelError) as caught:
        model.complete(HELLO, Sampling())
    return caught.value


def refusal(status: int, message: str) -> Fault:
    return answer({"error": {"code": status, "message": message, "status": "DENIED"}}, status)


# --- requests


@pytest.mark.usefixtures("tokens")
def test_a_request_goes_to_the_model_of_the_project() -> None:
    with open_vertex() as (model, server):
        assert model.complete(HELLO, Sampling()).text == "hi"
        assert server.requests[0].path == f"{ROOT}/models/gemini-3.6-flash:streamGenerateContent?alt=sse"


@pytest.mark.usefixtures("tokens")
def test_its_body_is_that_of_the_other_api() -> None:
    bodies = []
    for vertex in (PLACE, None):
        with open_vertex(vertex=vertex, max_tokens=70, detail="low") as (model, server):
            model.complete(HELLO, STOP)
            bodies.append(server.requests[0].body)
    assert bodies[0] == bodies[1]


def test_a_token_authorises_it(tokens: TokenServer) -> None:
    with open_vertex(api_key="AIza-of-another-api") as (model, server):
        model.complete(HELLO, Sampling())
        (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {tokens.tokens[0]}"
    assert "x-goog-api-key" not in request.headers


def test_a_token_serves_many_requests(tokens: TokenServer) -> None:
    with open_vertex(["hi"] * 16) as (model, _), ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: model.complete(HELLO, Sampling()), range(16)))
    assert len(tokens.tokens) == 1


def test_a_token_that_is_about_to_expire_is_replaced(tokens: TokenServer) -> None:
    tokens.lifetime_s = 60
    with open_vertex(["hi"] * 2) as (model, server):
        for _ in range(2):
            model.complete(HELLO, Sampling())
        sent = [request.headers["authorization"] for request in server.requests]
    assert sent == [f"Bearer {token}" for token in tokens.tokens]
    assert len(set(sent)) == 2


# --- errors


def test_credentials_that_are_refused_name_the_login(tokens: TokenServer) -> None:
    tokens.failing = (400, "invalid_grant")
    error = error_of()
    assert "the credentials give no token (invalid_grant: Token has been expired or revoked.)" in str(error)
    assert "run 'gcloud auth application-default login', or set GOOGLE_APPLICATION_CREDENTIALS" in str(error)
    assert (error.kind, error.retry) == ("auth", False)


def test_a_token_endpoint_that_is_down_is_worth_a_retry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with token_server(tmp_path) as (_, key_file):
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(key_file))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    error = error_of()
    assert (error.kind, error.retry) == ("other", True)


def test_no_credentials_at_all_name_the_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    said = str(error_of())
    assert "there are no credentials" in said
    assert "run 'gcloud auth application-default login'" in said
    assert "\n" not in said


def test_a_broken_key_file_is_one_line_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"type": "service_account", "private_key": "SECRET"')
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(broken))
    said = str(error_of())
    assert "broken.json" in said
    assert "SECRET" not in said


@pytest.mark.usefixtures("tokens")
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "the token was refused (401); run 'gcloud auth application-default login' again"),
        (403, "this account may not use the model (403); give it the role roles/aiplatform.user"),
        (404, "no such model in this location (404); check the model id, and GOOGLE_CLOUD_LOCATION"),
    ],
)
def test_a_refusal_says_what_to_do_in_google_cloud(status: int, said: str) -> None:
    assert said in str(error_of(refusal(status, "no")))


def test_an_error_that_repeats_the_token_does_not_show_it(tokens: TokenServer) -> None:
    said = str(error_of(refusal(403, "token ya29.secret-0 lacks a permission")))
    assert tokens.tokens == ["ya29.secret-0"]
    assert "secret-0" not in said


def test_a_run_records_no_token(tokens: TokenServer, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with open_vertex(["<answer>\\boxed{7}</answer>"]) as (model, _):
        outcome = pyvision.answer("How many?", [], model=model, strategy="direct", out=out)
    assert outcome.answer == "7"
    recorded = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert b"How many?" in recorded
    assert tokens.tokens[0].encode() not in recorded


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.auth", None)
    with pytest.raises(
        MissingExtra,
        match=r"google-auth is not installed; install it: pip install 'pyvision-agent\[vertex\]'",
    ):
        resolve_model_of({"GOOGLE_CLOUD_PROJECT": "p"}, monkeypatch)


def resolve_model_of(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    resolve_model("vertex").close()


# --- its list of models


def test_the_list_holds_what_is_a_gemini(tokens: TokenServer) -> None:
    names = ("gemini-3.6-flash", "imagen-4", "text-embedding-005")
    listed = {"publisherModels": [{"name": f"publishers/google/models/{name}"} for name in names]}
    with ModelServer([], models=listed) as server:
        config = ModelConfig("gemini", "m", server.root_url, vertex=PLACE)
        assert list_models(config) == (ListedModel("gemini-3.6-flash"),)
        ((path, headers),) = server.asked
    assert path == "/v1beta1/publishers/google/models?pageSize=1000"
    assert {name.lower(): value for name, value in headers.items()}[
        "authorization"
    ] == f"Bearer {tokens.tokens[0]}"


# --- configurations


@pytest.mark.parametrize(
    ("location", "host"),
    [
        ("global", "aiplatform.googleapis.com"),
        ("us-central1", "us-central1-aiplatform.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
    ],
)
def test_each_location_has_its_host(location: str, host: str) -> None:
    config = ModelConfig("gemini", "m", vertex=Vertex("p", location))
    assert config.address == f"https://{host}/v1/projects/p/locations/{location}/publishers/google"


def test_the_environment_names_the_place() -> None:
    environ = {"GOOGLE_CLOUD_PROJECT": "mine", "GOOGLE_CLOUD_LOCATION": "europe-west1"}
    assert load_model_config("vertex:gemini-3.8-pro", None, environ).vertex == Vertex("mine", "europe-west1")


def test_without_a_location_it_is_global() -> None:
    assert load_model_config("vertex", None, {"GOOGLE_CLOUD_PROJECT": "mine"}).vertex == Vertex(
        "mine", "global"
    )


def test_the_address_of_the_other_api_is_not_used() -> None:
    environ = {"GOOGLE_CLOUD_PROJECT": "mine", "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1"}
    assert load_model_config("vertex", None, environ).address.startswith("https://aiplatform.googleapis.com/")


def test_a_host_may_be_set() -> None:
    environ = {"GOOGLE_CLOUD_PROJECT": "mine", "GOOGLE_VERTEX_BASE_URL": "https://private.example/"}
    address = load_model_config("vertex", None, environ).address
    assert address == "https://private.example/v1/projects/mine/locations/global/publishers/google"


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({}, "vertex: Vertex AI needs the id of a project; set GOOGLE_CLOUD_PROJECT"),
        ({"GOOGLE_CLOUD_PROJECT": "../x"}, "project '../x' is not the id"),
        (
            {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "evil.example/"},
            "location 'evil.example/' is not",
        ),
    ],
)
def test_a_place_that_cannot_be_used_is_one_line(environ: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_model_config("vertex", None, environ)
    assert said in str(caught.value)


def test_the_setting_is_refused_for_another_wire(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"wire": "interactions", "model": "m", "vertex": {"project": "p"}}))
    with pytest.raises(ConfigError, match="'vertex' is a setting of wire 'gemini'"):
        load_model_config(None, file, {})


def test_an_unknown_key_of_the_place_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"wire": "gemini", "model": "m", "vertex": {"projekt": "p"}}))
    with pytest.raises(ConfigError, match=r"vertex\.projekt: unexpected"):
        load_model_config(None, file, {"GOOGLE_CLOUD_PROJECT": "p"})


def test_signatures_are_for_the_api_that_made_them() -> None:
    sources = {ModelConfig("gemini", "m", vertex=vertex).source for vertex in (PLACE, None)}
    assert sources == {"vertex:m", "gemini:m"}


def test_the_place_is_recorded() -> None:
    config = load_model_config("vertex", None, {"GOOGLE_CLOUD_PROJECT": "mine"})
    assert without_secrets(config)["vertex"] == {"project": "mine", "location": "global"}
