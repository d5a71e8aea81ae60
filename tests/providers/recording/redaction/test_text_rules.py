"""The forms of a text agree on every offset."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from openprogram.providers.recording.redaction.text_rules import TextViews


@given(st.text(st.characters(), max_size=40))
def test_all_views_have_a_byte_for_each_character(text: str):
    views = TextViews(text)
    assert views.text == text
    assert views.size == len(text) == len(views.raw) == len(views.lowered) == len(views.backwards)
    assert views.backwards[::-1] == views.lowered
    for character, byte in zip(text, views.raw.decode("latin-1"), strict=True):
        if character.isascii():
            assert byte == character


def test_look_alikes_of_separators_count_as_such():
    assert TextViews("密码 password\uff1ax\uff1dy\u00a0z").raw == b"?? password:x=y z"


def test_lines_end_before_the_white_space_at_their_end():
    views = TextViews("ab \r\ncd\n\nef")
    assert [views.line_end(at) for at in (0, 2, 3, 5, 8, 9, 11)] == [2, 2, 3, 7, 8, 11, 11]
