"""What a JSON Schema looks like: structure, which stays readable under any name.

A tool's schema says that it takes a `password`; that is no password.
"""

from __future__ import annotations

SCHEMA_MAP_NAMES = frozenset(
    {"properties", "patternProperties", "definitions", "$defs", "dependentSchemas"}
)
"""Fields of a JSON Schema whose own fields are names that somebody chose, each with a schema."""

SCHEMA_VALUE_NAMES = frozenset({"default", "const", "example", "examples"})
"""Fields of a JSON Schema that hold a value; under a secret name, a secret."""

_SCHEMA_WORDS = (
    SCHEMA_MAP_NAMES
    | SCHEMA_VALUE_NAMES
    | frozenset(
        """
        $ref $id $schema $comment $anchor type title description format enum anyOf oneOf allOf not
        if then else items prefixItems additionalItems contains additionalProperties
        propertyNames unevaluatedItems unevaluatedProperties required dependentRequired
        dependencies minLength maxLength pattern minimum maximum exclusiveMinimum
        exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties
        minContains maxContains contentEncoding contentMediaType contentSchema readOnly writeOnly
        deprecated nullable discriminator externalDocs xml
        """.split()  # noqa: SIM905 - a hundred quotes would hide the words
    )
)
_SCHEMA_TYPES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_SCHEMA_OPENERS = ("$ref", "anyOf", "oneOf", "allOf")


def is_schema(value: object, *, within_properties: bool) -> bool:
    """Say whether the value of a secret field is a JSON Schema: structure, not a credential.

    Args:
        value: What stands under the name.
        within_properties: Whether the name stands in a field of `SCHEMA_MAP_NAMES`, where a schema
            need not say its type.

    Returns:
        True for an object made only of the words of JSON Schema.
    """
    if not isinstance(value, dict):
        return False
    schema: dict[object, object] = value  # pyright: ignore[reportUnknownVariableType] - narrowed only
    if not all(word in _SCHEMA_WORDS for word in schema):
        return False
    if within_properties:
        return True
    type_ = schema.get("type")
    types: list[object] = type_ if isinstance(type_, list) else [type_]  # pyright: ignore[reportUnknownVariableType] - elements are compared only
    is_typed = all(isinstance(one, str) and one.lower() in _SCHEMA_TYPES for one in types)
    return is_typed or any(opener in schema for opener in _SCHEMA_OPENERS)
