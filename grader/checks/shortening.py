"""Shortens text to be read. It does without torch, which the pages and most commands never import."""

from __future__ import annotations


def cut(text: str, limit: int) -> str:
    """Return `text`; of a longer one what ends within `limit` characters: its sentences, or else its words, and `…`.

    Of code in backticks nothing is left that does not end.
    """
    if len(text) <= limit:
        return text
    ends = [text.rfind(mark + blank, limit // 2, limit + 1) + 1 for mark in ".!?" for blank in " \n"]
    words = max(text.rfind(blank, limit // 2, limit + 1) for blank in " \n")
    kept = text[: max(ends) or (words if words > 0 else limit)]
    if kept.count("`") % 2:
        kept = kept[: kept.rindex("`")]
    gap = "" if text[len(kept)].strip() and not kept.endswith((" ", "\n")) else " "
    return f"{kept.rstrip()}{gap}…"
