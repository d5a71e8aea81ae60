"""Any Python value becomes JSON values without credentials."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.providers import types as t
from openprogram.providers.recording.redaction import values
from openprogram.providers.recording.redaction.field_names import SECRET_FIELD_NAMES
from openprogram.providers.recording.redaction.text_values import PLACEHOLDER
from openprogram.providers.recording.redaction.values import remove_secret_values
from redaction_texts import SECRETS, TEXTS, hidden_texts, kept_texts

SECRET = "hunter7Zq91x"


@dataclasses.dataclass
class Login:
    user: str
    password: str
    headers: Any = None


class Key(msgspec.Struct):
    name: str
    value: str


class Model:
    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self.fields


class Hostile:
    """Fails at everything that it is asked."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        return 1


HIDDEN: list[Any] = [
    *({name: SECRET} for name in sorted(SECRET_FIELD_NAMES)),
    *({name.upper().replace("_", "-"): SECRET} for name in sorted(SECRET_FIELD_NAMES)),
    {
        "apiKey": SECRET,
        "refreshToken": SECRET,
        "X-Session-Token": SECRET,
        "service_api_key": SECRET,
    },
    {"token": {"value": SECRET, "list": [SECRET]}},
    [[{"a": ({"password": [SECRET]},)}]],
    {b"api_key": SECRET.encode()},
    SECRET.join(["Authorization: Bearer ", ""]).encode(),
    {f"password={SECRET}", "a"},
    frozenset({f"token={SECRET}"}),
    {f"Bearer {SECRET}": 1},
    {("x", 1): f"token={SECRET}"},
    Login("bob", SECRET),
    {"login": Login("bob", "a", headers=[["x-api-key", SECRET]])},
    Key("x-api-key", SECRET),
    Model(password=SECRET, nested=Login("a", SECRET)),
    {"headers": [["Authorization", f"Bearer {SECRET}"], ["Accept", "x"]]},
    {"headers": [("X-Api-Key", SECRET)]},
    {"headers": ((b"x-api-key", SECRET.encode()),)},
    {"headers": ["x-api-key", SECRET]},
    {"rawHeaders": ["Accept", "x", "X-Api-Key", SECRET]},
    ["Authorization", f"Digest {SECRET}"],
    {"name": "Authorization", "value": SECRET},
    {"Name": "X-Api-Key", "Value": [SECRET]},
    [{"value": SECRET, "key": "api_key"}],
    {"field": "password", "val": {"a": SECRET}},
    {"header": "Cookie", "values": (SECRET,)},
    {"args": ["tool", "--password", SECRET]},
    ["curl", "-u", f"bob:{SECRET}", "https://x.test"],
    {"auths": {"r.test": {"auth": "aHVudGVyOmh1bnRlcjdacTkxeA=="}}},
    {"body": json.dumps({"api_key": SECRET})},
    {"type": "toolCall", "id": "c", "name": "f", "arguments": {"password": SECRET}},
    {"type": "text", "id": f"sk-ant-{SECRET}"},
    {"type": "image", "data": f"not base64: token={SECRET}"},
    {"data": f"token={SECRET}"},
    {"token": {"type": "string", "default": SECRET, "examples": [SECRET]}},
    {"password": {"type": "string", "value": SECRET}},
    t.StreamOptions(api_key=SECRET, headers={"Authorization": SECRET}),
    t.Context(messages=[t.UserMessage(content=f"token={SECRET}", timestamp=1)]),
    t.Model(id="m", name="m", api="a", provider="p", base_url=f"https://u:{SECRET}@h.test"),
]
KEPT: list[Any] = [
    {"type": "toolCall", "id": "c1", "name": "press", "arguments": {"key": "Enter", "keys": ["a"]}},
    {"sort_key": "a1", "primary_key": "id", "next_page_token": "p2", "idempotency_key": "i-1"},
    {"eos_token": "</s>", "bos_token": "<s>", "pad_token": "<pad>", "public_key": "pk1"},
    {"max_tokens": 100, "token_count": 5, "tokenCount": 5, "usage": {"input_tokens": 3}},
    {"api_key": None, "password": False, "token": True},
    {"keyboard": "us", "monkey": 1, "secretary": "Ann", "author": "Bob", "tokenizer": "bpe"},
    {"Accept": "application/json", "User-Agent": "x/1.0", "X-Request-Id": "req_011CQ"},
    {
        "parameters": {
            "type": "object",
            "required": ["token", "password"],
            "properties": {
                "token": {"type": "string", "description": "page token"},
                "password": {"minLength": 8},
                "api_key": {"type": ["string", "null"]},
                "credentials": {"$ref": "#/x"},
            },
        }
    },
    {"token": {"type": "string", "default": None, "nullable": True}},
    {"name": "key", "value": "Enter"},
    [["Accept", "x"], ["Content-Type", "y"]],
    ["password", "token"],
    ["token", "count", "of", "words"],
    {
        "type": "thinking",
        "thinking": "",
        "thinking_signature": "EqQBCkYIARgCKkBxYzR2d2Vyb2l1eXRyZXd",
    },
    {
        "type": "image",
        "data": "iVBORw0KGgoAAAANSUhEUgAAAAEAAKIAIOSFODNN7EXAMPLEAA==",
        "mime_type": "x",
    },
    {"role": "toolResult", "tool_call_id": "sk-abcdEFGH1234ijklMNOP5678qrst"},
    {"type": "tool_use", "id": "sk-abcdEFGH1234ijklMNOP5678qrst"},
    {
        "id": "7c311c86-7836-4f47-bffc-aa8c3cbf261e",
        "sha": "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    },
    {"a": [1, 1.5, True, None, -0.0, 1152921504606846976], "b": {}, "c": []},
    {"text": "é\u2028\ud83d", "\ud83d": "\x00"},
]


@pytest.mark.parametrize("value", HIDDEN, ids=map(str, range(len(HIDDEN))))
def test_secrets_go_and_a_second_pass_changes_nothing(value: Any):
    redacted = remove_secret_values(value)
    assert SECRET not in json.dumps(redacted)
    assert PLACEHOLDER in json.dumps(redacted)
    assert remove_secret_values(redacted) == redacted


@pytest.mark.parametrize("value", KEPT, ids=map(str, range(len(KEPT))))
def test_other_values_stay_as_they_are(value: Any):
    before = copy.deepcopy(value)
    assert json.dumps(remove_secret_values(value)) == json.dumps(value)
    assert value == before


def test_texts_are_redacted_wherever_they_stand():
    for case in hidden_texts(SECRETS[0]):
        redacted = json.dumps(remove_secret_values({"a": [case.text, {case.text: 1}]}))
        assert not [secret for secret in case.secrets if secret in redacted], case.id
    for text in kept_texts():
        assert remove_secret_values({"a": [text, {text: None}]}) == {"a": [text, {text: None}]}


def test_null_and_booleans_stay_at_secret_names_and_all_else_goes():
    value: dict[str, Any] = {"password": 1, "token": 1.5, "secret": "", "jwt": []}
    value |= {"cookie": None, "api_key": False}
    assert remove_secret_values(value) == {
        **dict.fromkeys(["password", "token", "secret", "jwt"], PLACEHOLDER),
        "cookie": None,
        "api_key": False,
    }


def test_a_schema_keeps_its_structure_and_loses_its_values():
    schema = {"type": "string", "description": "a token", "default": "a1", "example": None}
    assert remove_secret_values({"token": schema}) == {"token": {**schema, "default": PLACEHOLDER}}


def test_keys_that_become_equal_are_all_kept():
    value = {"sk-ant-api03-aaaaaaaa": 1, "sk-ant-api03-bbbbbbbb": 2, 1: 3, "1": 4}
    assert remove_secret_values(value) == {
        PLACEHOLDER: 1,
        f"{PLACEHOLDER} (2)": 2,
        "1": 3,
        "1 (2)": 4,
    }


def test_order_is_kept_and_the_input_is_not_changed():
    value = {"b": 1, "token": {"x": [1]}, "a": [{"z": 1, "y": 2}]}
    before = copy.deepcopy(value)
    redacted = remove_secret_values(value)
    assert list(redacted) == ["b", "token", "a"]
    assert list(redacted["a"][0]) == ["z", "y"]
    assert value == before
    assert redacted["a"] is not value["a"]


def test_cycles_and_depth_end():
    loop: list[Any] = []
    loop.append({"loop": loop, "password": "a1"})
    assert remove_secret_values(loop) == [{"loop": "[cycle]", "password": PLACEHOLDER}]
    shared = {"a": 1}
    assert remove_secret_values([shared, shared]) == [shared, shared]
    deep: Any = f"token={SECRET}"
    for _ in range(100_000):
        deep = [deep]
    assert SECRET not in json.dumps(remove_secret_values(deep))
    assert "[nested too deep]" in json.dumps(remove_secret_values(deep))


def test_hostile_objects_are_named_by_their_type():
    value = {"a": Hostile(), Hostile(): 1, "b": {Hostile()}}
    assert remove_secret_values(value) == {"a": "<Hostile>", "<Hostile>": 1, "b": ["<Hostile>"]}


STRUCTS = [
    t.Model(id="m", name="m", api="a", provider="p", base_url="https://h.test"),
    t.UserMessage(
        content=[t.TextContent(text="hi"), t.ImageContent(data="AA", mime_type="x")], timestamp=1
    ),
    t.AssistantMessage(
        content=[
            t.ThinkingContent(thinking="a", thinking_signature="EqQB+/=="),
            t.ToolCall(id="toolu_01A09q90qw90lq917835lq9", name="f", arguments={"key": "Enter"}),
        ],
        api="a",
        provider="p",
        model="m",
        timestamp=1,
    ),
    t.ToolResultMessage(
        tool_call_id="c", tool_name="f", content=[], details={"n": [1.5]}, timestamp=1
    ),
    t.Context(tools=[t.Tool(name="f", description="d", parameters={"properties": {"token": {}}})]),
    t.SimpleStreamOptions(max_tokens=5, signal=None, on_payload=None),
]


@pytest.mark.parametrize("value", STRUCTS, ids=lambda value: type(value).__name__)
def test_structs_without_secrets_are_their_wire_form(value: Any):
    assert remove_secret_values(value) == t.to_wire(value)
    assert list(remove_secret_values(value)) == list(t.to_wire(value))


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXTS
    | st.binary(max_size=20)
    | st.sampled_from([math.nan, object(), len, Login("a", SECRET)])
    | st.just(0).map(lambda _: [Hostile(), {Hostile(): 1}])
    | st.just(20_000).map(lambda bits: 2**bits)
    | st.dates()
    | st.uuids()
    | st.decimals()
    | st.text(st.characters(), max_size=5)
)
NAMES = st.sampled_from(
    ["a", "token", "apiKey", "name", "value", "headers", "type", "id", "data", "properties", "auth"]
)
KEYS = NAMES | TEXTS | st.binary(max_size=8) | st.integers() | st.floats() | st.none() | st.tuples()
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.frozensets(st.text(max_size=4) | st.integers(), max_size=3)
        | st.builds(Login, inner, inner, inner)
        | st.builds(Model, password=inner, a=inner)
    ),
    max_leaves=8,
)


@settings(max_examples=300)
@given(VALUES)
def test_redaction_is_total_deterministic_and_idempotent(value: Any):
    redacted = remove_secret_values(value)
    encoded = json.dumps(redacted, allow_nan=False)
    assert json.loads(encoded) == redacted
    assert remove_secret_values(value) == redacted
    assert json.dumps(remove_secret_values(redacted)) == encoded


def test_no_long_name_is_remembered_because_it_may_be_a_secret(monkeypatch: pytest.MonkeyPatch):
    judged: list[str] = []

    def judge(name: str) -> bool:
        judged.append(name)
        return False

    monkeypatch.setattr(values, "is_secret_field", judge)
    long_name, short_name = "a name of its own " * 6, "a name of its own"
    for _ in range(3):
        remove_secret_values({long_name: 1, short_name: 2})
    assert judged.count(long_name) == 3
    assert judged.count(short_name) == 1
