"""Under which name people stand on leaderboards, and who sees which."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from grader.errors import NotAllowed
from grader.service import Service
from grader.service.board_names import ADJECTIVES, ANIMALS, NUMBERS, pseudonyms
from grader.service.names import fold
from grader.store.records import BoardName, Role, User, UserId
from tests.service.test_service import graded

Person = Callable[..., User]
CLASS = [(UserId(id), f"student {id}") for id in range(1, 2001)]


def test_pseudonyms_are_readable_and_unique() -> None:
    """In a class so large that many draw the same; all words are different ones."""
    names = pseudonyms(b"secret", CLASS)

    assert len(set(ADJECTIVES)) == len(ADJECTIVES) == len(set(ANIMALS)) == len(ANIMALS) == 64
    assert len(set(names.values())) == len(names) == len(CLASS)
    assert [name for name in names.values() if not re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+ [1-9][0-9]", name)] == []


def test_a_pseudonym_stays_when_others_come_and_hangs_on_the_secret_alone() -> None:
    """Neither a new member nor another name changes it; another secret changes nearly all of them."""
    names = pseudonyms(b"secret", CLASS[:50])
    renamed = [(id, f"other {id}") for id, _ in CLASS[:50]]
    other = pseudonyms(b"another", CLASS[:50])

    assert pseudonyms(b"secret", CLASS).items() >= names.items()
    assert pseudonyms(b"secret", renamed) == names
    assert sum(names[id] == other[id] for id in names) < 3
    assert len(ADJECTIVES) * len(ANIMALS) * len(NUMBERS) > 300_000


def test_no_pseudonym_is_the_name_of_a_member() -> None:
    """Whoever registers under a name that looks like one is not taken for somebody else."""
    first = pseudonyms(b"secret", CLASS[:1])[UserId(1)]
    second = pseudonyms(b"secret", [CLASS[0], (UserId(2), fold(first))])

    assert first not in second.values()


def test_a_board_shows_pseudonyms_and_instructors_see_names(service: Service, person: Person) -> None:
    """The same one on every board, for the person themselves and for guests too."""
    ada, bob, teacher = person("Ada"), person("Bob"), person("Prof", Role.INSTRUCTOR)
    service.start()
    for one in (ada, bob):
        graded(service, one)
        graded(service, one, "causal_mask")
    own = {one.id: service.boards.of(one) for one in (ada, bob)}

    for board in (service.leaderboard(), service.leaderboard("softmax", ada), service.leaderboard("causal_mask", bob)):
        assert {line.user: line.name for line in board} == {id: found.pseudonym for id, found in own.items() if found}
    assert {line.name for line in service.leaderboard(reader=teacher)} == {"Ada", "Bob"}
    assert service.boards.of(teacher) is None


def test_people_choose_their_name_or_leave(service: Service, person: Person) -> None:
    """Who has left is on no board, and leaves no gap in the ranks; coming back brings the same pseudonym."""
    ada, bob, teacher = person("Ada"), person("Bob"), person("Prof", Role.INSTRUCTOR)
    service.start()
    for one in (ada, bob):
        graded(service, one)
    before = service.boards.of(ada)
    service.boards.choose(bob, BoardName.NAME)
    assert "Bob" in [line.name for line in service.leaderboard("softmax", ada)]
    service.boards.choose(ada, BoardName.NONE)
    for reader in (ada, bob, teacher, None):
        assert [(line.rank, line.name) for line in service.leaderboard("softmax", reader)] == [(1, "Bob")]
        assert [line.name for line in service.leaderboard(reader=reader)] == ["Bob"]
    service.boards.choose(ada, BoardName.PSEUDONYM)

    assert service.boards.of(ada) == before
    assert before is not None
    assert before.pseudonym in [line.name for line in service.leaderboard("softmax")]


def test_only_students_choose_and_only_what_there_is(service: Service, person: Person) -> None:
    """Anything else is refused, and changes nothing."""
    ada, learner = person("Ada"), person("Lea", Role.LEARNER)
    with pytest.raises(NotAllowed, match="one of the three"):
        service.boards.choose(ada, "Bob")
    for one in (learner, person("Prof", Role.INSTRUCTOR)):
        with pytest.raises(NotAllowed, match="Only students"):
            service.boards.choose(one, BoardName.NAME)

    found = service.boards.of(ada)
    assert found is not None
    assert found.choice is BoardName.PSEUDONYM
    assert service.boards.of(learner) is None
