"""Translates the vendor's chunks into our events; knows no network and no SDK.

Each chunk holds some parts of the answer. Parts of one kind in a row are one block, but a part with
a signature is always a block of its own: the vendor wants it back as it was, not merged with
others. Kinds of parts that have no place in our messages are skipped, and so are further
candidates.
Source: https://ai.google.dev/api/generate-content and
https://ai.google.dev/gemini-api/docs/thought-signatures.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from openprogram.providers.vendors._failures import failure
from openprogram.providers.vendors._google_failures import error_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from openprogram.errors import FailureReason, ModelRequestError
    from openprogram.providers import types as t
    from openprogram.providers.vendors._assembly import MessageAssembler

T = TypeVar("T")

_STOP_REASONS: Mapping[str | None, Literal["stop", "length"]] = {
    "CONTINUATION": "length",
    "MAX_TOKENS": "length",
}
"""All others that are no failure (`STOP`, and those to come) are a plain stop."""

_FAILURES: Mapping[str, FailureReason] = {
    "BLOCKLIST": "refusal",
    "ESCALATION": "refusal",
    "IMAGE_OTHER": "bad_response",
    "IMAGE_PROHIBITED_CONTENT": "refusal",
    "IMAGE_RECITATION": "refusal",
    "IMAGE_SAFETY": "refusal",
    "LANGUAGE": "refusal",
    "MALFORMED_FUNCTION_CALL": "bad_response",
    "MALFORMED_RESPONSE": "bad_response",
    "MISSING_THOUGHT_SIGNATURE": "bad_request",
    "MODEL_ARMOR": "refusal",
    "NO_IMAGE": "bad_response",
    "OTHER": "unknown",
    "PROHIBITED_CONTENT": "refusal",
    "PUP_LIMITED_DISABLED": "auth",
    "RECITATION": "refusal",
    "SAFETY": "refusal",
    "SPII": "refusal",
    "TOO_MANY_TOOL_CALLS": "bad_response",
    "UNEXPECTED_TOOL_CALL": "bad_response",
}
"""Ends at which the answer is not what the model was to say, and what kind of failure each is."""

_SIGNATURE_ALONE = frozenset({"thought", "thoughtSignature"})


class _Wire(msgspec.Struct, rename="camel"):
    """Skips what it does not know."""


class _Call(_Wire):
    name: str
    id: str | None = None
    args: dict[str, Any] | None = None


class _Part(_Wire):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: _Call | None = None


class _Content(_Wire):
    parts: list[dict[str, Any]] | None = None


class _Candidate(_Wire):
    content: _Content | None = None
    index: int | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class _Feedback(_Wire):
    block_reason: str | None = None
    block_reason_message: str | None = None


class _Usage(_Wire):
    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None


class _Chunk(_Wire):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: _Usage | None = None
    error: Any = None


class EventReader:
    """Reads the chunks of one answer, in order.

    The API need not give calls an id. One that has none, or one that is taken, gets an id from its
    place in the conversation: the same conversation and answer always give the same ids.

    Args:
        assembler: Where the message grows.
        taken_ids: The ids of the calls that the conversation holds.
    """

    def __init__(self, assembler: MessageAssembler, taken_ids: Collection[str] = ()) -> None:
        self._assembler = assembler
        self._taken_ids = set(taken_ids)
        self._open: tuple[Literal["text", "thinking"], int] | None = None
        """The block that the next part may continue, and its place in our content."""
        self._usage = _Usage()
        self._stop = _Candidate()
        self._feedback = _Feedback()
        self._has_chunk = False
        self._has_candidate = False

    def read(self, data: object) -> Iterator[t.AssistantMessageEvent]:
        """Translate one chunk.

        Args:
            data: The JSON value.

        Yields:
            What it means: none, one or several events.

        Raises:
            ModelRequestError: It is an error of the vendor, or breaks the vendor's protocol.
        """
        chunk = _typed(data, _Chunk)
        self._has_chunk = True
        self._merge_usage(chunk.usage_metadata)
        if chunk.error is not None:
            raise error_of(data)
        if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason:
            self._feedback = chunk.prompt_feedback
        for candidate in chunk.candidates or ():
            if candidate.index:
                continue
            self._has_candidate = True
            for part in (candidate.content and candidate.content.parts) or ():
                yield from self._read_part(part)
            if candidate.finish_reason:
                self._stop = candidate

    def close(self) -> Iterator[t.AssistantMessageEvent]:
        """End the block that is open, once nothing more comes.

        Yields:
            The event that tells of it, if there is such a block.
        """
        if self._open is not None:
            _, index = self._open
            self._open = None
            yield self._assembler.end_block(index)

    def finish(self) -> t.EventDone:
        """End the message after the stream has ended.

        Returns:
            The `done` event.

        Raises:
            ModelRequestError: The stream was cut before the message was whole, the vendor blocked
                the prompt or the answer, or it could not read what its model said.
        """
        word = self._stop.finish_reason
        if word is None:
            raise self._unfinished()
        if word in _FAILURES:
            message = f"the model's answer ended with {word}"
            if self._stop.finish_message:
                message = f"{message}: {self._stop.finish_message}"
            raise failure(_FAILURES[word], message)
        return self._assembler.done(_STOP_REASONS.get(word, "stop"))

    def _unfinished(self) -> ModelRequestError:
        if self._feedback.block_reason:
            message = f"the prompt was blocked: {self._feedback.block_reason}"
            if self._feedback.block_reason_message:
                message = f"{message}: {self._feedback.block_reason_message}"
            return failure("refusal", message)
        if self._has_chunk and not self._has_candidate:
            return failure("bad_response", "the vendor answered without a candidate")
        return failure("network", "the connection ended before the answer did")

    def _read_part(self, raw: dict[str, Any]) -> Iterator[t.AssistantMessageEvent]:
        part = _typed(raw, _Part)
        if part.function_call is not None:
            yield from self._read_call(part.function_call, part.thought_signature)
        elif part.text is not None or (part.thought_signature and set(raw) <= _SIGNATURE_ALONE):
            yield from self._read_text(part)

    def _read_text(self, part: _Part) -> Iterator[t.AssistantMessageEvent]:
        kind: Literal["text", "thinking"] = "thinking" if part.thought else "text"
        if not (part.text or part.thought_signature):
            return
        if part.thought_signature or (self._open and self._open[0] != kind):
            yield from self.close()
        if self._open is None:
            start = self._start(kind, part.thought_signature)
            self._open = (kind, start.content_index)
            yield start
        index = self._open[1]
        if part.text:
            add = self._assembler.add_thinking if part.thought else self._assembler.add_text
            yield add(index, part.text)
        if part.thought_signature:
            yield from self.close()

    def _start(
        self, kind: Literal["text", "thinking"], signature: str | None
    ) -> t.EventTextStart | t.EventThinkingStart:
        if kind == "thinking":
            return self._assembler.start_thinking(signature=signature or None)
        start = self._assembler.start_text()
        if signature:
            self._assembler.sign_text(start.content_index, signature)
        return start

    def _read_call(self, call: _Call, signature: str | None) -> Iterator[t.AssistantMessageEvent]:
        yield from self.close()
        start = self._assembler.start_tool_call(
            self._id_of(call), call.name, thought_signature=signature or None
        )
        yield start
        arguments = json.dumps(call.args or {}, ensure_ascii=False)
        yield self._assembler.add_arguments(start.content_index, arguments)
        yield self._assembler.end_block(start.content_index)

    def _id_of(self, call: _Call) -> str:
        id_ = call.id
        if not id_ or id_ in self._taken_ids:
            number = len(self._taken_ids)
            while (id_ := f"call_{number}") in self._taken_ids:
                number += 1
        self._taken_ids.add(id_)
        return id_

    def _merge_usage(self, news: _Usage | None) -> None:
        """Take over the counts that a chunk names; they are totals so far, not increments."""
        if news is None:
            return
        for name in _Usage.__struct_fields__:
            if (count := getattr(news, name)) is not None:
                setattr(self._usage, name, count)
        usage = self._usage
        cached = usage.cached_content_token_count or 0
        asked = (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0)
        self._assembler.set_usage(
            # The vendor counts what came from its cache as part of the prompt.
            input_=max(asked - cached, 0),
            output=(usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0),
            cache_read=cached,
        )


def _typed(data: object, kind: type[T]) -> T:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        # The error names a place and types only, never a value of the answer.
        raise failure(
            "bad_response", f"the answer breaks the vendor's protocol: {error}"
        ) from error
