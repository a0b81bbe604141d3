"""Gradio's import without the half of it that writes type stubs into Gradio's own folder, by parsing its sources."""

from __future__ import annotations

import inspect
from typing import Any

_getfile = inspect.getfile


def import_gradio() -> None:
    """Import Gradio; its components find no source file to write a stub for."""
    inspect.getfile = _file_unless_gradio  # type: ignore[assignment]  # its parameter has another name there
    try:
        import gradio  # noqa: F401
    finally:
        inspect.getfile = _getfile


def _file_unless_gradio(thing: Any) -> str:
    if str(getattr(thing, "__module__", "")).startswith("gradio."):
        raise OSError("Gradio's own sources are not read")  # it takes that as an answer
    return _getfile(thing)
