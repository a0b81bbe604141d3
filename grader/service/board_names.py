"""Under which name people stand on leaderboards: a pseudonym, unless they choose their own name, or to leave.

A pseudonym is drawn from a keyed hash of the class and the person, so it is the same on every board and at every time,
and nobody without the secret can tell whose it is. Nothing of it is stored.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from grader.errors import NotAllowed
from grader.service.authorize import Action, Roster, may
from grader.service.names import fold
from grader.store import people, standings
from grader.store.engine import Database
from grader.store.records import BoardName, Standing, User, UserId
from grader.store.tables import FIRST_CLASS

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


@dataclass(frozen=True, slots=True)
class OwnBoard:
    """How a person stands on leaderboards, and which pseudonym they have there."""

    choice: BoardName
    pseudonym: str


def pseudonyms(secret: bytes, members: Sequence[tuple[UserId, str]]) -> dict[UserId, str]:
    """Return a pseudonym for each member of the class, none of them twice, and none the name of a member.

    Args:
        secret: of the installation.
        members: everybody who was ever in the class and still has an account, by id, with the folded name. Of two who
            draw the same pseudonym, the one who came later takes the next one.
    """
    taken = {key for _, key in members}
    found: dict[UserId, str] = {}
    for user, _ in members:
        drawn = (_drawn(secret, user, place) for place in count())
        found[user] = next(name for name in drawn if fold(name) not in taken)
        taken.add(fold(found[user]))
    return found


def _drawn(secret: bytes, user: UserId, place: int) -> str:
    message = f"pseudonym:{FIRST_CLASS}:{user}:{place}".encode()
    number = int.from_bytes(hmac.digest(secret, message, hashlib.sha256)[:8], "big")
    number, adjective = divmod(number, len(ADJECTIVES))
    number, animal = divmod(number, len(ANIMALS))
    return f"{ADJECTIVES[adjective]} {ANIMALS[animal]} {NUMBERS[number % len(NUMBERS)]}"


class BoardNames:
    """The leaderboards as each reader may see them, and what people choose to be on them."""

    def __init__(self, database: Database, secret: bytes) -> None:
        """Read from `database`; `secret` is what pseudonyms are drawn from."""
        self._database, self._secret = database, secret

    def leaderboard(self, exercise: str | None, reader: User | None) -> list[Standing]:
        """Return the students in order, on one exercise or over all, without those who have left the boards.

        Instructors see names; everybody else sees what each one has chosen.
        """
        with self._database.read() as session:
            lines = standings.leaderboard(session, exercise)
            if reader is not None and may(reader, Action.READ, Roster()):
                return lines
            names = pseudonyms(self._secret, people.folded_names(session))
        return [
            line if line.shown is BoardName.NAME else replace(line, name=names.get(line.user, "Somebody"))
            for line in lines
        ]

    def of(self, user: User) -> OwnBoard | None:
        """Return how a student stands on the boards; None for whoever is on none."""
        with self._database.read() as session:
            choice = people.board_name(session, user.id)
            return None if choice is None else OwnBoard(choice, self._pseudonym(people.folded_names(session), user.id))

    def choose(self, user: User, choice: str) -> None:
        """Let a student stand on the boards in another way from now on.

        Raises:
            NotAllowed: there is no such way, or they are no student of the class.
        """
        if choice not in set(BoardName):
            raise NotAllowed("Choose one of the three.")
        with self._database.write() as session:
            if not people.choose_board_name(session, user.id, BoardName(choice)):
                raise NotAllowed("Only students of a class are on its leaderboards.")

    def _pseudonym(self, members: Sequence[tuple[UserId, str]], user: UserId) -> str:
        return pseudonyms(self._secret, members)[user]
