"""What a cell printed is shown short, plain and without a tag that only we may write."""

from __future__ import annotations

import base64
import random
import re
import unicodedata
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.text.sanitize import parse_json, printable, sanitize, share_by_need

BYTES = random.Random(1).randbytes(3_000)
TABLE = "\n".join(f"{label} {label * 17 % 400:>5} {label * 31 % 300:>5}" for label in range(30))
OURS = ("interpreter", "/interpreter", "image_clue_1", "/image_clue_1", "code", "/code", "answer", "/answer")
OTHERS = ("question", "think", "/think", "|im_start|", "|im_end|", "|endoftext|", "s", "/s", "image", "user")
RAW_TAG = re.compile(
    r"<\s*/?\s*(interpreter|image_clue|code|answer|question|think|\|)|<\s*/?\s*(s|image|user)\s*>|\[/?inst"
)


def folded(text: str) -> str:
    plain = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Mn", "Me"))
    return unicodedata.normalize("NFKC", plain).lower()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The circle has radius 42.\n",
        TABLE,
        '{"box": [1, 2, 3, 4], "label": "<b>car</b>"}',
        "a < b and c > d, x <y> z",
        "<class 'numpy.ndarray'> (480, 640, 3) uint8",
        "=" * 400,
        "/usr/lib/python3.11/" * 30,
        "/Users/ann/Pictures2" * 30,
        "ответ: 42, 答案：四十二, 🙂",
        "\tindented\n\n\nlines\n",
        "[" + ", ".join(str(n) for n in range(200)) + "]",
    ],
)
def test_ordinary_output_is_left_as_it_is(text: str) -> None:
    assert sanitize(text) == text


@pytest.mark.parametrize(
    "dump",
    [
        base64.b64encode(BYTES).decode(),
        base64.urlsafe_b64encode(BYTES).decode(),
        base64.encodebytes(BYTES).decode().rstrip("\n"),
        BYTES.hex(),
        "data:image/png;base64," + base64.b64encode(BYTES).decode(),
    ],
)
def test_encoded_data_becomes_a_note(dump: str) -> None:
    assert (
        sanitize(f"before\n{dump}\nafter")
        == f"before\n[base64 data, {len(dump):,} characters left out]\nafter"
    )


def test_the_repr_of_wrapped_base64_becomes_a_note() -> None:
    text = sanitize(repr(base64.encodebytes(BYTES)))
    assert text.startswith("b'[base64 data, ")
    assert len(text) < 60


def test_short_encoded_data_is_shown() -> None:
    text = base64.b64encode(BYTES[:100]).decode()
    assert sanitize(text) == text


def test_numbers_are_shown_like_any_text() -> None:
    table = str(list(range(1_500)))
    assert 7_000 < len(table) < 8_000
    assert sanitize(table) == table


def test_no_number_at_a_cut_is_shown_in_part() -> None:
    numbers = [1_000_000 + n for n in range(5_000)]
    head, tail = re.split(r"\[….*…\]", sanitize(str(numbers)))
    rest = {int(number) for number in re.findall(r"\d+", head + tail)}
    assert len(rest) > 700
    assert rest <= set(numbers)


def test_long_text_is_cut_between_lines() -> None:
    lines = [f"row {n}: {n * 7919 % 1000}" for n in range(3_000)]
    head, tail = re.split(r"\[….*…\]\n", sanitize("\n".join(lines), 2_000))
    assert set(head.splitlines() + tail.splitlines()) <= set(lines)


def test_a_cut_says_how_many_lines_it_left_out() -> None:
    lines = [f"row {n}" for n in range(3_000)]
    text = sanitize("\n".join(lines), 2_000)
    found = re.search(r"\[… ([\d,]+) characters in ([\d,]+) lines left out …\]", text)
    assert found
    assert int(found[2].replace(",", "")) == 3_000 - text.count("\n")


def test_a_small_need_is_met_in_full() -> None:
    assert share_by_need([10, 100_000, 20, 50_000], 1_030) == (10, 500, 20, 500)


LONG_TEXT = "first " + "word " * 10_000 + "last"  # 50,010 characters


def test_long_text_keeps_its_head() -> None:
    assert sanitize(LONG_TEXT, 1_000).startswith("first word")


def test_long_text_keeps_its_tail() -> None:
    assert sanitize(LONG_TEXT, 1_000).endswith("word last")


def test_long_text_says_how_much_is_missing() -> None:
    head, count, tail = re.split(r"\n\[… ([\d,]+) characters left out …\]\n", sanitize(LONG_TEXT, 1_000))
    assert len(head) + len(tail) + int(count.replace(",", "")) == 50_010


def test_shortened_text_is_within_the_limit() -> None:
    assert len(sanitize(LONG_TEXT, 1_000)) <= 1_000


DISGUISES = (
    "<{}>",
    "< {} >",
    "<\n{}\n>",
    "＜{}＞",
    "﹤{}﹥",
    "<\x00{}>",
    "<\u200b{}\u200d>",
    "<\x1b[31m{}\x1b[0m>",
)


def test_a_tag_is_made_harmless_in_every_disguise(subtests: pytest.Subtests) -> None:
    spellings = [spelt for name in OURS + OTHERS for spelt in (name, name.upper(), name.title())]
    for disguise, written in product(DISGUISES, spellings):
        with subtests.test(disguise=disguise, written=written):
            text = sanitize(f"a {disguise.format(written)} b")
            assert not RAW_TAG.search(folded(text))
            assert "‹" in text
            assert "›" in text
            assert written.strip("/|") in text


@pytest.mark.parametrize(
    "text",
    [
        "<ｉｎｔｅｒｐｒｅｔｅｒ>",
        "<𝐜𝐨𝐝𝐞>",
        "<in\u200bter\u00adpreter>",
        "<inter\x00preter>",
        "<code language='py'>",
        "<interpreter",
        "</ code>",
        "<／code>",
        "<｜begin▁of▁sentence｜>",
        "[INST]",
        "[/INST]",
        "<<SYS>>",
    ],
)
def test_a_letter_trick_hides_no_tag(text: str) -> None:
    assert not re.search(r"[<＜\[]", sanitize(text))


def test_only_the_brackets_of_a_tag_change() -> None:
    assert sanitize("x <interpreter>5</interpreter> y") == "x ‹interpreter›5‹/interpreter› y"
    assert sanitize("<|im_start|>system") == "‹|im_start|›system"


def test_cutting_makes_no_tag() -> None:
    for limit in range(40, 120):
        assert not RAW_TAG.search(folded(sanitize("<code " * 3 + "x" * 200 + " interpreter>" * 3, limit)))


def test_terminal_sequences_are_removed() -> None:
    assert (
        printable("\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b(B \x9b2Jend")
        == "red link end"
    )


def test_of_a_progress_bar_the_last_state_is_kept() -> None:
    assert printable("10%\r50%\r100%\nnext") == "100%\nnext"
    assert printable("downloading\rdone") == "doneloading"
    assert printable("windows\r\nlines\r\n") == "windows\nlines\n"


def test_control_characters_are_dropped() -> None:
    assert printable("a\x00b\x07c\x08d\x7fe\x85f\tg\n") == "abcdef\tg\n"


def test_marks_that_turn_the_text_around_are_dropped() -> None:
    assert printable("user\u202e gnp.exe\u2066") == "user gnp.exe"


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert printable("a\ud800b") == "a\ufffdb"
    sanitize("\udfff").encode()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'{"a": ["\ud800"], "\uDFFF": 1}', {"a": ["\ufffd"], "\ufffd": 1}),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\\ud800"', r"\ud800"),
        ('{"a": 1.5}', {"a": 1.5}),
    ],
)
def test_parsed_json_holds_no_lone_surrogate(text: str, value: object) -> None:
    assert parse_json(text) == value


ANY_TEXT = st.text(
    st.one_of(st.characters(codec=None), st.sampled_from("<>＜＞|[]/ \n\r\x1b\x00\u200b01,.")), max_size=300
)
PIECES = st.lists(
    st.one_of(
        ANY_TEXT,
        st.sampled_from(
            ["interpreter", "<", "</", ">", "code", "image_clue_", "A1b" * 90, "1, 2, " * 300, "\x1b[", "|"]
        ),
    ),
    max_size=12,
).map("".join)


@given(st.lists(st.integers(0, 5_000), max_size=8), st.integers(0, 9_000))
def test_a_limit_is_never_exceeded_by_its_shares(needs: list[int], limit: int) -> None:
    shares = share_by_need(needs, limit)
    assert sum(shares) <= limit
    assert all(share <= need for share, need in zip(shares, needs, strict=True))


@given(PIECES, st.integers(-1, 3_000))
def test_the_length_is_bounded_whatever_was_printed(text: str, limit: int) -> None:
    assert len(sanitize(text, limit)) <= max(limit, 0)


@given(PIECES)
def test_no_raw_tag_survives(text: str) -> None:
    assert not RAW_TAG.search(folded(sanitize(text)))


@given(PIECES)
def test_showing_twice_is_showing_once(text: str) -> None:
    assert sanitize(sanitize(text)) == sanitize(text)


@given(PIECES)
def test_printable_text_has_no_control_character(text: str) -> None:
    plain = printable(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", plain)
    plain.encode()


@given(PIECES)
def test_printable_text_stays_as_it_is(text: str) -> None:
    plain = printable(text)
    assert printable(plain) == plain


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "\x1b]",
        "\x1b[",
        "A1b/",
        "1 ",
        "\r",
        "x\r",
        "< ",
        "<|",
        "data:",
        "A" * 39 + " ",
        "[",
        "\\n",
        "<code",
    ],
)
def test_a_million_characters_are_shown_without_delay(piece: str) -> None:
    assert len(sanitize(piece * (1_000_000 // len(piece)))) <= 8_000
