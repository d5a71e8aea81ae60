"""What is declared of a place follows from the wire types, so a new field is known by itself."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any

import pytest

from openprogram.providers import declared_places
from openprogram.providers import types as t
from openprogram.providers.declared_places import NON_DETERMINISTIC_FIELD_NAMES, Place

if TYPE_CHECKING:
    import msgspec

PARTS: dict[str, type[msgspec.Struct]] = {
    "model": t.Model,
    "context": t.Context,
    "options": t.SimpleStreamOptions,
}


@pytest.mark.parametrize("name", PARTS)
def test_every_field_of_a_request_is_known_and_compared_unless_it_is_of_one_run(name: str):
    place = declared_places.request_places()[name]
    declared = set(PARTS[name].__struct_fields__)
    assert place.known_names == declared
    assert set(place.fields) == declared - t.REQUEST_LOCAL_FIELD_NAMES


def test_defaults_are_those_of_the_types():
    fields = declared_places.request_places()["model"].fields
    assert fields["context_window"].default == 128_000
    assert fields["input"].default == ["text"]
    assert fields["cost"].default == t.to_wire(t.ModelCost())
    assert fields["id"].default is None


def test_user_data_has_no_place():
    options = declared_places.request_places()["options"].fields
    for name in ("metadata", "headers", "tool_choice", "web_search", "response_format"):
        assert options[name].place is None
    assert declared_places.request_places()["model"].fields["compat"].place is None


def test_numbers_are_known_as_numbers_and_truth_is_none():
    model = declared_places.request_places()["model"].fields
    assert model["max_tokens"].place == Place(is_number=True)
    assert model["reasoning"].place == Place()
    options = declared_places.request_places()["options"].fields
    assert options["temperature"].place == Place(is_number=True)


def messages() -> Place:
    place = declared_places.request_places()["context"].fields["messages"].place
    assert place is not None
    assert place.items is not None
    return place.items


def test_a_message_is_known_by_its_role_and_its_time_is_passed_over():
    assert set(messages().variants) == {"user", "assistant", "toolResult"}
    for variant in messages().variants.values():
        assert "timestamp" in variant.known_names
        assert not NON_DETERMINISTIC_FIELD_NAMES & set(variant.fields)
        assert "role" in variant.fields


@pytest.mark.parametrize(
    ("one", "other", "is_known"),
    [
        ({"role": "user"}, {"role": "user"}, True),
        ({"role": "user"}, {"role": "assistant"}, False),
        ({"role": "narrator"}, {"role": "narrator"}, False),
        ({"role": None}, {"role": None}, False),
        ({"role": []}, {"role": []}, False),
        ({}, {}, False),
    ],
)
def test_two_objects_have_a_place_when_they_are_of_one_known_kind(
    one: dict[str, Any], other: dict[str, Any], is_known: bool
):
    assert (messages().of(one, other) is not None) == is_known


def test_every_event_is_known():
    events = typing.cast("tuple[type[msgspec.Struct], ...]", typing.get_args(t.RecordedEvent))
    tags = {str(event.__struct_config__.tag) for event in events}
    assert set(declared_places.event_place().variants) == tags
