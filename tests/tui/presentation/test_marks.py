"""Marks: a sign and a word for every state, so that colour is never the only carrier."""

from __future__ import annotations

from openprogram.providers.recording.format import OUTCOMES
from openprogram_recordings_tui.presentation.marks import OUTCOME_MARKS, outcome_mark


def test_every_outcome_has_a_sign_and_a_word_of_its_own():
    assert set(OUTCOME_MARKS) == set(OUTCOMES)
    assert len({mark.sign for mark in OUTCOME_MARKS.values()}) == len(OUTCOME_MARKS)
    assert len({mark.word for mark in OUTCOME_MARKS.values()}) == len(OUTCOME_MARKS)


def test_an_open_call_and_an_odd_outcome_are_marked_too():
    assert outcome_mark(None).word == "open"
    assert outcome_mark(None, "stop").word == "open"
    odd = outcome_mark("\x1b[2J")
    assert (odd.sign, odd.word, odd.role) == ("!", "\x1b[2J", "bad")


def test_a_stream_that_ended_with_an_error_is_not_plainly_complete():
    assert outcome_mark("complete", "error") == outcome_mark("error")
    assert outcome_mark("complete", "aborted").word == "aborted"
    assert outcome_mark("complete", "length") == outcome_mark("complete", "stop")
    assert outcome_mark("cancelled", "error") == outcome_mark("cancelled")
