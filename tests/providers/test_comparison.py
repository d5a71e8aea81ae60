"""Two values differ where they do: strictly in user data, by meaning where a type is declared."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recording_files as files
from openprogram.providers import types as t
from openprogram.providers.comparison import (
    MISSING,
    Difference,
    find_first_difference,
    find_first_request_difference,
    iterate_differences,
    iterate_event_differences,
    iterate_request_differences,
    join_path,
)
from openprogram.providers.ignored_paths import parse_ignored_path
from openprogram.providers.recording.redaction import PLACEHOLDER

TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 2.5]) | TEXT,
    lambda inner: (
        st.lists(inner, max_size=10) | st.dictionaries(st.sampled_from("abcdefghij"), inner)
    ),
    max_leaves=12,
)


def strict(value: Any) -> Any:
    """A form in which `==` tells 1, 1.0 and true apart, and forgets the order of keys."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return ("dict", {key: strict(inner) for key, inner in items})
    if isinstance(value, list):
        return ("list", [strict(inner) for inner in cast("list[Any]", value)])
    return (type(value).__name__, value)


def patched(value: Any, differences: list[Difference]) -> Any:
    """Apply differences: if the outcome is the other value, nothing was left out."""
    root: Any = [deepcopy(value)]
    removals = [d for d in differences if d.incoming is MISSING]
    for difference in (*(d for d in differences if d.incoming is not MISSING), *removals[::-1]):
        *trail, last = (0, *difference.steps)
        target = root
        for step in trail:
            target = target[step]
        if difference.incoming is MISSING:
            del target[last]
        elif difference.recorded is MISSING and isinstance(last, int):
            target.append(difference.incoming)
        else:
            target[last] = difference.incoming
    return root[0]


def paths(differences: Any) -> list[str]:
    return [difference.path for difference in differences]


def first(recorded: Any, incoming: Any) -> tuple[str, Any, Any] | None:
    found = find_first_difference(recorded, incoming)
    return None if found is None else (found.path, found.recorded, found.incoming)


PAIRS: list[Any] = [
    (1, 1, None),
    (1, 1.0, ("", 1, 1.0)),
    (1, True, ("", 1, True)),
    (0, False, ("", 0, False)),
    (0.0, False, ("", 0.0, False)),
    (None, 0, ("", None, 0)),
    (None, False, ("", None, False)),
    ("", None, ("", "", None)),
    ("1", 1, ("", "1", 1)),
    ({}, [], ("", {}, [])),
    ({"a": None}, {}, ("a", None, MISSING)),
    ({}, {"a": None}, ("a", MISSING, None)),
    ({"b": 1, "a": 1}, {"a": 2, "b": 2}, ("a", 1, 2)),
    ({"z": 1}, {"a": 1}, ("a", MISSING, 1)),
    ([1, 2], [1], ("[1]", 2, MISSING)),
    ([1], [1, 2], ("[1]", MISSING, 2)),
    ([[]], [[[]]], ("[0][0]", MISSING, [])),
    ({"a": [{"b": 1}]}, {"a": [{"b": 1.0}]}, ("a[0].b", 1, 1.0)),
    ({"b": 1, "a": {"x": 1}}, {"a": {"x": 1}, "b": 1}, None),
    ({"timestamp": 1}, {"timestamp": 2}, ("timestamp", 1, 2)),
    ("\ud83d", "\ud83d", None),
    ("\ud83d", "\ud83e", ("", "\ud83d", "\ud83e")),
    ("é", "e\u0301", ("", "é", "e\u0301")),
    (10**400, 10**400, None),
    (10**400, 10**400 + 1, ("", 10**400, 10**400 + 1)),
]


class TestUserData:
    @pytest.mark.parametrize(
        ("recorded", "incoming", "expected"), PAIRS, ids=lambda value: ascii(value)[:30]
    )
    def test_is_compared_strictly(self, recorded: Any, incoming: Any, expected: Any):
        assert first(recorded, incoming) == expected

    @settings(max_examples=100)
    @given(value=VALUES, other=VALUES)
    def test_no_difference_means_equal_and_the_other_way_round(self, value: Any, other: Any):
        assert find_first_difference(value, deepcopy(value)) is None
        is_equal = strict(value) == strict(other)
        assert (find_first_difference(value, other) is None) == is_equal

    @settings(max_examples=100)
    @given(value=VALUES, other=VALUES)
    def test_the_differences_are_all_there_is_and_come_in_order(self, value: Any, other: Any):
        found = list(iterate_differences(value, other))
        assert strict(patched(value, found)) == strict(other)
        steps = [difference.steps for difference in found]
        assert len(set(steps)) == len(steps)
        assert not any(one != two and two[: len(one)] == one for one in steps for two in steps)
        forward = list(iterate_differences(other, value))
        assert [d.steps for d in forward] == steps
        if found:
            assert find_first_difference(value, other) == found[0]

    @pytest.mark.parametrize("count", [1, 7, 8, 9, 15, 16, 17, 40])
    def test_the_place_is_exact_in_lists_and_dicts_of_any_width(self, count: int):
        for changed in {0, count // 2, count - 1}:
            for one, other in [(1, 1.0), ({"a": 1}, {"a": 1.0}), ([1], [True]), ("x", "y")]:
                items = [deepcopy(one) for _ in range(count)]
                others = [*items[:changed], other, *items[changed + 1 :]]
                found = find_first_difference(items, others)
                assert found is not None
                assert found.steps[0] == changed
                fields = {f"k{at}": item for at, item in enumerate(items)}
                found = find_first_difference(fields, {**fields, f"k{changed}": other})
                assert found is not None
                assert found.steps[0] == f"k{changed}"

    def test_depth_is_no_trouble(self):
        one: Any = 1
        other: Any = 1.0
        for _ in range(20_000):
            one, other = [one], [other]
        found = find_first_difference(one, other)
        assert found is not None
        assert len(found.steps) == 20_000


class TestPaths:
    @pytest.mark.parametrize(
        ("steps", "path"),
        [
            (("a", 0, "b"), "a[0].b"),
            ((0, 1), "[0][1]"),
            (("x-api-key",), '["x-api-key"]'),
            (("a", ""), 'a[""]'),
            (("a", "b.c"), 'a["b.c"]'),
            (("a", "1"), 'a["1"]'),
            (("a", 'q"\\'), 'a["q\\"\\\\"]'),
            (("a", "\x1b[2J\n"), 'a["\\u001b[2J\\n"]'),
            (("a", "é"), 'a["\\u00e9"]'),
            (("a", "\ud83d"), 'a["\\ud83d"]'),
        ],
    )
    def test_keys_that_are_no_names_are_quoted(self, steps: tuple[str | int, ...], path: str):
        assert join_path("", *steps) == path
        assert path.isprintable()


def request_parts(**changes: Any) -> dict[str, Any]:
    row = deepcopy(files.request_row(0, "hi"))
    row["context"]["tools"] = [
        t.to_wire(t.Tool(name="f", description="d", parameters={"type": "object"}))
    ]
    for path, value in changes.items():
        *trail, last = path.split("__")
        target: Any = row
        for step in trail:
            target = target[int(step) if step.isdigit() else step]
        target[last] = value
    return {name: row[name] for name in ("model", "context", "options")}


def removed(request: dict[str, Any], *steps: str | int) -> dict[str, Any]:
    request = deepcopy(request)
    target: Any = request
    for step in steps[:-1]:
        target = target[step]
    del target[steps[-1]]
    return request


class TestRequests:
    @pytest.mark.parametrize(
        ("change", "path"),
        [
            ({"model__id": "x"}, "model.id"),
            ({"options__max_tokens": 5}, "options.max_tokens"),
            ({"context__system_prompt": "x"}, "context.system_prompt"),
            ({"context__messages__0__content": "x"}, "context.messages[0].content"),
            (
                {"context__messages__0__content": [{"type": "text", "text": "hi"}]},
                "context.messages[0].content",
            ),
            ({"context__tools": []}, "context.tools[0]"),
            ({"context__tools": None}, "context.tools"),
            ({"model__new_field": 1}, "model.new_field"),
            ({"options": None}, "options"),
            ({"options__metadata": {}}, "options.metadata"),
            ({"model__compat": {"a": 1}}, "model.compat"),
            ({"model__cost__input": 1.0}, "model.cost.input"),
            ({"model__reasoning": 0}, "model.reasoning"),
        ],
    )
    def test_a_change_is_found_at_its_place(self, change: dict[str, Any], path: str):
        recorded, incoming = request_parts(), request_parts(**change)
        found = find_first_request_difference(recorded, incoming)
        assert found is not None
        assert found.path == path
        back = find_first_request_difference(incoming, recorded)
        assert back is not None
        assert (back.path, back.recorded, back.incoming) == (path, found.incoming, found.recorded)

    def test_the_parts_come_in_their_order(self):
        changes = {"model__id": "x", "context__system_prompt": "x", "options__max_tokens": 5}
        found = iterate_request_differences(request_parts(), request_parts(**changes))
        assert paths(found) == ["model.id", "context.system_prompt", "options.max_tokens"]

    @pytest.mark.parametrize(
        "change",
        [
            {"context__messages__0__timestamp": 99},
            {"options__signal": "here", "options__on_payload": None},
            {"model__context_window": 128_000.0},
            {"model__new_field": None},
            {"options__new_field": None},
            {"context__messages__0__new_field": None},
        ],
    )
    def test_what_means_the_same_is_no_difference(self, change: dict[str, Any]):
        recorded, incoming = request_parts(), request_parts(**change)
        assert find_first_request_difference(recorded, incoming) is None
        assert find_first_request_difference(incoming, recorded) is None

    def test_a_timestamp_counts_where_no_message_type_declares_it(self):
        for place in ("options__metadata", "model__compat", "context__tools__0__parameters"):
            one = request_parts(**{place: {"timestamp": 1}})
            other = request_parts(**{place: {"timestamp": 2}})
            assert find_first_request_difference(one, other) is not None
        call = t.ToolCall(id="c", name="f", arguments={"timestamp": 1})
        one = request_parts(context__messages=[t.to_wire(files.message(call))])
        other = deepcopy(one)
        other["context"]["messages"][0]["timestamp"] = 77
        assert find_first_request_difference(one, other) is None
        other["context"]["messages"][0]["content"][0]["arguments"]["timestamp"] = 2
        found = find_first_request_difference(one, other)
        assert found is not None
        assert found.path == "context.messages[0].content[0].arguments.timestamp"

    def test_numbers_in_user_data_keep_their_kind(self):
        for one, other in [(1, 1.0), (1, True), (None, MISSING)]:
            recorded = request_parts(options__metadata={"a": one})
            incoming = request_parts(options__metadata={} if other is MISSING else {"a": other})
            found = find_first_request_difference(recorded, incoming)
            assert found is not None
            assert found.path == "options.metadata.a"

    @pytest.mark.parametrize(
        "steps",
        [
            ("model", "fast"),
            ("model", "thinking_levels"),
            ("model", "input"),
            ("model", "cost"),
            ("model", "cost", "source"),
            ("model", "headers"),
            ("options", "cache_retention"),
            ("options", "max_retry_delay_ms"),
            ("context", "tools", 0, "cache_control"),
        ],
    )
    def test_a_field_that_is_not_there_counts_as_its_default(self, steps: tuple[str | int, ...]):
        whole = request_parts()
        assert find_first_request_difference(removed(whole, *steps), whole) is None
        assert find_first_request_difference(whole, removed(whole, *steps)) is None

    def test_a_default_is_no_cloak_for_another_value(self):
        whole = request_parts(model__fast=True, model__cost={"input": 3.0}, model__input=["image"])
        for steps, path in [
            (("model", "fast"), "model.fast"),
            (("model", "cost"), "model.cost.input"),
            (("model", "input"), "model.input[0]"),
        ]:
            found = find_first_request_difference(removed(whole, *steps), whole)
            assert found is not None
            assert found.path == path

    def test_null_and_the_placeholder_are_equal_where_a_secret_stands(self):
        held = request_parts(options__api_key=PLACEHOLDER)
        for other in (
            request_parts(options__api_key=None),
            removed(request_parts(), "options", "api_key"),
        ):
            assert find_first_request_difference(held, other) is None
            assert find_first_request_difference(other, held) is None
        headers = request_parts(model__headers={"x-api-key": PLACEHOLDER})
        nulled = request_parts(model__headers={"x-api-key": None})
        assert find_first_request_difference(headers, nulled) is None
        gone = request_parts(model__headers={})
        assert find_first_request_difference(headers, gone) is not None
        text = request_parts(options__session_id=PLACEHOLDER)
        found = find_first_request_difference(text, request_parts(options__session_id=None))
        assert found is not None

    def test_ignored_places_are_passed_over_and_no_others(self):
        changes = {"options__session_id": "s", "model__cost": {"input": 9.0}, "model__id": "x"}
        recorded, incoming = request_parts(), request_parts(**changes)
        ignore = [parse_ignored_path(text) for text in ("options.session_id", "model.cost")]
        found = iterate_request_differences(recorded, incoming, ignore=ignore)
        assert paths(found) == ["model.id"]
        assert find_first_request_difference(recorded, recorded, ignore=ignore) is None

    def test_one_word_far_down_is_found(self):
        messages = [
            t.to_wire(t.UserMessage(content=f"message {number}", timestamp=number))
            for number in range(80)
        ]
        recorded = request_parts(context__messages=messages)
        incoming = deepcopy(recorded)
        for message in incoming["context"]["messages"]:
            message["timestamp"] += 1000
        incoming["context"]["messages"][37]["content"] = "message 38"
        found = list(iterate_request_differences(recorded, incoming))
        assert found == [
            Difference(
                path="context.messages[37].content",
                steps=("context", "messages", 37, "content"),
                recorded="message 37",
                incoming="message 38",
            )
        ]

    def test_blocks_of_two_kinds_differ(self):
        one = request_parts(context__messages__0__content=[{"type": "text", "text": "a"}])
        other = request_parts(context__messages__0__content=[{"type": "image", "text": "a"}])
        found = find_first_request_difference(one, other)
        assert found is not None
        assert found.path == "context.messages[0].content[0].type"

    def test_requests_that_are_no_objects_are_compared_all_the_same(self):
        odd: list[Any] = [None, [], 5, {"messages": 7}, {"messages": [5, None]}]
        for one in odd:
            for other in odd:
                recorded, incoming = {"context": one}, {"context": other}
                found = find_first_request_difference(recorded, incoming)
                if one is other:
                    assert found is None
                elif {type(one), type(other)} != {dict}:
                    assert found is not None

    def test_values_are_left_as_they_were(self):
        recorded, incoming = request_parts(), removed(request_parts(), "model", "cost")
        before = json.dumps([recorded, incoming])
        list(iterate_request_differences(recorded, incoming))
        assert json.dumps([recorded, incoming]) == before


class TestEvents:
    def test_events_compare_by_their_types(self):
        events = files.tool_events()
        for event in events:
            later = deepcopy(event)
            message = later.get("partial") or later.get("message")
            assert message is not None
            message["timestamp"] += 5
            assert list(iterate_event_differences(event, later)) == []
        changed = deepcopy(events[3])
        changed["tool_call"]["arguments"]["a"][0] = 1.0
        assert paths(iterate_event_differences(events[3], changed)) == ["tool_call.arguments.a[0]"]
        assert "type" in paths(iterate_event_differences(events[0], events[4]))
