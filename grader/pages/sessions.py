"""What the server remembers of an open tab: nothing but what Gradio needs to answer its events.

For each tab Gradio draws up the configuration of every component on every page, 7 ms in which it answers nobody, for
links that bring a page back as somebody saw it. Such links are not served here.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from gradio.blocks import Blocks
from gradio.state_holder import SessionState, StateHolder


class Tab(SessionState):
    """A session without the configurations."""

    def __init__(self, blocks: Blocks) -> None:
        """Remember nothing yet."""
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
    """The sessions of one site."""

    def __init__(self) -> None:
        """Know of no tab."""
        super().__init__()  # type: ignore[no-untyped-call]  # Gradio's own has no types

    def __getitem__(self, session_id: str) -> SessionState:
        """Return the session of that tab, a fresh one if there is none."""
        if session_id not in self.session_data:
            self.session_data[session_id] = Tab(self.blocks)
        return super().__getitem__(session_id)
