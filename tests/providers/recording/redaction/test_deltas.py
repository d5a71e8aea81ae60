"""Streamed text is redacted like whole text, and nothing is let go too early."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.providers.recording.redaction import PLACEHOLDER, remove_secrets_from_text
from openprogram.providers.recording.redaction.deltas import DeltaRedactor
from redaction_texts import SECRETS, TEXTS, hidden_texts, kept_texts

HIDDEN = hidden_texts(SECRETS[0])


@st.composite
def split_texts(draw: st.DrawFn) -> list[str]:
    text = draw(TEXTS)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def pieces_of(text: str, width: int) -> list[str]:
    return [text[at : at + width] for at in range(0, len(text), width)]


def redact(deltas: list[str], *, json_text: bool = False) -> list[str]:
    redactor = DeltaRedactor(json_text=json_text)
    outputs = [output for delta in deltas for output in redactor.feed(delta)]
    assert redactor.pending_count == len(deltas) - len(outputs)
    outputs += redactor.finish()
    assert redactor.pending_count == 0
    return outputs


@settings(max_examples=300)
@given(split_texts(), st.booleans())
def test_joined_outputs_are_the_redacted_joined_inputs(deltas: list[str], json_text: bool):
    outputs = redact(deltas, json_text=json_text)
    assert len(outputs) == len(deltas)
    assert "".join(outputs) == remove_secrets_from_text("".join(deltas))


@given(TEXTS)
def test_one_character_at_a_time_gives_the_same(text: str):
    assert "".join(redact(list(text))) == remove_secrets_from_text(text)


@given(split_texts())
def test_what_was_let_go_is_never_taken_back(deltas: list[str]):
    """At any moment the outputs are the beginning of the final text, delta by delta."""
    final = redact(deltas)
    redactor = DeltaRedactor()
    shown: list[str] = []
    for delta in deltas:
        shown += redactor.feed(delta)
        assert shown == final[: len(shown)]


@pytest.mark.parametrize("before", ["", "Well, look: ", "line\n", "x" * 100 + " "])
def test_no_split_shows_a_secret(before: str):
    for case in HIDDEN:
        text = before + case.text
        whole = remove_secrets_from_text(text)
        for width in (1, 3, 19):
            outputs = redact(pieces_of(text, width))
            assert "".join(outputs) == whole, case.id
            assert len(outputs) == len(pieces_of(text, width)), case.id


def test_no_part_of_a_secret_is_shown_before_the_end():
    for case in HIDDEN:
        redactor = DeltaRedactor()
        shown = ""
        for character in case.text:
            shown += "".join(redactor.feed(character))
            assert not [secret for secret in case.secrets if secret[:4] in shown], case.id


def test_every_delta_keeps_its_place_and_its_number():
    deltas = ["key: sk-ant-ap", "i03-AAbb", "CCddEEff", " done", "", "!"]
    assert redact(deltas) == [f"key: {PLACEHOLDER}", "", "", " done", "", "!"]


def test_a_secret_over_several_deltas_is_replaced_where_it_begins():
    assert redact(["a=1 pass", "word=x", "y1", "2z b"]) == [
        "a=1 pass",
        f"word={PLACEHOLDER}",
        "",
        " b",
    ]


def test_ordinary_text_is_let_go_at_once_but_for_its_end():
    redactor = DeltaRedactor()
    words = ["the quick brown fox jumps over the lazy dog and so on "] * 10
    let_go = [output for word in words for output in redactor.feed(word)]
    assert let_go == words[: len(let_go)]
    assert redactor.pending_count == 1


def test_a_line_with_a_trigger_is_let_go_with_its_end():
    redactor = DeltaRedactor()
    assert redactor.feed("plain line\nthe token of ") == []
    assert redactor.feed("the user") == []
    assert redactor.feed("\nnext ") == ["plain line\nthe token of ", "the user"]


def test_json_is_held_from_its_first_trigger_to_its_end():
    redactor = DeltaRedactor(json_text=True)
    first = '{"path": "a/rather/long/path/of/a/file.txt", "and": "so on and so on"'
    assert redactor.feed(first) == []
    assert redactor.feed(', "n": 1' + " " * 40) == [first]
    assert redactor.feed(', "password": "a') == []
    assert redactor.feed('b"}') == []
    assert redactor.finish() == [f', "n": 1{" " * 40}', f', "password": "{PLACEHOLDER}', '"}']


def test_texts_without_secrets_come_out_as_they_went_in():
    for text in kept_texts():
        assert redact(pieces_of(text, 5)) == pieces_of(text, 5)


def test_white_space_without_end_is_let_go():
    redactor = DeltaRedactor()
    let_go = sum(len(redactor.feed(" ")) for _ in range(2000))
    assert let_go == 2000 - 32
    text = " " * 2000 + '{"password": "a b"}\ntoken=x1y2\n'
    assert "".join(redact(list(text))) == remove_secrets_from_text(text)


def test_nothing_comes_of_nothing():
    assert redact([]) == []
    assert redact(["", ""]) == ["", ""]
    assert redact([], json_text=True) == []
