"""Traps for ready-made operations."""

from __future__ import annotations


def install(groups: tuple[str, ...]) -> None:
    """Install the traps."""
