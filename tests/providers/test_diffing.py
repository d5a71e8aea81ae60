"""Two recordings are compared call by call, and every place at which they differ is named."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recording_files as files
from openprogram.errors import RecordingFileError
from openprogram.providers import types as t
from openprogram.providers.comparison import MISSING
from openprogram.providers.diffing import PAIR_STATES, RecordingDiff, diff_recordings

if TYPE_CHECKING:
    from pathlib import Path

    from openprogram.providers.comparison import Difference
    from recording_files import Row

Call = tuple[str, str]
"""What a call asks, and what it is answered."""


def _rows(*calls: Call, **request: Any) -> list[Row]:
    rows: list[Row] = [files.HEADER]
    for index, (asked, answered) in enumerate(calls):
        rows += files.call_rows(index, files.text_events(answered), text=asked, **request)
    return rows


def _growing(*turns: Call) -> list[Row]:
    """A conversation: each request holds what was asked and answered before it."""
    rows: list[Row] = [files.HEADER]
    messages: list[Row] = []
    for index, (asked, answered) in enumerate(turns):
        messages.append({"role": "user", "content": asked, "timestamp": index})
        call = files.call_rows(index, files.text_events(answered))
        call[0]["context"]["messages"] = list(messages)
        messages.append(t.to_wire(files.message(t.TextContent(text=answered))))
        rows += call
    return rows


def _diff(folder: Path, rows: list[Row], other_rows: list[Row]) -> RecordingDiff:
    return diff_recordings(
        files.write(folder / "a.jsonl", rows), files.write(folder / "b.jsonl", other_rows)
    )


def _states(diff: RecordingDiff) -> list[tuple[str, int | None, int | None]]:
    return [
        (pair.state, pair.first and pair.first.call_index, pair.second and pair.second.call_index)
        for pair in diff.pairs
    ]


def _differences(diff: RecordingDiff) -> list[Difference]:
    return [found for pair in diff.pairs for found in diff.iterate_differences(pair)]


def _named(diff: RecordingDiff) -> list[tuple[str, Any, Any]]:
    return [(found.path, found.recorded, found.incoming) for found in _differences(diff)]


def test_a_recording_equals_itself_and_another_layout_of_it(tmp_path: Path):
    rows = files.sample_rows()
    path = files.write(tmp_path / "a.jsonl", rows)
    other = files.write(tmp_path / "b.jsonl", rows, files.sorted_by_key)
    for diff in (diff_recordings(path, path), diff_recordings(path, other)):
        assert diff.is_equal
        assert diff.count("equal") == len(diff.pairs) == 6
        assert _differences(diff) == []


def test_headers_times_and_the_order_of_rows_do_not_count(tmp_path: Path):
    first, second = files.call_rows(0, files.text_events("a")), files.call_rows(1, [])
    other: list[Row] = [{**files.HEADER, "recording_id": "y"}, *files.interleaved(first, second)]
    for row in other:
        if row["type"] == "request":
            row["context"]["messages"][0]["timestamp"] = 77
    assert _diff(tmp_path, [files.HEADER, *first, *second], other).is_equal


def test_every_difference_of_a_request_is_named_in_order(tmp_path: Path):
    rows, other = _rows(("hi", "x")), _rows(("bye", "x"), name="New")
    other[1]["options"]["headers"] = {"x-id": "1"}
    del other[1]["model"]["base_url"]
    diff = _diff(tmp_path, rows, other)
    assert _states(diff) == [("changed", 0, 0)]
    assert _named(diff) == [
        ("model.base_url", "https://model.test", MISSING),
        ("model.name", "Pretend", "New"),
        ("context.messages[0].content", "hi", "bye"),
        ("options.headers", None, {"x-id": "1"}),
    ]
    assert not diff.is_equal


def test_every_difference_of_an_answer_is_named_in_order(tmp_path: Path):
    rows = [files.HEADER, *files.call_rows(0, files.text_events("a", "b"))]
    other = [
        files.HEADER,
        *files.call_rows(
            0, files.text_events("a", usage=t.Usage(input=3), stop_reason="length"), "cancelled"
        ),
    ]
    rows[-2]["event"]["message"]["x_new"] = other[-2]["event"]["message"]["x_other"] = 1
    assert _named(_diff(tmp_path, rows, other)) == [
        ("answer.outcome", "complete", "cancelled"),
        ("answer.content[0].text", "ab", "a"),
        ("answer.stop_reason", "stop", "length"),
        ("answer.usage.input", 0, 3),
        ("answer.x_new", 1, MISSING),
        ("answer.x_other", MISSING, 1),
        ("answer.event_count", 6, 5),
    ]


def test_how_an_answer_was_cut_into_events_does_not_count_but_for_their_number(tmp_path: Path):
    rows = [files.HEADER, *files.call_rows(0, files.text_events("ab", "c"))]
    other = [files.HEADER, *files.call_rows(0, files.text_events("a", "bc"))]
    assert _diff(tmp_path, rows, other).is_equal
    other = [files.HEADER, *files.call_rows(0, files.text_events("abc"))]
    assert _named(_diff(tmp_path, rows, other)) == [("answer.event_count", 6, 5)]


def test_an_answer_that_was_cut_short_is_what_came_of_it(tmp_path: Path):
    def cut(*deltas: str) -> list[Row]:
        events = files.text_events(*deltas)[:-2]
        return [files.HEADER, *files.call_rows(0, events, "cancelled")]

    assert _diff(tmp_path, cut("a", "b"), cut("a", "b")).is_equal
    assert _named(_diff(tmp_path, cut("a", "b"), cut("a", "c"))) == [
        ("answer.content[0].text", "ab", "ac")
    ]
    nothing = [files.HEADER, *files.call_rows(0, [], "cancelled")]
    ((path, recorded, incoming), count) = _named(_diff(tmp_path, nothing, cut("a")))
    assert (path, recorded, incoming["content"][0]["text"]) == ("answer", MISSING, "a")
    assert count == ("answer.event_count", 0, 3)
    assert _diff(tmp_path, nothing, nothing).is_equal


def test_an_answer_that_failed_is_compared_with_its_error(tmp_path: Path):
    def failed(text: str) -> list[Row]:
        error = t.EventError(
            reason="error", error=files.message(stop_reason="error", error_message=text)
        )
        return [files.HEADER, *files.call_rows(0, [t.to_wire(error)], "error")]

    assert _named(_diff(tmp_path, failed("busy"), failed("gone"))) == [
        ("answer.error_message", "busy", "gone")
    ]


def test_a_call_put_into_the_middle_leaves_the_others_equal(tmp_path: Path):
    calls = [(f"ask {n}", f"answer {n}") for n in range(6)]
    other = [*calls[:3], ("new", "new"), *calls[3:]]
    assert _states(_diff(tmp_path, _rows(*calls), _rows(*other))) == [
        *[("equal", n, n) for n in range(3)],
        ("inserted", None, 3),
        *[("equal", n, n + 1) for n in range(3, 6)],
    ]
    assert [state for state, *_ in _states(_diff(tmp_path, _rows(*other), _rows(*calls)))] == [
        *(["equal"] * 3),
        "removed",
        *(["equal"] * 3),
    ]


def test_a_changed_call_keeps_its_counterpart_by_request_then_by_answer(tmp_path: Path):
    rows = _rows(("a", "1"), ("b", "2"), ("c", "3"))
    other = _rows(("x", "9"), ("a", "0"), ("y", "2"), ("z", "8"), ("c", "3"))
    assert _states(_diff(tmp_path, rows, other)) == [
        ("inserted", None, 0),
        ("changed", 0, 1),
        ("changed", 1, 2),
        ("inserted", None, 3),
        ("equal", 2, 4),
    ]


def test_a_conversation_that_took_another_way_is_aligned_by_its_newest_messages(tmp_path: Path):
    turns = [("one", "1"), ("two", "2"), ("three", "3"), ("four", "4")]
    other = [("one", "uno"), ("wait", "?"), ("two", "dos"), ("three", "tres"), ("four", "cuatro")]
    assert _states(_diff(tmp_path, _growing(*turns), _growing(*other))) == [
        ("changed", 0, 0),
        ("inserted", None, 1),
        ("changed", 1, 2),
        ("changed", 2, 3),
        ("changed", 3, 4),
    ]


def test_a_call_asked_again_is_aligned_by_how_many_messages_it_sends(tmp_path: Path):
    def turns(language: str, *counts: int) -> list[Row]:
        rows: list[Row] = [files.HEADER]
        for index, count in enumerate(counts):
            call = files.call_rows(index, files.text_events(f"{language} {index}"))
            call[0]["context"]["messages"] = [
                {"role": "user", "content": f"{language} {index} {n}", "timestamp": 1}
                for n in range(count)
            ]
            rows += call
        return rows

    assert _states(_diff(tmp_path, turns("a", 1, 3, 5), turns("b", 1, 3, 3, 5))) == [
        ("changed", 0, 0),
        ("changed", 1, 1),
        ("inserted", None, 2),
        ("changed", 2, 3),
    ]


def test_a_call_at_another_place_names_its_twin(tmp_path: Path):
    rows = _rows(("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"))
    other = _rows(("b", "2"), ("c", "3"), ("new", "new"), ("d", "4"), ("a", "1"))
    diff = _diff(tmp_path, rows, other)
    assert _states(diff) == [
        ("removed", 0, None),
        ("equal", 1, 0),
        ("equal", 2, 1),
        ("inserted", None, 2),
        ("equal", 3, 3),
        ("inserted", None, 4),
    ]
    twins = [pair.twin and pair.twin.call_index for pair in diff.pairs]
    assert twins == [4, None, None, None, None, 0]
    assert _differences(diff) == []


def test_a_twin_may_stand_in_the_place_of_a_changed_call(tmp_path: Path):
    rows, other = _rows(("a", "1"), ("b", "2")), _rows(("b", "2"), ("a", "1"), ("c", "3"))
    diff = _diff(tmp_path, rows, other)
    assert _states(diff) == [("inserted", None, 0), ("equal", 0, 1), ("changed", 1, 2)]
    assert [pair.twin and pair.twin.call_index for pair in diff.pairs] == [1, None, None]


def test_equal_calls_in_turn_are_paired_one_by_one(tmp_path: Path):
    diff = _diff(tmp_path, _rows(*[("a", "1")] * 3), _rows(*[("a", "1")] * 5))
    assert [diff.count(state) for state in PAIR_STATES] == [3, 0, 0, 2]


def test_values_that_are_only_written_differently_are_equal(tmp_path: Path):
    rows, other = _rows(("a", "1")), _rows(("a", "1"))
    rows[1]["options"]["metadata"], other[1]["options"]["metadata"] = {"n": 0.0}, {"n": -0.0}
    rows[1]["model"]["context_window"] = 128000.0
    assert _diff(tmp_path, rows, other).is_equal


def test_lone_surrogates_are_compared(tmp_path: Path):
    rows, other = _rows(("\ud83d", "\ud83d")), _rows(("\udcb2", "\ud83d"))
    paths = [
        files.write(tmp_path / name, each, files.spaced)
        for name, each in (("a.jsonl", rows), ("b.jsonl", other))
    ]
    assert _named(diff_recordings(*paths)) == [("context.messages[0].content", "\ud83d", "\udcb2")]


@pytest.mark.parametrize("is_first", [True, False])
def test_an_unsound_file_is_refused(tmp_path: Path, is_first: bool):
    sound = files.write(tmp_path / "a.jsonl", _rows(("a", "1")))
    broken = files.write(tmp_path / "b.jsonl", _rows(("a", "1"))[:-1])
    with pytest.raises(RecordingFileError) as caught:
        diff_recordings(*((broken, sound) if is_first else (sound, broken)))
    assert (caught.value.code, caught.value.path) == ("missing_call_end", broken)
    with pytest.raises(RecordingFileError) as caught:
        diff_recordings(sound, tmp_path / "nothing.jsonl")
    assert caught.value.code == "unreadable"


def test_a_file_that_became_another_is_refused(tmp_path: Path):
    diff = _diff(tmp_path, _rows(("a", "1"), ("b", "2")), _rows(("a", "9"), ("b", "2")))
    data = diff.second.path.read_bytes()
    for changed in (
        data.replace(b'"call_index":0', b'"call_index":9'),
        data.replace(b'"type":"request"', b'"type":"call_end"'),
        data[: len(data) // 3],
        data.replace(b'"message":{', b'"massage":{'),
        b"x" * len(data),
    ):
        diff.second.path.write_bytes(changed)
        with pytest.raises(RecordingFileError) as caught:
            list(diff.iterate_differences(diff.pairs[0]))
        assert caught.value.code == "unreadable"


def _next_descriptor() -> int:
    fd = os.open(os.devnull, os.O_RDONLY)
    os.close(fd)
    return fd


def test_nothing_on_disk_changes_and_nothing_stays_open(tmp_path: Path):
    before = _next_descriptor()
    diff = _diff(tmp_path, _rows(("a", "1")), _rows(("b", "1")))
    for path in (diff.first.path, diff.second.path):
        path.chmod(0o444)
    stats = [path.stat() for path in (diff.first.path, diff.second.path)]
    assert len(_differences(diff)) == 1
    for path, known in zip((diff.first.path, diff.second.path), stats, strict=True):
        found = path.stat()
        assert (found.st_mode, found.st_mtime_ns) == (known.st_mode, known.st_mtime_ns)
    assert sorted(path.name for path in tmp_path.glob("*")) == ["a.jsonl", "b.jsonl", "home"]
    assert _next_descriptor() == before


CALLS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(["1", "2"])), max_size=5
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CALLS, CALLS)
def test_both_directions_agree_and_equal_means_equal(
    tmp_path: Path, calls: list[Call], other_calls: list[Call]
):
    diff = _diff(tmp_path, _rows(*calls), _rows(*other_calls))
    back = _diff(tmp_path, _rows(*other_calls), _rows(*calls))
    assert diff.is_equal == (calls == other_calls) == back.is_equal
    counts = {state: diff.count(state) for state in PAIR_STATES}
    assert counts["equal"] + counts["changed"] + counts["removed"] == len(calls)
    assert counts["equal"] + counts["changed"] + counts["inserted"] == len(other_calls)
    assert {state: back.count(state) for state in PAIR_STATES} == {
        **counts,
        "removed": counts["inserted"],
        "inserted": counts["removed"],
    }


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CALLS)
def test_whatever_is_in_it_a_recording_equals_itself(tmp_path: Path, calls: list[Call]):
    diff = _diff(tmp_path, _rows(*calls), _rows(*calls))
    assert [pair.state for pair in diff.pairs] == ["equal"] * len(calls)
    assert _differences(diff) == []


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CALLS, CALLS)
def test_changed_is_what_has_a_difference(
    tmp_path: Path, calls: list[Call], other_calls: list[Call]
):
    diff = _diff(tmp_path, _rows(*calls), _rows(*other_calls))
    for pair in diff.pairs:
        assert bool(list(diff.iterate_differences(pair))) == (pair.state == "changed")
