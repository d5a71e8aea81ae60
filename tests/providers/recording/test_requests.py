from __future__ import annotations

import json

from openprogram.providers import types as t
from openprogram.providers.recording.redaction import PLACEHOLDER
from openprogram.providers.recording.requests import credentials_of, dump_request
from scripted import request


def test_a_request_is_its_wire_form_without_what_belongs_to_one_process() -> None:
    model, context, _ = request("hi")
    options = t.SimpleStreamOptions(signal=object(), on_payload=print, session_id="s")
    dumped = dump_request(model, context, options)
    assert list(dumped) == ["model", "context", "options"]
    assert dumped["model"] == t.to_wire(model)
    assert dumped["context"] == t.to_wire(context)
    assert dumped["options"] == t.to_wire(options)
    assert json.loads(json.dumps(dumped)) == dumped


def test_no_options_stay_null() -> None:
    model, context, _ = request()
    assert dump_request(model, context, None)["options"] is None


def test_secrets_go_and_the_request_itself_keeps_them() -> None:
    key = "sk-ant-api03-" + "AbCdEfGhIj0123456789" * 3
    model, context, _ = request(f"my key is {key}")
    model.headers = {"x-api-key": "one", "x-trace": "two"}
    options = t.SimpleStreamOptions(api_key=key, metadata={"user": {"password": "hunter two"}})
    dumped = dump_request(model, context, options)
    assert key not in json.dumps(dumped)
    assert dumped["model"]["headers"] == {"x-api-key": PLACEHOLDER, "x-trace": "two"}
    assert dumped["options"]["metadata"] == {"user": {"password": PLACEHOLDER}}
    assert (options.api_key, model.headers["x-api-key"]) == (key, "one")


def test_a_dump_is_a_copy() -> None:
    model, context, options = request()
    options.metadata = {"a": [1]}
    dumped = dump_request(model, context, options)
    options.metadata["a"].append(2)
    assert dumped["options"]["metadata"] == {"a": [1]}


def test_the_credentials_of_a_request_are_its_key_and_those_of_its_headers():
    headers = {"Authorization": "Bearer plainword", "accept": "text/html", "x-token": "abc"}
    options = t.StreamOptions(api_key="correcthorse", headers=headers)
    assert credentials_of(options) == ["correcthorse", "Bearer plainword", "plainword"]
    assert credentials_of(t.StreamOptions()) == credentials_of(None) == []
