"""What a name may look like: it must not be taken for another person's, nor disturb a page."""

from __future__ import annotations

import unicodedata

from grader.errors import NotAllowed

SHORTEST, LONGEST = 2, 40
LONGEST_TYPED = 10 * LONGEST  # with letters composed of several characters, and spaces around
MARKS = 2  # accents on one letter; Vietnamese needs two
UNSEEN = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # blank, though Unicode calls them letters or signs
TOGETHER = frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"})


def tidy(name: str) -> str:
    """Return the name in the form in which it is stored and shown.

    Raises:
        NotAllowed: it is too short or long, holds something invisible, or mixes alphabets that look alike.
    """
    if len(name) > LONGEST_TYPED:  # putting many accents in order takes the square of their number
        raise NotAllowed(f"A name has {SHORTEST} to {LONGEST} characters; this one has {len(name)}.")
    tidied = unicodedata.normalize("NFKC", name).strip(" ")
    if not SHORTEST <= len(tidied) <= LONGEST:
        raise NotAllowed(f"A name has {SHORTEST} to {LONGEST} characters; this one has {len(tidied)}.")
    if "  " in tidied or not all(_visible(character) for character in tidied):
        raise NotAllowed("A name holds visible characters and single spaces only; please type it again.")
    if not tidied[0].isalnum() or _overloaded(tidied):
        raise NotAllowed("A name begins with a letter or a digit and has at most two accents on a letter.")
    scripts = {_script(character) for character in tidied if character.isalpha()}
    if len(scripts) > 1 and not scripts <= TOGETHER:
        mixed = " and ".join(sorted(script.capitalize() for script in scripts))
        raise NotAllowed(f"A name keeps to one alphabet, so that none looks like another's; this one mixes {mixed}.")
    return tidied


def fold(name: str) -> str:
    """Return the key under which a name is unique: width, case and composition make no difference."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).strip(" ").casefold())


def _visible(character: str) -> bool:
    if character in UNSEEN:
        return False
    return character == " " or unicodedata.category(character)[0] not in "CZ"


def _overloaded(name: str) -> bool:
    run, bearer = 0, ""
    for character in name:
        # Variation selectors and joiners are marks too, and can be seen by nobody.
        if unicodedata.category(character) in {"Mn", "Me"}:
            run += 1
            if (
                run > MARKS
                or not bearer.isalnum()
                or unicodedata.name(character, "").startswith(("VARIATION", "COMBINING GRAPHEME"))
            ):
                return True
        else:
            run, bearer = 0, character
    return False


def _script(character: str) -> str:
    return unicodedata.name(character, "UNKNOWN").split()[0]
