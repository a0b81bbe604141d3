"""Who may do what: each action, subject and role."""

from __future__ import annotations

import itertools

import pytest

from grader.errors import NotAllowed
from grader.service.authorize import INSTRUCTORS_ONLY, NOT_YOURS, Action, OwnName, OwnWork, Roster, authorize, may
from grader.store.records import Role, User, UserId

ADA, PROF = User(UserId(1), "Ada", Role.STUDENT), User(UserId(2), "Prof", Role.INSTRUCTOR)
GUEST = User(UserId(4), "", Role.LEARNER)
MINE, THEIRS = OwnName(ADA.id), OwnName(GUEST.id)
OWN, FOREIGN, NONE = OwnWork(ADA.id), OwnWork(UserId(3)), OwnWork(None)


def test_every_combination_is_decided_as_the_table_says() -> None:
    """Students have their own work, instructors all of it and the class; nobody has what does not exist."""
    subjects = (OWN, FOREIGN, NONE, MINE, THEIRS, Roster())
    allowed = {
        (user.name, action, subject)
        for user, action, subject in itertools.product((ADA, PROF, GUEST), Action, subjects)
        if may(user, action, subject)
    }

    assert allowed == {
        ("Ada", Action.READ, OWN), ("Ada", Action.CANCEL, OWN),
        ("Prof", Action.READ, OWN), ("Prof", Action.CANCEL, OWN),
        ("Prof", Action.READ, FOREIGN), ("Prof", Action.CANCEL, FOREIGN),
        ("Prof", Action.READ, Roster()), ("Prof", Action.RESET, Roster()),
        ("Prof", Action.MANAGE, Roster()),
        ("Ada", Action.RENAME, MINE), ("Prof", Action.RENAME, MINE), ("Prof", Action.RENAME, THEIRS),
    }  # fmt: skip


def test_somebody_elses_work_is_answered_as_if_it_did_not_exist() -> None:
    """The refusal tells nothing; the class's refusal says whom it is for."""
    for subject in (FOREIGN, NONE):
        with pytest.raises(NotAllowed, match=NOT_YOURS):
            authorize(ADA, Action.READ, subject)
    with pytest.raises(NotAllowed, match=INSTRUCTORS_ONLY):
        authorize(ADA, Action.READ, Roster())
