"""Gradio's applications inside of ours: how one is mounted, and which events it has."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable
from typing import Any, cast

import gradio as gr
from fastapi import FastAPI, Request

from grader.pages.parts import theme
from grader.pages.requests import Event, Events, Text
from grader.pages.sessions import Tabs

PATIENT = ("submit",)  # whoever hands in waits for a verdict anyway
IDLE_SECONDS = 3600.0  # between two looks at Gradio's queue, into which nothing is ever put

Who = Callable[[Request], Awaitable[str | None]]


def mount(app: FastAPI, blocks: gr.Blocks, path: str, who: Who) -> Events:
    """Mount `blocks` below `path` for whom `who` names.

    Returns:
        what may be sent to it: whatever calls a function of ours, and not only the page's own scripts
    """
    blocks.queue(api_open=False)
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
    found = (fn for fn in blocks.fns.values() if fn.fn is not None)
    return {str(fn.api_name): Event(fn._id, tuple(map(_form, fn.inputs)), fn.api_name in PATIENT) for fn in found}


def _form(component: object) -> Text:
    """Return what an input may hold.

    Raises:
        TypeError: nobody has said so yet.
    """
    if isinstance(component, gr.Radio):
        return Text(choices=tuple(str(value) for _, value in component.choices))
    if isinstance(component, gr.HTML):
        return Text(longest=None) if component.elem_id == "editor" else Text()
    raise TypeError(f"`{type(component).__name__}` is no input yet; expected: its form here, in `_form`")


def _lighten(mounted: object, blocks: gr.Blocks) -> None:
    """Spare Gradio what costs time or memory with each tab or event, and what none of our pages shows."""
    tabs = Tabs()
    tabs.set_blocks(blocks)
    cast("Any", mounted).app.state_holder = tabs
    # A thousand times a second Gradio would look whether something waits.
    blocks._queue.sleep_when_free = blocks._queue.progress_update_sleep_when_free = IDLE_SECONDS
