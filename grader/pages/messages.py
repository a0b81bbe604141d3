"""What passes between the server and an application, read on the way."""

from __future__ import annotations

import json
from collections.abc import Callable

from starlette.types import Message, Receive, Send


def overheard(send: Send, note: Callable[[str], None]) -> Send:
    """Return a way to send that tells `note` the event that an answer names."""

    async def told(message: Message) -> None:
        if message["type"] == "http.response.body":
            event = _event_of(message.get("body", b""))
            if event is not None:
                note(event)
        await send(message)

    return told


def _event_of(body: bytes) -> str | None:
    try:
        answer = json.loads(body)
    except ValueError:
        return None
    event = answer.get("event_id") if isinstance(answer, dict) else None
    return event if isinstance(event, str) else None


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a way to receive a body that has been read already, and then what comes after it."""
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
