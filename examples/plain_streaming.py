"""One question, one answer, printed as it comes.

    python examples/plain_streaming.py 'Why is the sky blue?'

Without a key a pretend model answers. After `openprogram recordings record` the call is recorded.
"""

from __future__ import annotations

import asyncio
import sys
import time

from pretend_model import choose_model

from openprogram.providers import stream_simple
from openprogram.providers import types as t
from openprogram.testing import Text

SCRIPT = [[Text(("Blue light ", "is scattered ", "more than red."))]]


async def ask(question: str) -> int:
    """Stream one answer.

    Args:
        question: What to ask.

    Returns:
        An exit code.
    """
    model, options = choose_model([*SCRIPT])
    asked = t.UserMessage(content=question, timestamp=time.time_ns() // 1_000_000)
    async for event in stream_simple(model, t.Context(messages=[asked]), options):
        if event.type == "text_delta":
            print(event.delta, end="", flush=True)
        elif event.type == "done":
            print(f"\n[{event.reason}, {event.message.usage.output} tokens]")
        elif event.type == "error":
            print(f"\nfailed: {event.error.error_message}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(ask(" ".join(sys.argv[1:]) or "Why is the sky blue?")))
