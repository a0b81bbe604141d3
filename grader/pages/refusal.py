"""A request that goes no further."""

from __future__ import annotations


class Refusal(Exception):
    """The HTTP status and the sentence that are sent back in place of an answer."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
