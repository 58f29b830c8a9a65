"""Which URLs are refused before a connection is made, and which addresses a name may not lead to."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import ToolError
from pyvision.tools.web.address_guard import Guard, format_url, is_public

PUBLIC = "93.184.215.14"
NAMES = {
    "example.com": (PUBLIC,),
    "xn--bcher-kva.example.com": (PUBLIC,),
    "both.example.com": (PUBLIC, "2606:2800:21f:cb07:6820:80da:af6b:8b2c"),
    "inside.example.com": ("10.1.2.3",),
    "rebound.example.com": (PUBLIC, "127.0.0.1"),
    "mapped.example.com": ("::ffff:127.0.0.1",),
    "metadata.example.com": ("169.254.169.254",),
    "zero.example.com": ("0.0.0.0",),
    "six.example.com": ("::1",),
    "odd.example.com": ("fe80::1%eth0",),
    "empty.example.com": (),
}


def resolve_to(name: str, port: int) -> tuple[str, ...]:
    if name not in NAMES:
        raise OSError("no such name")
    return NAMES[name]


GUARD = Guard(resolve=resolve_to)

HOSTILE = {
    # schemes
    "file:///etc/passwd": "only http",
    "FILE:///etc/passwd": "only http",
    "ftp://example.com/": "only http",
    "gopher://example.com/_GET": "only http",
    "data:text/html,hello": "only http",
    "javascript:alert(1)": "only http",
    "jar:http://example.com!/": "only http",
    "ws://example.com/": "only http",
    "unix:///run/docker.sock": "only http",
    "//example.com/": "only http",
    "example.com/": "only http",
    "": "only http",
    "http:/example.com": "not a valid name",
    "http:///path": "not a valid name",
    "https://": "not a valid name",
    # loopback, in its many spellings
    "http://127.0.0.1/": "not on the public",
    "http://127.0.0.1./": "not on the public",
    "http://127.1/": "not written as four decimal numbers",
    "http://127.0.1/": "not written as four decimal numbers",
    "http://2130706433/": "not written as four decimal numbers",
    "http://0177.0.0.1/": "not written as four decimal numbers",
    "http://017700000001/": "not written as four decimal numbers",
    "http://0x7f.0.0.1/": "not written as four decimal numbers",
    "http://0x7f000001/": "not written as four decimal numbers",
    "http://127.0.0.0x1/": "not written as four decimal numbers",
    "http://0x/": "not written as four decimal numbers",
    "http://127.0.0.1.1/": "not written as four decimal numbers",
    "http://127.0.0.256/": "not written as four decimal numbers",
    "http://00000127.0.0.1/": "not written as four decimal numbers",
    "http://１２７.0.0.1/": "not on the public",
    "http://①②⑦.⓪.⓪.①/": "not on the public",
    "http://127。0。0。1/": "not on the public",
    "http://[::1]/": "not on the public",
    "http://[0:0:0:0:0:0:0:1]/": "not on the public",
    "http://[::]/": "not on the public",
    "http://[::ffff:127.0.0.1]/": "not on the public",
    "http://[::ffff:7f00:1]/": "not on the public",
    "http://[::127.0.0.1]/": "not on the public",
    "http://[64:ff9b::7f00:1]/": "not on the public",
    "http://[2002:7f00:1::]/": "not on the public",
    "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/": "not on the public",
    "http://[fe80::1%25eth0]/": "not a valid IPv6",
    "http://[fe80::1]/": "not on the public",
    "http://[127.0.0.1]/": "not a valid",
    "http://[::1": "not a valid URL",
    "http://localhost/": "local network",
    "http://LOCALHOST./": "local network",
    "http://a.localhost/": "local network",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/": "local network",
    "http://lo\u00adcalhost/": "control character",
    # private and other special networks
    "http://0.0.0.0/": "not on the public",
    "http://0/": "not written as four decimal numbers",
    "http://10.0.0.1/": "not on the public",
    "http://172.16.0.1/": "not on the public",
    "http://172.31.255.255/": "not on the public",
    "http://192.168.1.1/": "not on the public",
    "http://100.64.0.1/": "not on the public",
    "http://198.18.0.1/": "not on the public",
    "http://192.0.2.1/": "not on the public",
    "http://224.0.0.1/": "not on the public",
    "http://255.255.255.255/": "not on the public",
    "http://[fc00::1]/": "not on the public",
    "http://[ff02::1]/": "not on the public",
    "http://[2001:db8::1]/": "not on the public",
    # the metadata of clouds
    "http://169.254.169.254/latest/meta-data/": "not on the public",
    "http://2852039166/": "not written as four decimal numbers",
    "http://0xA9.0xFE.0xA9.0xFE/": "not written as four decimal numbers",
    "http://[::ffff:169.254.169.254]/": "not on the public",
    "http://[fd00:ec2::254]/": "not on the public",
    "http://100.100.100.200/": "not on the public",
    "http://168.63.129.16/": "not on the public",
    "http://metadata.google.internal/": "local network",
    "http://metadata/": "local network",
    "http://printer.local/": "local network",
    "http://router.lan/": "local network",
    # who is the host?
    "http://example.com@127.0.0.1/": "user name",
    "http://user:word@example.com/": "user name",
    "http://@example.com/": "user name",
    "http://127.0.0.1\\@example.com/": "backslash",
    "http://127.0.0.1#@example.com/": "not on the public",
    "http://127.0.0.1?@example.com/": "not on the public",
    "http://example.com\t.evil.example/": "control character",
    "http://example.com\r\nHost: evil/": "control character",
    " http://example.com/": "control character",
    "http://exam ple.com/": "space",
    "http://example.com\u200b/": "control character",
    "http://ex%61mple.com/": "not a valid name",
    "http://%31%32%37.0.0.1/": "not written as four decimal numbers",
    "http://127.0.0.1%2f@example.com/": "user name",
    "http://-a.example.com/": "not a valid name",
    "http://a..example.com/": "not a valid name",
    "http://" + "a" * 64 + ".example.com/": "not a valid name",
    "http://example.com/" + "a" * 3000: "longer than",
    # ports
    "http://example.com:22/": "port 22",
    "http://example.com:6379/": "port 6379",
    "http://example.com:0/": "port 0",
    "http://example.com:99999/": "not a number",
    "http://example.com:80a/": "not a number",
    "http://example.com:-1/": "not a number",
    # names that lead inside
    "http://inside.example.com/": "(10.1.2.3) is not on the public",
    "http://rebound.example.com/": "(127.0.0.1) is not on the public",
    "http://mapped.example.com/": "not on the public",
    "http://metadata.example.com/": "not on the public",
    "http://zero.example.com/": "not on the public",
    "http://six.example.com/": "not on the public",
    "http://odd.example.com/": "not on the public",
    "http://empty.example.com/": "no host",
    "http://nobody.example.com/": "no host",
}


def test_the_table_of_hostile_urls_is_long_enough() -> None:
    assert len(HOSTILE) >= 60


def test_a_hostile_url_is_refused_with_the_reason(subtests: pytest.Subtests) -> None:
    for url, why in HOSTILE.items():
        with subtests.test(url=url):
            with pytest.raises(ToolError) as caught:
                GUARD.check(url)
            assert why in str(caught.value)
            assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "host", "port", "authority"),
    [
        ("http://example.com", "example.com", 80, "example.com"),
        ("https://EXAMPLE.com./a?b=c#d", "example.com", 443, "example.com"),
        ("http://example.com:443/", "example.com", 443, "example.com:443"),
        ("https://Bücher.example.com/", "xn--bcher-kva.example.com", 443, "xn--bcher-kva.example.com"),
        (f"http://{PUBLIC}/", PUBLIC, 80, PUBLIC),
        ("http://[2606:2800::1]/", "2606:2800::1", 80, "[2606:2800::1]"),
    ],
)
def test_a_public_url_is_let_pass(url: str, host: str, port: int, authority: str) -> None:
    target = GUARD.check(url)
    assert (target.host, target.port, target.authority) == (host, port, authority)


def test_the_addresses_that_were_checked_are_those_that_are_connected_to() -> None:
    assert GUARD.check("http://both.example.com/").addresses == NAMES["both.example.com"]


def test_another_port_passes_where_it_is_allowed() -> None:
    assert Guard(ports=frozenset({8080}), resolve=resolve_to).check("http://example.com:8080/").port == 8080


def test_a_formatted_url_contains_no_secret() -> None:
    assert format_url("http://me:secret@host/path?api_key=secret#secret") == "'http://host/path'"


@given(st.text(max_size=60))
def test_any_text_is_a_target_or_a_tool_error(text: str) -> None:
    for url in (text, f"http://{text}", f"https://example.com{text}"):
        try:
            target = GUARD.check(url)
        except ToolError:
            continue
        assert all(is_public(ipaddress.ip_address(address)) for address in target.addresses)
        assert target.port in (80, 443)
        assert urlsplit(url).scheme in ("http", "https")


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_is_public_inside_of_ipv6(address: ipaddress.IPv4Address) -> None:
    for prefix in ("::ffff:0:0", "::", "64:ff9b::"):
        assert not is_public(ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) | int(address)))
    assert not is_public(ipaddress.IPv6Address((0x2002 << 112) | (int(address) << 80)))


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"])
def test_ordinary_addresses_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))
