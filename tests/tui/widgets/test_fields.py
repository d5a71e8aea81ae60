"""Fields take what can be drawn as it is, and nothing else."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from openprogram_recordings_tui.text import clean
from openprogram_recordings_tui.widgets.fields import HARMLESS, PRINTABLE_ASCII


@given(st.text(max_size=20))
def test_what_a_field_takes_needs_hardly_a_mark(text: str):
    if re.fullmatch(HARMLESS, text):
        assert not set(text) & set("\x00\x1b\x7f\x9b\u202e\u200b\u2066\ufeff\u2028\ud83d")
    if re.fullmatch(PRINTABLE_ASCII, text):
        assert clean(text) == text


def test_what_people_look_for_can_be_typed():
    for text in ("gpt-5 error", "Übung", "日本語", "[/x]", "\U0001f44d"):
        assert re.fullmatch(HARMLESS, text)
    for text in ("a\x1b[2J", "a\u202eb", "\x9b31m", "a\nb", "\udc00"):
        assert not re.fullmatch(HARMLESS, text)
