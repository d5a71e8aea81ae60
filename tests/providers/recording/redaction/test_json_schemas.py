"""A schema is structure, whatever name it stands under."""

from __future__ import annotations

import pytest

from openprogram.providers.recording.redaction.json_schemas import is_schema


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "description": "a page token"},
        {"type": ["string", "null"], "minLength": 8},
        {"type": "STRING"},
        {"$ref": "#/definitions/secret"},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"type": "object", "properties": {"user": {"type": "string"}}, "required": ["user"]},
    ],
)
def test_schemas_are_known_anywhere(schema: dict[str, object]):
    assert is_schema(schema, within_properties=False)
    assert is_schema(schema, within_properties=True)


@pytest.mark.parametrize("schema", [{}, {"description": "the token"}, {"enum": ["a"]}])
def test_schemas_without_a_type_are_known_within_properties(schema: dict[str, object]):
    assert is_schema(schema, within_properties=True)
    assert not is_schema(schema, within_properties=False)


@pytest.mark.parametrize(
    "value",
    [
        "string",
        None,
        ["string"],
        {"type": "string", "value": "abcd-6"},
        {"type": "bearer"},
        {"type": 1},
        {"type": "string", 1: 2},
    ],
)
def test_other_values_are_no_schemas(value: object):
    assert not is_schema(value, within_properties=False)
