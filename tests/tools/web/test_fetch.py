"""Fetching from real servers on loopback: redirects, limits, what is sent, what is read."""

from __future__ import annotations

import gzip
import logging
import shutil
import socket
import ssl
import subprocess
import zlib
from pathlib import Path

import pytest

from pyvision.errors import ToolError
from pyvision.tools.web.address_guard import Guard
from pyvision.tools.web.fetch import FetchLimits, WebPage, fetch
from tests.tools.web.site import Served, Site, serving

QUICK = FetchLimits(bytes=100_000, seconds=5.0)
PAGE = Served(b"<title>Owls</title><p>Owls hunt at night.</p>")


def redirect(location: str, status: int = 302) -> Served:
    return Served(status=status, headers={"Location": location})


def refusal(site: Site, url: str, limits: FetchLimits = QUICK, guard: Guard | None = None) -> str:
    with pytest.raises(ToolError) as caught:
        fetch(url, limits, guard or site.guard())
    return str(caught.value)


def test_a_page_is_fetched() -> None:
    with serving({"/owls": PAGE}) as site:
        assert fetch(site.url("/owls"), QUICK, site.guard()) == WebPage(
            site.url("/owls"), "Owls", "Owls hunt at night."
        )


def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    answers = iter([("127.0.0.1",), ("10.0.0.1",)])
    with serving({"/": PAGE}) as site:
        rebinding = Guard(frozenset({site.port}), site.guard().allows, lambda name, port: next(answers))
        fetch(site.url("/"), QUICK, rebinding)
    assert len(site.visits) == 1
    assert next(answers) == ("10.0.0.1",)  # the name was resolved once


def test_the_request_names_the_host_instead_of_its_address() -> None:
    with serving({"/": PAGE}) as site:
        fetch(site.url("/"), QUICK, site.guard())
    assert site.visits[0].headers["host"] == f"site.example.com:{site.port}"


def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    with socket.socket() as closed, serving({"/": PAGE}) as site:
        closed.bind(("127.0.0.2", site.port))  # nobody listens: refused
        guard = Guard(frozenset({site.port}), lambda address: True, lambda n, p: ("127.0.0.2", "127.0.0.1"))
        assert fetch(site.url("/"), QUICK, guard).title == "Owls"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed(status: int) -> None:
    with serving({"/a": redirect("/b?x=1", status), "/b": PAGE}) as site:
        assert fetch(site.url("/a"), QUICK, site.guard()).url == site.url("/b?x=1")


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("http://127.0.0.2/", "127.0.0.2 is not on the public internet"),
        ("http://169.254.169.254/latest/meta-data/", "not on the public internet"),
        ("http://[::1]/", "not on the public internet"),
        ("http://2130706433/", "not written as four decimal numbers"),
        ("//10.0.0.1/", "not on the public internet"),
        ("http://inside.example.com/", "inside.example.com (192.168.0.9) is not on the public internet"),
        ("http://localhost/", "local network"),
        ("file:///etc/passwd", "only http and https"),
        ("http://site.example.com:22/", "port 22"),
        ("http://site.example.com@10.0.0.1/", "user name"),
        ("http://[", "not a valid URL"),
        ("", "redirects without a location"),
    ],
)
def test_a_redirect_is_checked_like_the_first_address(location: str, why: str) -> None:
    with serving({"/": redirect(location)}) as site:
        message = refusal(site, site.url("/"), guard=site.guard({"inside.example.com": ("192.168.0.9",)}))
    assert why in message
    assert len(site.visits) == 1


REDIRECTS = {f"/{number}": redirect(f"/{number + 1}") for number in range(6)} | {"/6": PAGE}


def test_the_fifth_redirect_is_followed() -> None:
    with serving(REDIRECTS) as site:
        assert fetch(site.url("/1"), QUICK, site.guard()).title == "Owls"


def test_the_sixth_redirect_is_refused() -> None:
    with serving(REDIRECTS) as site:
        assert "more than 5 redirects" in refusal(site, site.url("/0"))


def test_a_ring_of_redirects_ends() -> None:
    with serving({"/": redirect("/")}) as site:
        assert "more than 5 redirects" in refusal(site, site.url("/"))


@pytest.mark.parametrize(
    "served",
    [
        Served(b"x" * 100_001),
        Served(gzip.compress(b"x" * 5_000_000), headers={"Content-Encoding": "gzip"}),
        Served(zlib.compress(b"x" * 5_000_000), headers={"Content-Encoding": "deflate"}),
    ],
    ids=["plain", "gzip bomb", "deflate bomb"],
)
def test_a_body_over_the_limit_is_refused(served: Served) -> None:
    with serving({"/": served}) as site:
        assert "larger than 100,000 bytes" in refusal(site, site.url("/"))


def test_a_body_of_just_the_limit_is_read() -> None:
    body = b"y" * 100_000
    packed = Served(gzip.compress(body), headers={"Content-Encoding": "gzip"})
    with serving({"/": Served(body), "/packed": packed}) as site:
        for path in ("/", "/packed"):
            assert fetch(site.url(path), QUICK, site.guard()).text == body.decode()


@pytest.mark.parametrize(
    ("served", "why"),
    [
        (Served(b"!", headers={"Content-Encoding": "br"}), "was not requested"),
        (Served(b"no gzip", headers={"Content-Encoding": "gzip"}), "is broken"),
        (
            Served(gzip.compress(b"hello " * 99)[:-20], headers={"Content-Encoding": "gzip"}),
            "is truncated",
        ),
        (Served(b"<p>hello", claims=500), "is not valid HTTP"),
        (Served(b"\x89PNG", kind="image/png"), "'image/png'; only HTML"),
        (Served(b"%PDF", kind="application/pdf"), "only HTML"),
        (Served(b"x", kind=""), "its type is missing"),
        (Served(b"gone", status=404), "answered 404"),
        (Served(b"no", status=500), "answered 500"),
        (Served(b"<script>only()</script>"), "contains no text"),
    ],
)
def test_an_unreadable_response_is_an_error_of_one_line(served: Served, why: str) -> None:
    with serving({"/": served}) as site:
        message = refusal(site, site.url("/"))
    assert why in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "served",
    [
        Served(b"x" * 1000, pause_s=0.02),
        Served(b"", pause_s=0.02, slow_headers=True),
        Served(b"x" * 9, pause_s=9),
    ],
    ids=["trickling body", "trickling headers", "silence"],
)
def test_time_is_limited_as_a_whole(served: Served) -> None:
    with serving({"/": served}) as site:
        assert "took longer than 0.3 s" in refusal(site, site.url("/"), FetchLimits(seconds=0.3))


def test_time_for_all_redirects_together_is_limited() -> None:
    slow = Served(b"x", status=302, headers={"Location": "/"}, pause_s=0.2, slow_headers=True)
    with serving({"/": slow}) as site:
        assert "took longer than 0.3 s" in refusal(site, site.url("/"), FetchLimits(seconds=0.3))


def test_a_missing_server_is_reported() -> None:
    with serving({}) as site:
        url, guard = site.url("/"), site.guard()
    with pytest.raises(ToolError, match="no connection"):
        fetch(url, QUICK, guard)


def test_nothing_about_the_user_is_sent() -> None:
    with serving({"/a": redirect("/b"), "/b": PAGE}) as site:
        fetch(site.url("/a"), QUICK, site.guard())
    for visit in site.visits:
        assert set(visit.headers) == {"host", "connection", "accept-encoding", "user-agent", "accept"}


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html; charset=iso-8859-1", "<p>Käuzchen".encode("latin-1")),
        ("text/html", '<meta charset="windows-1252"><p>Käuzchen'.encode("cp1252")),
        ("text/html", "<p>Käuzchen".encode()),
        ("text/html; charset=no-such-thing", "<p>Käuzchen".encode()),
        ("text/html; charset=hex", "<p>Käuzchen".encode()),
        ("text/plain; charset=utf-8", "\ufeffKäuzchen".encode()),
        ("TEXT/HTML;Charset='UTF-8'", "<p>Käuzchen".encode()),
    ],
)
def test_the_character_set_is_found(kind: str, body: bytes) -> None:
    with serving({"/": Served(body, kind=kind)}) as site:
        assert fetch(site.url("/"), QUICK, site.guard()).text == "Käuzchen"


def test_a_path_in_other_letters_is_encoded() -> None:
    with serving({"/K%C3%A4uzchen": PAGE}) as site:
        assert fetch(site.url("/Käuzchen"), QUICK, site.guard()).title == "Owls"


def test_no_log_holds_the_address(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving({"/": PAGE}) as site:
        fetch(site.url("/?token=very-secret"), QUICK, site.guard())
    assert "very-secret" not in caplog.text


# --- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Key and certificate of site.example.com in one file, signed by itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    file = folder / "site.pem"
    subject = ("-subj", "/CN=site.example.com", "-addext", "subjectAltName=DNS:site.example.com")
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    command = [
        openssl,
        "req",
        "-x509",
        *kind,
        *subject,
        "-keyout",
        str(file),
        "-out",
        str(folder / "own.pem"),
    ]
    subprocess.run(command, check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + (folder / "own.pem").read_bytes())
    return file


def serving_tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def trusting(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))


def test_the_certificate_is_checked_for_the_name_of_the_host(certificate: Path) -> None:
    served = serving_tls(certificate)
    asked: list[str | None] = []
    served.sni_callback = lambda connection, name, context: asked.append(name)
    with serving({"/": PAGE}, served) as site:
        url = site.url("/").replace("http:", "https:")
        assert fetch(url, QUICK, site.guard(), trusting(certificate)).title == "Owls"
    assert asked == ["site.example.com"]


def test_a_certificate_of_another_name_is_refused(certificate: Path) -> None:
    with serving({"/": PAGE}, serving_tls(certificate)) as site:
        url = site.url("/", host="other.example.com").replace("http:", "https:")
        guard = site.guard({"other.example.com": ("127.0.0.1",)})
        with pytest.raises(ToolError, match="no connection"):
            fetch(url, QUICK, guard, trusting(certificate))
    assert site.visits == []


def test_a_self_signed_certificate_is_refused(certificate: Path) -> None:
    with serving({"/": PAGE}, serving_tls(certificate)) as site:
        message = refusal(site, site.url("/").replace("http:", "https:"))
    assert "no connection" in message
    assert site.visits == []
