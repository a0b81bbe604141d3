"""Names: what one may look like, which two look alike, and pseudonyms.

A name must not be taken for another person's, nor disturb a page. What it looks like is its skeleton, by Unicode's
security mechanisms (UTS #39) with Unicode's own table of confusable characters, which `confusable-homoglyphs` brings
along; two names with a skeleton in common are taken for each other by whoever reads a list. It is coarser than the
standard where a reader of names is: accents are read over, small and boxed capitals are letters, case makes no
difference, and a digit is read by its value or by its shape.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import re
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

from grader.errors import NotAllowed
from grader.rules.roster import LONGEST_EMAIL
from grader.rules.roster import fold as fold_email
from grader.store.records import UserId

SHORTEST, LONGEST = 2, 40
LONGEST_TYPED = 10 * LONGEST  # with letters composed of several characters, and spaces around
MARKS = 2  # accents on one letter; Vietnamese needs two
UNSEEN = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # blank, though Unicode calls them letters or signs
TOGETHER = frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"})
LONGEST_KEY = 200  # characters; a longer name is nobody's
# Small capitals, and letters in boxes and circles, as far as no normalization undoes them.
_LETTER = re.compile(r"(?:LATIN|SYMBOL) (?:CAPITAL |SMALL )?LETTER (?:SMALL CAPITAL )?([A-Z])$")
_ACCENTS = frozenset({1, *range(10, 37), *range(200, 241)})  # combining classes; others make another letter, as in Kana
_STROKE = "l"  # the shape of a capital I, a small l, a one and a bar
_LEFT_OUT = {"ĸ": "k", "ʍ": "M", "ー": "-", "リ": "り"}  # what names need, and the table lacks
_REMEMBERED = 1 << 16  # names
_ADJECTIVES = (
    "Agile Amber Autumn Bold Brave Bright Bronze Calm Careful Cheerful Clear Clever Coral Cosmic Curious Daring "
    "Early Eager Fair Fearless Gentle Glad Golden Green Happy Hidden Honest Humble Jolly Keen Kind Late Light "
    "Lively Lucky Mellow Merry Mild Misty Modest Nimble Noble Northern Patient Polite Proud Quick Quiet Rapid "
    "Silent Silver Smooth Snowy Solid Southern Steady Sunny Swift Tidy Vivid Warm Western Wise Young"
)
_ANIMALS = (
    "Albatross Alpaca Badger Beaver Bison Camel Cheetah Condor Crane Cuckoo Curlew Deer Dolphin Dove Eagle Egret "
    "Elk Falcon Ferret Finch Flamingo Fox Gazelle Gecko Gibbon Giraffe Goose Hare Hawk Hedgehog Heron Ibex Ibis "
    "Jackdaw Jay Kestrel Kiwi Koala Lark Lemur Lion Llama Lynx Magpie Marten Mole Moose Newt Otter Owl Panda "
    "Pelican Penguin Plover Puffin Quail Raven Robin Seal Stork Swan Tapir Tern Wren"
)
ADJECTIVES, ANIMALS = tuple(_ADJECTIVES.split()), tuple(_ANIMALS.split())
NUMBERS = range(10, 100)
ReadNames = Callable[[int], Sequence[tuple[int, str]]]  # those with a higher id, by id


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
    if "@" in tidied:
        raise NotAllowed("A name holds no @; an e-mail address is what people of a roster sign in with.")
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


def email_of(name: str) -> str:
    """Return what somebody has typed to sign in as an e-mail address, folded; empty if it is none."""
    return fold_email(name[: LONGEST_EMAIL + 1].replace("\0", "\ufffd")) if "@" in name else ""


def key_of(name: str) -> str:
    """Return a name as somebody has typed it, folded as the store looks for it."""
    # No name holds a zero, and not every database takes one.
    return fold(name[:LONGEST_KEY])[:LONGEST_KEY].replace("\0", "\ufffd")


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


class NameRegister:
    """Knows how every name of a store looks, read once and then only what has come since.

    So a new name costs as much time among 10 000 others as among ten.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._looks: dict[str, set[int]] = {}  # whose name looks so
        self._count = self._renames = 0  # names read so far, up to the id of the last one
        self._last = 0

    def refuse(self, name: str, names: ReadNames, census: tuple[int, int], *, of: int = 0) -> None:
        """Refuse a name that looks like one in the store.

        Args:
            names: reads those in the store.
            census: how many there are, and how often people were renamed in all.
            of: who is to have the name; it may look like the one that they have.

        Raises:
            NotAllowed: it looks like another one.
        """
        with self._lock:
            self._catch_up(names, census)
            alike = any(self._looks.get(look, set()) - {of} for look in skeleton(name))
        if alike:
            raise NotAllowed(f"The name {name} is taken, or looks like one that is; please choose another one.")

    def _catch_up(self, names: ReadNames, census: tuple[int, int]) -> None:
        """Read the names that have come: another process writes too, and a lower id may be committed later."""
        count, renames = census
        fresh = names(self._last)
        if self._count + len(fresh) != count or self._renames != renames:
            self._looks, self._count, self._renames = {}, 0, renames
            fresh = names(0)
        for id, name in fresh:
            for look in skeleton(name):
                self._looks.setdefault(look, set()).add(id)
            self._last = id
        self._count += len(fresh)


@functools.lru_cache(_REMEMBERED)
def skeleton(name: str) -> frozenset[str]:
    """Return the ways in which a name may be read; they are only ever compared, and never stored or shown."""
    by_value = name if name.isascii() else "".join(str(unicodedata.decimal(c, c)) for c in name)
    return frozenset(look for spelled in {name, by_value} for look in _read(spelled))


def _read(name: str) -> Iterator[str]:
    """Yield a name as it looks; with its capital I read as i; and, if there are capitals only, with each stroke so."""
    yield _skeleton(name)
    if _STROKE not in map(_shape, name):
        return
    yield _skeleton("".join("i" if _shape(c) == _STROKE and _is_upright(c) else c for c in name))
    if not any(letter.islower() for letter in _shapes(name).replace(_STROKE, "")):
        yield _skeleton("".join("i" if _shape(c) == _STROKE else c for c in name))


def _is_upright(character: str) -> bool:
    """Return whether a stroke can be a capital I: it is a capital, or of a script that has no case."""
    return unicodedata.category(character) in ("Lu", "Lo")


def _skeleton(name: str) -> str:
    return _shapes(_shapes(name).casefold()).replace("vv", "w")  # Unicode's table has m for rn, and no w


def _shapes(text: str) -> str:
    return "".join(map(_shape, text))


@functools.cache  # there are no more than characters
def _shape(character: str) -> str:
    """Return the plainest characters that look like one; nothing for accents and what is not seen."""
    if _is_read_over(character):
        return ""
    plain = unicodedata.normalize("NFKD", character)
    if plain == character:
        plain = _prototypes().get(character, character)
    if plain != character:
        return _shapes(plain)
    found = _LETTER.search(unicodedata.name(character, ""))
    return found[1] if found and not character.isascii() else character


def _is_read_over(character: str) -> bool:
    if unicodedata.category(character) in ("Cf", "Cc") or unicodedata.combining(character) in _ACCENTS:
        return True
    return unicodedata.name(character, "").startswith(("VARIATION SELECTOR", "COMBINING GRAPHEME"))


@functools.cache
def _prototypes() -> Mapping[str, str]:
    """Return the character, or the few, that Unicode has for all those that look like them."""
    # Reading its tables takes a moment and some megabytes, which only who registers somebody needs.
    from confusable_homoglyphs.confusables import confusables_data as alike  # type: ignore[import-untyped] # has none

    found = dict(_LEFT_OUT)
    for key, entries in alike.items():
        # The table holds each pair both ways: what looks like one other text only is what has a prototype.
        if len(entries) > 1 or not _stands_alone(key := _unmarked(key)):
            continue
        prototype = unicodedata.normalize("NFKD", _unmarked(entries[0]["c"]))
        if len(alike[entries[0]["c"]]) > 1 or len(prototype) > 1 or prototype < key:
            found.setdefault(key, prototype)
    return found


def _stands_alone(key: str) -> bool:
    return len(key) == 1 and unicodedata.normalize("NFKD", key) == key


def _unmarked(text: str) -> str:
    """Return a text of the table without the marks that it holds for writing from right to left."""
    return "".join(character for character in text if unicodedata.category(character) != "Cf")


def pseudonyms(secret: bytes, class_id: int, members: Sequence[tuple[UserId, str]]) -> dict[UserId, str]:
    """Return a pseudonym for each member of a class, none of them twice, and none the name of a member.

    It is drawn from a keyed hash of the class and the person, so it is the same on every board and at every time, and
    nobody without the secret can tell whose it is. Nothing of it is stored.

    Args:
        secret: of the installation.
        class_id: the class.
        members: everybody who was ever in it and still has an account, by id, with the folded name. Of two who
            draw the same pseudonym, the one who came later takes the next one.
    """
    used = {key for _, key in members}
    drawn: dict[UserId, str] = {}
    for user, _ in members:
        candidates = (_draw(secret, class_id, user, place) for place in count())
        drawn[user] = next(name for name in candidates if fold(name) not in used)
        used.add(fold(drawn[user]))
    return drawn


def _draw(secret: bytes, class_id: int, user: UserId, place: int) -> str:
    message = f"pseudonym:{class_id}:{user}:{place}".encode()
    number = int.from_bytes(hmac.digest(secret, message, hashlib.sha256)[:8], "big")
    number, adjective = divmod(number, len(ADJECTIVES))
    number, animal = divmod(number, len(ANIMALS))
    return f"{ADJECTIVES[adjective]} {ANIMALS[animal]} {NUMBERS[number % len(NUMBERS)]}"
