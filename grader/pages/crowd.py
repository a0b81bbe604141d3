"""Who is asking how much: requests in a while, streams at once, and whose each of Gradio's sessions is.

Gradio keys what it has to say to a page by a text that the page has made up. Whoever names it reads it, what nobody
reads stays in memory, and from the two thousandth on the oldest is thrown away, whoever waits for it. So a session
belongs to who named it first, may hold few unread answers, and is forgotten when nobody has used it for a while.

Everything here runs on the event loop, and takes no lock.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Protocol

from grader.errors import NotAllowed
from grader.pages.refusal import Refusal
from grader.service.limits import Buckets

IDLE_SECONDS = 600.0
MOST_SESSIONS = 10_000
MOST_UNREAD = 20  # answers of one session that nobody has collected; a page waits for three at most
MOST_WATCHED = 8  # runs that one person watches at once; each takes one of Gradio's events as long as it lasts
SWEEP = 16  # sessions looked at, at each new one


@dataclass(frozen=True, slots=True)
class Share:
    """What one person, or all guests at one address, may use: requests at once, seconds for one more, sessions."""

    burst: int
    refill: float
    sessions: int


PERSON = Share(burst=400, refill=0.04, sessions=100)
GUESTS = Share(burst=4000, refill=0.01, sessions=3000)  # a whole class may sit behind one address


@dataclass(frozen=True, slots=True)
class Who:
    """Who is asking: a person, or a guest at an address."""

    user: int | None
    address: str

    @property
    def key(self) -> str:
        """Under which they are counted."""
        return f"guest {self.network}" if self.user is None else f"user {self.user}"

    @property
    def network(self) -> str:
        """The address, or, as one household has very many of them, the first half of a long one."""
        try:
            address = ip_address(self.address)
        except ValueError:
            return self.address
        return self.address if address.version == 4 else str(ip_network((address, 64), strict=False))

    @property
    def share(self) -> Share:
        """What they may use."""
        return GUESTS if self.user is None else PERSON


class Seats:
    """Counts who watches how many runs."""

    def __init__(self) -> None:
        """Start with nobody watching."""
        self._taken: dict[int, int] = {}

    @contextmanager
    def taken(self, user: int) -> Iterator[None]:
        """Count one for the length of the block.

        Raises:
            NotAllowed: they watch too many already.
        """
        taken = self._taken.get(user, 0)
        if taken >= MOST_WATCHED:
            raise NotAllowed("You are watching this in too many places at once; please close some of them.")
        self._taken[user] = taken + 1
        try:
            yield
        finally:
            self._taken[user] -= 1
            if not self._taken[user]:
                del self._taken[user]


class Leftovers(Protocol):
    """What Gradio keeps of the sessions of one mount."""

    def unread(self, session: str) -> int:
        """Count the answers that nobody has collected."""

    def forget(self, session: str) -> None:
        """Throw away everything that is kept of a session."""


@dataclass(slots=True)
class Hold:
    """Whose a session is, when it was last used, how many streams of it are open, and how many of these bring answers.

    The others are the heartbeats of pages.
    """

    owner: str
    used: float
    streams: int = 0
    reading: int = 0


class Crowd:
    """Counts and refuses; `mounts` says what is left of the sessions of each."""

    def __init__(self, mounts: Mapping[str, Leftovers], *, clock: Callable[[], float] = time.monotonic) -> None:
        """Start with nobody."""
        self._mounts = mounts
        self._clock = clock
        self._pace = {share: Buckets(share.burst, share.refill, clock=clock) for share in (PERSON, GUESTS)}
        self._holds: OrderedDict[tuple[str, str], Hold] = OrderedDict()
        self._owned: dict[str, OrderedDict[tuple[str, str], None]] = {}
        self._streams: dict[str, int] = {}

    def admit(self, who: Who) -> None:
        """Count a request.

        Raises:
            Refusal: there were too many in a short time.
        """
        if self._pace[who.share].take(who.key) > 0:
            raise Refusal(429, "That was a lot in a short time. Please wait a moment and try again.")

    def claim(self, who: Who, mount: str, session: str) -> None:
        """Note that a session is used, and by whom.

        Raises:
            Refusal: it is somebody else's, or holds too much that nobody has read, or they have too many.
        """
        place = (mount, session)
        hold = self._holds.get(place)
        if hold is None:
            self._make_room(who)
            hold = Hold(who.key, self._clock())
            self._holds[place] = hold
            self._owned.setdefault(who.key, OrderedDict())[place] = None
        elif hold.owner != who.key:
            self._hand_on(place, hold, who)
        if self._mounts[mount].unread(session) >= MOST_UNREAD:
            raise Refusal(429, "Read what was answered before, please.")
        hold.used = self._clock()
        self._holds.move_to_end(place)
        self._owned[hold.owner].move_to_end(place)

    def owns(self, who: Who, mount: str, session: str) -> bool:
        """Return whether a session is theirs; one that nobody has begun is nobody's."""
        hold = self._holds.get((mount, session))
        return hold is not None and hold.owner == who.key

    @contextmanager
    def stream(self, who: Who, mount: str, session: str, *, reading: bool) -> Iterator[None]:
        """Count a stream of a session for as long as it is open; `reading`: it brings answers.

        Raises:
            Refusal: they have too many open.
        """
        key, hold = who.key, self._holds.get((mount, session))
        if self._streams.get(key, 0) >= 2 * who.share.sessions:
            raise Refusal(429, "Too many pages are open; please close some.")
        self._streams[key] = self._streams.get(key, 0) + 1
        if hold is not None:
            hold.streams += 1
            hold.reading += reading
        try:
            yield
        finally:
            if hold is not None:
                hold.streams -= 1
                hold.reading -= reading
                hold.used = self._clock()
            self._streams[key] -= 1
            if not self._streams[key]:
                del self._streams[key]

    def _hand_on(self, place: tuple[str, str], hold: Hold, who: Who) -> None:
        """Give a session to somebody else, as when one signs in or out in another tab; never one that is in use."""
        mount, session = place
        if hold.reading or self._mounts[mount].unread(session):
            raise Refusal(403, "This belongs to somebody else; please load the page again.")
        self._owned[hold.owner].pop(place, None)
        hold.owner = who.key
        self._owned.setdefault(who.key, OrderedDict())[place] = None

    def _make_room(self, who: Who) -> None:
        """Forget sessions that nobody has used for long, and those that are too many.

        Raises:
            Refusal: all of theirs are in use.
        """
        for place in list(self._oldest(self._holds)):
            if self._holds[place].used > self._clock() - IDLE_SECONDS and len(self._holds) < MOST_SESSIONS:
                break
            self._forget(place)
        mine = self._owned.get(who.key, OrderedDict())
        if len(mine) >= who.share.sessions:
            idle = next(self._oldest(mine), None)
            if idle is None:
                raise Refusal(429, "Too many pages are open; please close some.")
            self._forget(idle)

    def _oldest(self, places: Mapping[tuple[str, str], object]) -> Iterator[tuple[str, str]]:
        """Yield a few sessions without an open stream, those first that were used longest ago."""
        idle = (place for place in places if not self._holds[place].streams)
        yield from (place for place, _ in zip(idle, range(SWEEP), strict=False))

    def _forget(self, place: tuple[str, str]) -> None:
        mount, session = place
        hold = self._holds.pop(place)
        mine = self._owned[hold.owner]
        mine.pop(place, None)
        if not mine:
            del self._owned[hold.owner]
        self._mounts[mount].forget(session)
