"""Accounts: registering, signing in, and what people change about their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from argon2 import PasswordHasher
from sqlalchemy import func, select, text

from grader.errors import NotAllowed
from grader.service import Service
from grader.service.accounts import NO_CLASS, WORTHLESS, code_of
from grader.service.limits import GUESSING
from grader.service.sessions import MARK_SECONDS, BrowserTokens
from grader.store import people
from grader.store.engine import Database
from grader.store.records import Role, User, UserId, Wanted
from grader.store.tables import INITIAL_CLASS, GradingRow, SubmissionRow, UserRow
from tests.service.conftest import Clock
from tests.service.test_service import graded

KEY = "the-class"  # of the initial class
Person = Callable[..., User]
HOME = "192.0.2.1"


def test_registering_takes_the_class_code(service: Service) -> None:
    """Who knows the code becomes a student; who does not is told so."""
    with pytest.raises(NotAllowed, match="class code is wrong"):
        service.register("Ada", "correct horse", "red-tree")

    assert service.register("Ada", "correct horse", " green-tree ").role is Role.STUDENT


@pytest.mark.parametrize("typed", ["Green-Tree", "GREENTREE", "green tree", "\tgreen - tree\n"])
def test_a_class_code_is_taken_as_phones_write_it(service: Service, typed: str) -> None:
    """Capitals, hyphens and blanks make no difference."""
    assert service.register("Ada", "correct horse", typed).role is Role.STUDENT


@pytest.mark.parametrize("typed", ["green_tree", "green.tree", "greentre", "greentreee", "gr\u00e9en-tree", "-", " "])
def test_a_class_code_has_all_of_its_letters(service: Service, typed: str) -> None:
    """Other signs, accents, and more or fewer letters are wrong; so is what is hyphens or blanks only."""
    with pytest.raises(NotAllowed, match="class code is wrong"):
        service.register("Ada", "correct horse", typed)


def test_a_code_of_hyphens_is_no_open_door() -> None:
    """What is left of it without them would equal an empty one."""
    assert len({code_of("---"), code_of("--"), code_of(" "), code_of("")}) == 3


@pytest.mark.parametrize("password", ["ninechars", "x" * 201, ""])
def test_a_password_is_neither_short_nor_endless(service: Service, password: str) -> None:
    """From 10 to 200 characters."""
    with pytest.raises(NotAllowed, match="10 to 200 characters"):
        service.register("Ada", password, "green-tree")


@pytest.mark.parametrize("name", ["ada", "\uff21\uff24\uff21", " Ada "])
def test_a_name_that_looks_the_same_is_taken(service: Service, person: Person, name: str) -> None:
    """Case, width and outer spaces make no other name."""
    person("Ada")
    with pytest.raises(NotAllowed, match="is taken"):
        person(name)


def test_a_session_ends_after_twelve_hours(service: Service, person: Person, clock: Clock) -> None:
    """Not a second later, whether the person was active or not."""
    ada = person("Ada")
    token = service.sign_in("ada", "correct horse", HOME)
    clock.now += 12 * 3600 - 1
    before = service.user_of(token)
    clock.now += 1

    assert (before, service.user_of(token)) == (ada, None)


def test_signing_out_ends_the_session_at_once(service: Service, person: Person) -> None:
    """Also where the session was looked up a moment ago."""
    ada = person("Ada")
    token = service.sign_in("Ada", "correct horse", HOME)
    before = service.user_of(token)
    service.sign_out(token)

    assert (before, service.user_of(token)) == (ada, None)


@pytest.mark.parametrize("token", [None, "", "nonsense", "\udcff", "x" * 100_000])
def test_no_other_token_is_anybody(service: Service, person: Person, token: str | None) -> None:
    """Whatever a browser sends, it is nobody and no error."""
    person("Ada")
    service.sign_in("Ada", "correct horse", HOME)

    assert service.user_of(token) is None


def test_the_database_holds_neither_token_nor_password(
    service: Service, person: Person, database_text: Callable[[], str]
) -> None:
    """Who steals the file can sign in as nobody."""
    person("Ada")
    token = service.sign_in("Ada", "correct horse", HOME)

    assert token not in database_text()
    assert "correct horse" not in database_text()


@pytest.mark.parametrize(("name", "password"), [("Ada", "wrong horse!"), ("Nobody", "correct horse"), ("", "")])
def test_a_wrong_name_and_a_wrong_password_read_the_same(
    service: Service, person: Person, name: str, password: str
) -> None:
    """The message does not tell which names exist."""
    person("Ada")
    with pytest.raises(NotAllowed, match=r"^The name or the password is wrong\.$"):
        service.sign_in(name, password, HOME)


def test_guessing_at_one_account_is_slowed_down(service: Service, person: Person, clock: Clock) -> None:
    """After eight wrong passwords from an address even the right one has to wait there; later it works again."""
    person("Ada")
    for _ in range(8):
        with pytest.raises(NotAllowed, match="is wrong"):
            service.sign_in("Ada", "wrong horse!", HOME)
    with pytest.raises(NotAllowed, match=r"under this name\. Please wait 30 seconds"):
        service.sign_in("ADA", "correct horse", HOME)
    clock.now += 30

    assert service.user_of(service.sign_in("Ada", "correct horse", HOME)) is not None


def test_a_mark_is_worth_nothing_after_half_a_year(clock: Clock) -> None:
    """Nor is one whose text was changed, or one that is no mark at all; none of them is an error."""
    tokens = BrowserTokens(b"secret", clock)
    mark = tokens.make("ada")
    number, signed, seal = mark.split(".")
    others = [f"{number}x.{signed}.{seal}", f"{number}.zzzz.{seal}", f"{number}.{signed}.{seal[:-2]}", number]
    strange = [None, "", ".", "..", f"{mark}.", "\ud800.a.b", "9" * 5000 + ".9.9", f"{number}.{'_' * 5000}.{seal}"]

    assert tokens.number("ada", mark) == number
    assert {tokens.number("ada", other) for other in [*others, *strange]} == {None}
    assert BrowserTokens(b"another", clock).number("ada", mark) is None
    clock.now += MARK_SECONDS
    assert tokens.number("ada", mark) == number
    clock.now += 1
    assert tokens.number("ada", mark) is None


def test_guessing_from_one_address_is_slowed_down(service: Service, person: Person) -> None:
    """After two hundred wrong guesses each name has two tries left there; another address is not concerned."""
    person("Ada")
    for n in range(200):
        with pytest.raises(NotAllowed, match="is wrong"):
            service.sign_in(f"name {n}", "wrong horse!", HOME)
    for _ in range(2):
        with pytest.raises(NotAllowed, match="is wrong"):
            service.sign_in("Ada", "wrong horse!", HOME)
    with pytest.raises(NotAllowed, match=r"at your address\. Please wait 1 seconds"):
        service.sign_in("Ada", "correct horse", HOME)

    assert service.sign_in("Ada", "correct horse", "192.0.2.2")


def test_signing_in_rightly_uses_up_nothing(service: Service, person: Person) -> None:
    """A class that signs in from one room at the same minute is not slowed down."""
    person("Ada")
    tokens = {service.sign_in("Ada", "correct horse", HOME) for _ in range(70)}

    assert len(tokens) == 70


def test_guessing_the_class_code_is_told_to_the_log_once(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    """After thirty wrong codes from an address there is one line, with the address and what to do."""
    for n in range(90):
        with pytest.raises(NotAllowed, match="class code is wrong"):
            service.register("Ada", "correct horse", f"code {n}", HOME)

    assert [record.getMessage() for record in caplog.records] == [GUESSING % HOME]
    assert "green-tree" not in caplog.text


def test_a_name_that_is_taken_is_refused_before_anything_is_hashed(service: Service, person: Person) -> None:
    """A hash is the most costly step of registering; whoever knows the code must not have one for nothing."""
    person("Ada")
    hashes = []
    service.accounts._hash = lambda password: hashes.append(password) or ""  # type: ignore[method-assign,func-returns-value]
    with pytest.raises(NotAllowed, match="is taken"):
        service.register("ADA", "correct horse", "green-tree", HOME)

    assert hashes == []


READ_ALIKE = [("Alan", "AIan"), ("Alan", "A1an"), ("Alan's", "Alan\u2019s"), ("Copa", "\u0421\u043e\u0440\u0430")]


@pytest.mark.parametrize(("first", "second"), READ_ALIKE)
def test_a_name_that_is_read_as_another_is_taken(service: Service, person: Person, first: str, second: str) -> None:
    """A capital I for a small l, a whole word in another alphabet: nobody gets on the board under somebody's name."""
    person(first)
    with pytest.raises(NotAllowed, match="looks like one"):
        person(second)


def test_old_sessions_make_room_for_new_ones(
    service: Service, person: Person, clock: Clock, database: Database
) -> None:
    """A person has fifty sessions at most; the oldest goes first."""
    person("Ada")
    tokens = []
    for _ in range(51):
        clock.now += 1
        tokens.append(service.sign_in("Ada", "correct horse", HOME))

    with database.read() as session:
        assert session.execute(text("SELECT count(*) FROM sessions")).scalar_one() == 50
    assert (service.user_of(tokens[-1]) is None, service.user_of(tokens[0])) == (False, None)


def test_a_hash_of_other_strength_is_renewed_at_sign_in(
    service: Service, person: Person, database: Database, hasher: PasswordHasher
) -> None:
    """When the parameters change, the hashes follow as people come by."""
    person("Ada")
    weaker = PasswordHasher(time_cost=2, memory_cost=8, parallelism=1).hash("correct horse")
    with database.write() as session:
        session.execute(text("UPDATE users SET password = :weaker"), {"weaker": weaker})
    service.sign_in("Ada", "correct horse", HOME)

    with database.read() as session:
        assert not hasher.check_needs_rehash(session.execute(text("SELECT password FROM users")).scalar_one())


OLD, NEW, HERE = "correct horse", "battery staple", "192.0.2.1"


def test_a_changed_password_ends_all_other_sessions(service: Service, person: Person) -> None:
    """The old one opens nothing any more; whoever has copied a session is signed out."""
    ada = person("Ada")
    copied = service.sign_in("Ada", OLD, HERE)
    with pytest.raises(NotAllowed, match="password is wrong"):
        service.own_account.change_password(ada, "a wrong one", NEW, HERE)
    with pytest.raises(NotAllowed, match="10 to 200 characters"):
        service.own_account.change_password(ada, OLD, "short", HERE)
    assert service.user_of(copied) == ada
    fresh = service.own_account.change_password(ada, OLD, NEW, HERE)

    assert (service.user_of(copied), service.user_of(fresh)) == (None, ada)
    with pytest.raises(NotAllowed):
        service.sign_in("Ada", OLD, HERE)
    assert service.user_of(service.sign_in("Ada", NEW, HERE)) == ada


def test_signing_out_everywhere_ends_every_session(service: Service, person: Person) -> None:
    """One's own, and nobody else's."""
    ada, bob = person("Ada"), person("Bob")
    tokens = [service.sign_in(name, OLD, HERE) for name in ("Ada", "Ada", "Bob")]
    service.own_account.sign_out_everywhere(ada)

    assert [service.user_of(token) for token in tokens] == [None, None, bob]


def test_a_deleted_account_leaves_nothing(service: Service, person: Person, database: Database) -> None:
    """Submissions, gradings, drafts and places on boards are gone; the name is free again; others keep theirs."""
    ada, bob = person("Ada"), person("Bob")
    service.start()
    graded(service, ada)
    graded(service, bob)
    service.drafts.keep(ada, "softmax", "x = 2")
    with pytest.raises(NotAllowed, match="password is wrong"):
        service.own_account.delete(ada, "a wrong one", HERE)
    service.own_account.delete(ada, OLD, HERE)
    with database.read() as session:
        left = [session.scalar(select(func.count()).select_from(row)) for row in (UserRow, SubmissionRow, GradingRow)]

    assert left == [1, 1, 1]
    assert [line.user for line in service.leaderboard()] == [bob.id]
    assert person("Ada").id != ada.id


def test_the_last_instructor_stays_as_long_as_there_is_a_class(service: Service, person: Person) -> None:
    """With another instructor, or with nobody left in the class, the account can be deleted."""
    ida, ada = person("Ida", Role.INSTRUCTOR), person("Ada")
    service.submit(ida, "softmax", "x = 1")
    with pytest.raises(NotAllowed, match="only instructor"):
        service.own_account.delete(ida, OLD, HERE)
    assert service.unfinished(ida, "softmax") is not None

    service.own_account.delete(ada, OLD, HERE)
    service.own_account.delete(ida, OLD, HERE)
    assert service.accounts.credentials("Ida") is None


def test_whoever_leaves_the_class_keeps_what_they_have_done(service: Service, person: Person) -> None:
    """They are on no board any more, and back on it with the class code; the last instructor stays."""
    ada, ida = person("Ada"), person("Ida", Role.INSTRUCTOR)
    service.start()
    graded(service, ada)
    token = service.sign_in("Ada", OLD, HERE)
    with pytest.raises(NotAllowed, match="only instructor"):
        service.own_account.leave(ida, KEY)
    service.own_account.leave(ada, KEY)
    outside = service.user_of(token)

    assert outside == replace(ada, role=Role.LEARNER)
    assert service.leaderboard() == []
    assert service.best(ada) == {"softmax": 100.0}
    with pytest.raises(NotAllowed, match=NO_CLASS):
        service.own_account.leave(ada, KEY)
    service.accounts.join(outside, service.class_code, HERE)
    assert [line.user for line in service.leaderboard()] == [ada.id]


def test_an_account_is_deleted_while_its_code_waits(service: Service, person: Person) -> None:
    """The job is cancelled first, and the worker goes on with those of others."""
    ada, bob = person("Ada"), person("Bob")
    service.submit(ada, "softmax", "x = 1")
    service.own_account.delete(ada, OLD, HERE)
    service.start()
    graded(service, bob)

    assert service.best(bob) == {"softmax": 100.0}


def test_a_link_works_once_and_for_two_days(service: Service, person: Person, clock: Clock) -> None:
    """After it was used, or the password was changed otherwise, or 48 hours, it is worth nothing."""
    ada, ida = person("Ada"), person("Ida", Role.INSTRUCTOR)
    copied = service.sign_in("Ada", OLD, HERE)
    first, second = (service.own_account.link_for_student(ida, INITIAL_CLASS, ada.id) for _ in range(2))
    fresh = service.own_account.reset(first, NEW)
    assert (service.user_of(copied), service.user_of(fresh)) == (None, ada)
    for used in (first, second):
        with pytest.raises(NotAllowed, match=WORTHLESS):
            service.own_account.reset(used, "another password")
    late = service.own_account.link_for("Ada")
    clock.now += 48 * 3600 + 1

    with pytest.raises(NotAllowed, match=WORTHLESS):
        service.own_account.owner_of(late)


def test_a_link_cannot_be_made_up(service: Service, person: Person) -> None:
    """Neither for somebody else, nor from a mark of a browser, nor from nothing."""
    ada, bob = person("Ada"), person("Bob")
    link = service.own_account.link_for("Ada")
    _, _, rest = link.partition(".")
    for forged in (f"{bob.id}.{rest}", service.mark(ada), f"{ada.id}.x.y", "", ".", "9" * 40, "\ud800", f"{link}x"):
        with pytest.raises(NotAllowed, match=WORTHLESS):
            service.own_account.owner_of(forged)


def test_only_instructors_make_links_and_only_for_students(service: Service, person: Person) -> None:
    """A student gets none, for nobody; an instructor none for an instructor."""
    ada, ida, max = person("Ada"), person("Ida", Role.INSTRUCTOR), person("Max", Role.INSTRUCTOR)
    with pytest.raises(NotAllowed, match="instructors only"):
        service.own_account.link_for_student(ada, INITIAL_CLASS, ada.id)
    for nobody in (max.id, UserId(999)):
        with pytest.raises(NotAllowed, match="no such student"):
            service.own_account.link_for_student(ida, INITIAL_CLASS, nobody)
    with pytest.raises(NotAllowed, match="no account called 'Nobody'"):
        service.own_account.link_for("Nobody")
    visitor = service.user_of(service.accounts.visit(HERE))
    assert visitor is not None
    with pytest.raises(NotAllowed, match=WORTHLESS):
        service.own_account.owner_of(f"{visitor.id}.x.y")


def test_guesses_at_the_old_password_are_limited(service: Service, person: Person) -> None:
    """A session that somebody else has does not let them try passwords without end."""
    ada = person("Ada")
    for _ in range(8):
        with pytest.raises(NotAllowed, match="wrong"):
            service.own_account.change_password(ada, "a wrong one", NEW, HERE)

    with pytest.raises(NotAllowed, match="Too many"):
        service.own_account.change_password(ada, "a wrong one", NEW, HERE)


def test_a_new_name_is_shown_everywhere_and_signs_in(service: Service, person: Person) -> None:
    """On the board, in the gradebook and in the session; the old name signs nobody in and is free for others."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    service.start()
    graded(service, ada)
    token = service.sign_in("Ada", OLD, HERE)
    assert service.user_of(token) == ada
    renamed = service.own_account.rename(ada, "  Augusta King ", OLD, HERE)

    assert renamed == service.user_of(token) == User(ada.id, "Augusta King", Role.STUDENT)
    assert [line.name for line in service.leaderboard("softmax", prof)] == ["Augusta King"]
    assert [one.user.name for one in service.classroom(prof).students()] == ["Augusta King"]
    assert [one.name for one in service.classroom(prof).listed(Wanted())] == ["Augusta King"]
    with pytest.raises(NotAllowed, match="name or the password is wrong"):
        service.sign_in("Ada", OLD, HERE)
    assert service.user_of(service.sign_in("augusta king", OLD, HERE)) == renamed
    assert service.register("Ada", OLD, "green-tree").id != ada.id


def test_a_new_name_keeps_to_the_rules_of_names(service: Service, person: Person, database: Database) -> None:
    """It looks like nobody else's, but may look like one's own; the rules hold for what another process has renamed."""
    ada, bob = person("Ada"), person("Bob")
    for name, message in (("B0b", "taken, or looks like"), ("x", "2 to 40 characters"), ("Ad\u0430", "one alphabet")):
        with pytest.raises(NotAllowed, match=message):
            service.own_account.rename(ada, name, OLD, HERE)
    with pytest.raises(NotAllowed, match="password is wrong"):
        service.own_account.rename(ada, "Augusta", "a wrong one", HERE)
    ada = service.own_account.rename(ada, "ADA", OLD, HERE)
    with database.write() as session:
        people.rename(session, bob.id, "Carol", key="carol")
    with pytest.raises(NotAllowed, match="taken, or looks like"):
        service.register("Car0l", OLD, "green-tree")

    assert ada.name == "ADA"
    assert service.register("B0b", OLD, "green-tree").name == "B0b"


def test_names_change_a_few_times_an_hour(service: Service, person: Person, clock: Clock) -> None:
    """Wrong tries are not counted; an instructor is not slowed down."""
    ada, prof = person("Ada"), person("Prof", Role.INSTRUCTOR)
    for number in range(5):
        with pytest.raises(NotAllowed, match="taken, or looks like"):
            service.own_account.rename(ada, "Pr0f", OLD, HERE)
        ada = service.own_account.rename(ada, f"Ada {number}", OLD, HERE)
    with pytest.raises(NotAllowed, match="Too many changes of your name"):
        service.own_account.rename(ada, "Ada again", OLD, HERE)
    service.classroom(prof).rename(ada.id, "Ada by Prof")
    clock.now += 3600.0
    known = service.classroom(prof).member(ada.id)

    assert service.own_account.rename(replace(ada, name=known.name), "Ada again", OLD, HERE).name == "Ada again"
