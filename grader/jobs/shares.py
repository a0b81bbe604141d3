"""Whose turn it is, and how much they may use: seconds are what is charged, since one run costs a thousand others.

A second is one of a slot, from the claim to the end of a try or of a search: that is what others wait for, also where
the code only sleeps. Payers are members of the class, and households: all of an address who are in no class, who cost
nothing to make. Of those that wait, the next one is of the payer who has used the fewest seconds lately, those of runs
under way among them. So whoever comes new is next, however much others have handed in. Beside the members, all
households together count as one: there is no end of addresses. Regrades are nobody's: they come after everybody.

Turns forget sooner than allowances: who has worked for an hour must not stand behind everybody for the next one.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, TextClause, func, select
from sqlalchemy.orm import Session

from grader.errors import NotAllowed
from grader.store import tokens
from grader.store.records import UserId
from grader.store.tables import BucketRow, JobRow
from grader.store.tokens import Rate, Spent

OUTSIDE = "outside"  # all households together, who have turns as one
REGRADES = "regrades"  # pays for what is graded once more for a class
TURN = Rate(20, 10.0, most=20.0)  # what counts for a turn: at most 20 seconds, and each of them for ten
_TURN = "turn "  # before a line: its bucket
LEAST_SECONDS = 0.25  # that a run counts for, however short it is
REPORT_KIB = 16  # that the report on a hand-in, and its row, count for
MOST_OPEN = 1000  # runs of a household at once; visitors cost nothing, and each look at the queue counts what is in it
FORGOTTEN_AT_ONCE = 20  # full buckets; more than a run can make


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a payer may use: seconds of a slot, and KiB of the disk.

    The disk is counted apart, because what ends in a moment, by an error in its first line, is stored like all else.
    """

    seconds: Rate
    kib: Rate


MEMBER = Allowance(Rate(600, 2.0), Rate(16 << 10, 0.25))
HOUSEHOLD = Allowance(Rate(2400, 1.0), Rate(256 << 10, 1 / 16))  # a lecture hall may sit behind an address


def member(user: UserId) -> str:
    """Return the payer for a member of the class."""
    return f"user {user}"


def home(household: str) -> str:
    """Return the payer for those outside of a class at an address; of which the database learns a digest only."""
    return f"home {hashlib.sha256(household.encode(errors='surrogatepass')).hexdigest()[:40]}"


def is_outside(payer: str) -> bool:
    """Return whether a payer is a household."""
    return payer.startswith("home ")


def allowance(payer: str) -> Allowance:
    """Return what a payer may use."""
    return HOUSEHOLD if is_outside(payer) else MEMBER


def admit(session: Session, payer: str, length: int, now: float) -> None:
    """Let a payer hand in `length` bytes, and count them; what the run takes is charged when it ends.

    Raises:
        NotAllowed: too many seconds were used or too much was stored lately, or a household has too many runs open.
    """
    allowed, stored = allowance(payer), f"stored {payer}"
    used = tokens.seen(session, payer)
    whose = "The runs of everybody without a class at your address" if is_outside(payer) else "Your runs"
    if (wait := allowed.seconds.wait(used, now)) > 0:
        seconds = f"{allowed.seconds.missing(used, now):.0f} of {allowed.seconds.burst} seconds of grading"
        raise NotAllowed(f"{whose} have used {seconds} lately. There is room again in {_told(wait)}.")
    if is_outside(payer) and _open(session, payer) >= MOST_OPEN:
        raise NotAllowed(f"{whose} that are open are {MOST_OPEN} already. Please try again when some have ended.")
    kib, before = length / 1024 + REPORT_KIB, tokens.spent(session, stored)
    if (wait := allowed.kib.wait(before, now, kib)) > 0:
        mib = f"{allowed.kib.missing(before, now) / 1024:.0f} of {allowed.kib.burst >> 10} MiB of disk"
        raise NotAllowed(f"{whose} have filled {mib} lately. There is room again in {_told(wait)}.")
    tokens.keep(session, stored, allowed.kib, allowed.kib.without(before, now, kib))


def charge(session: Session, payer: str, seconds: float, now: float) -> None:
    """Charge a payer for so many seconds of a slot."""
    buckets = {payer: allowance(payer).seconds} | {f"{_TURN}{line}": TURN for line in _lines(payer)}
    if not tokens.charge(session, buckets, max(seconds, LEAST_SECONDS), now):
        tokens.forget_full(session, now, FORGOTTEN_AT_ONCE)


def in_turn(session: Session, waiting: Iterable[ColumnElement[bool] | TextClause], now: float) -> list[str]:
    """Return the payers of the jobs that fulfil all conditions, in the order of their turns."""
    job, spent = JobRow, (BucketRow.missing, BucketRow.since)
    query = select(job.payer, func.min(job.priority), *spent).where(*waiting).group_by(job.payer, *spent)
    first: dict[str, int] = {}
    used: defaultdict[str, float] = defaultdict(float)
    for payer, priority, *known in session.execute(query.outerjoin(BucketRow, BucketRow.id == _TURN + job.payer)):
        first[payer] = priority
        used[payer] = 0.0 if None in known else TURN.missing(Spent(*known), now)
    if any(map(is_outside, first)):
        used[OUTSIDE] = TURN.missing(tokens.seen(session, f"{_TURN}{OUTSIDE}"), now)
    for payer, started in session.execute(select(job.payer, job.started).where(job.claim.is_not(None))):
        for one in _lines(payer):
            used[one] += max(LEAST_SECONDS, now - (started or now))
    return order(first, used)


def order(first: Mapping[str, int], used: Mapping[str, float]) -> list[str]:
    """Return payers in the order of their turns.

    Args:
        first: the priority of the first job of each.
        used: how many seconds each has used lately, and all outside together.
    """

    def turn(payer: str) -> tuple[bool, float, float, int, str]:
        line, *_, own = _lines(payer) * 2
        return payer == REGRADES, used.get(line, 0.0), used.get(own, 0.0), first[payer], payer

    return sorted(first, key=turn)


def _open(session: Session, payer: str) -> int:
    return session.scalar(select(func.count()).select_from(JobRow).where(JobRow.payer == payer)) or 0


def _lines(payer: str) -> tuple[str, ...]:
    """Return what takes turns with others: all households as one, and then each with the others of them."""
    return (OUTSIDE, payer) if is_outside(payer) else (payer,)


def _told(seconds: float) -> str:
    return f"{math.ceil(seconds)} seconds" if seconds <= 90 else f"{math.ceil(seconds / 60)} minutes"
