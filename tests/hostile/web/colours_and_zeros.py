"""Break a terminal, a page or a log by what is printed: escape sequences, zeros, turned lines, towers of accents.

Expected: visible marks in their place, on the page and in the report of an instructor
Stopped by: cleaning
"""

import html
import json
import re

DIRTY = "\x1b[2J\x1b]0;title\x07\x00\x08\u202eevil\u2066\u200b\u3164\x9b31m" + "a" + "\u0301" * 200
SOURCE = f"print({DIRTY!r})\nraise ValueError({DIRTY!r})\n"
BAD = ["\x1b", "\x00", "\x07", "\x08", "\x9b", "\u202e", "\u2066", "\u200b", "\u3164", "\u0301" * 5]


def control(world):
    assert all(bad in DIRTY for bad in BAD)


def attack(world):
    id = world.graded(world.eve, SOURCE)
    told = [line for _, line in world.follow(world.client(world.eve), id).parts]
    taught = re.findall(r'data-view="([^"]*)"', world.client(world.prof).get(f"/teach/?submission={id}").text)
    assert len(taught) == 2
    told += map(html.unescape, taught)
    shown = "".join(json.dumps(json.loads(value), ensure_ascii=False) for value in told if value)
    decoded = json.loads(f'"{shown[:0]}"') + shown
    assert "evil" in decoded
    assert [bad for bad in BAD if bad in decoded] == []
    escaped = ["\\u001b", "\\u0000", "\\u0007"]
    assert [bad for bad in escaped if bad in shown] == []
