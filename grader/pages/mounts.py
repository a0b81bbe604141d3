"""Gradio's applications inside of ours: how one is mounted, which events it has, and what it keeps of its sessions."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

import gradio as gr
from fastapi import FastAPI, Request

from grader.pages.envelope import Events
from grader.pages.parts import theme
from grader.pages.sessions import Tabs

EVENTS_AT_ONCE = 10_000  # each open run panel takes one while it waits
ANALYTICS = 100  # Gradio summarises its last events after each event; by default 10,000 of them, after every one
QUEUES = 20_000  # sessions with unread answers; of 2,000 Gradio would throw the oldest away, whoever waits for it

Who = Callable[[Request], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class Mounted:
    """One of Gradio's applications after it was mounted."""

    blocks: gr.Blocks

    @property
    def events(self) -> Events:
        """What may be sent to it."""
        found = self.blocks.fns.values()
        return Events.of((fn._id, str(fn.api_name), len(fn.inputs)) for fn in found)

    def unread(self, session: str) -> int:
        """Count the answers to a session that nobody has collected."""
        return len(self.blocks._queue.pending_event_ids_session.get(session, ()))

    def forget(self, session: str) -> None:
        """Throw away everything that is kept of a session."""
        queue = self.blocks._queue
        queue.pending_event_ids_session.pop(session, None)
        queue.pending_messages_per_session.pop(session, None)
        self.blocks.state_holder.session_data.pop(session, None)
        self.blocks.state_holder.time_last_used.pop(session, None)


def mount(app: FastAPI, blocks: gr.Blocks, path: str, who: Who) -> Mounted:
    """Mount `blocks` below `path` for whom `who` names."""
    blocks.queue(default_concurrency_limit=None, api_open=False)
    # Not `max_threads`, which would allow as many threads: who waits takes an event, and no thread.
    blocks._queue.max_thread_count = EVENTS_AT_ONCE
    with warnings.catch_warnings():
        # Gradio warns that it renders several pages in the browser only, which is what `ssr_mode=False` asks for.
        warnings.filterwarnings("ignore", "SSR mode is not supported", UserWarning)
        gr.mount_gradio_app(
            app,
            blocks,
            path=path,
            auth_dependency=who,
            ssr_mode=False,
            run_history=False,
            show_error=False,
            enable_monitoring=False,
            footer_links=[],
            blocked_paths=["/"],
            max_file_size=1,
            pwa=False,
            mcp_server=False,
            theme=theme(),
        )
    _lighten(app.routes[-1], blocks)
    # Without this, Gradio takes any path of this machine for a file that the caller has uploaded.
    blocks.has_launched = True
    return Mounted(blocks)


def _lighten(mounted: object, blocks: gr.Blocks) -> None:
    """Spare Gradio what costs time or memory with each tab or event, and what none of our pages shows."""
    tabs = Tabs()
    tabs.set_blocks(blocks)
    cast("Any", mounted).app.state_holder = tabs
    blocks._queue.ANALYTICS_MAX_EVENTS = ANALYTICS
    blocks._queue.ANAYLTICS_CACHE_FREQUENCY = 10**9
    blocks._queue.pending_messages_per_session.max_size = QUEUES
