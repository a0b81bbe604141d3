"""What the server remembers of an open tab: nothing.

Gradio would draw up the configuration of every component on every page for each tab, 7 ms in which it answers nobody,
and keep ten thousand of them, for links that bring a page back as somebody saw it. Such links are not served here.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from gradio.blocks import Blocks
from gradio.state_holder import SessionState, StateHolder


class Tab(SessionState):
    """What Gradio needs to answer one event."""

    def __init__(self, blocks: Blocks) -> None:
        """Know the components as they were laid out."""
        self.blocks_config = copy(blocks.default_config)
        self.config_values = {}
        self.state_data = {}
        self._state_ttl = {}
        self.is_closed = False
        self.STATE_TTL_WHEN_CLOSED = 3600

    def _update_config(self, key: int) -> None:
        """Keep no configuration."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Keep no value: each event brings along what it needs."""


class Tabs(StateHolder):
    """The sessions of one site: a fresh one for each event, whatever it is called."""

    def __init__(self) -> None:
        """Know of no tab, now and later."""
        super().__init__()  # type: ignore[no-untyped-call]  # Gradio's own has no types

    def __getitem__(self, session_id: str) -> SessionState:
        """Return a session in which nothing has happened yet."""
        return Tab(self.blocks)
