"""What a name looks like: two names with the same skeleton are taken for each other by whoever reads a list."""

# ruff: noqa: RUF001 - letters that are taken for others are what this is about

from __future__ import annotations

import unicodedata

LOOKS = {
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухԁһѵ": "ABESIJKMHOPCTYXaesijopcyxdhv",
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοναιρυκ": "ABEZHIKMNOPTYXovaipuk",
    "օսհոց": "ouhng",
    "ᎪᏴᏟᎬᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃ": "ABCEHJKLMPRSTVWZ",
    "ꓮꓐꓚꓓꓰꓝꓖꓧꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ": "ABCDEFGHJKLMNOPRSTUVWXYZ",
    "ıɑɡ": "iag",
    "’‘ʼ′`´": "''''''",
    "‐‑‒–—−": "------",
    "ヘリ力二口卜一": "へりカニロトー",
}

_READ = {ord(letter): seen for letters, sights in LOOKS.items() for letter, seen in zip(letters, sights, strict=True)}
# A capital I, a one and a bar are taken for a small l, so they become one before case is given up.
_STROKES = str.maketrans("I1|0", "lllo")


def skeleton(name: str) -> str:
    """Return what a tidied name looks like in most fonts.

    It is coarse on purpose, shorter than the tables of Unicode, and is only ever compared with other skeletons.
    """
    digits = "".join(str(unicodedata.decimal(character, character)) for character in name)
    plain = digits.translate(_READ).translate(_STROKES).casefold()
    return plain.replace("rn", "m").replace("vv", "w")
