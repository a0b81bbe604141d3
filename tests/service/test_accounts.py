"""Registering, signing in, and how long that lasts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from argon2 import PasswordHasher
from sqlalchemy import text

from grader.errors import NotAllowed
from grader.service import Service
from grader.service.rate_limits import GUESSING, MARK_SECONDS, BrowserTokens
from grader.service.typed import code_of
from grader.store.engine import Database
from grader.store.records import Role, User
from tests.service.conftest import Clock

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


def test_guessing_at_one_account_from_everywhere_is_slowed_down(service: Service, person: Person) -> None:
    """Sixty wrong passwords from as many addresses are the end for all browsers that are new to that name."""
    person("Ada")
    for n in range(60):
        with pytest.raises(NotAllowed, match="is wrong"):
            service.sign_in("Ada", "wrong horse!", f"192.0.2.{n}")
    with pytest.raises(NotAllowed, match="under this name"):
        service.sign_in("Ada", "correct horse", HOME)


def test_nobody_can_lock_another_person_out(service: Service, person: Person) -> None:
    """However much is guessed, the browser in which Ada has been signed in lets her in, and nobody else."""
    ada, eve = person("Ada"), person("Eve")
    for n in range(60):
        with pytest.raises(NotAllowed, match="is wrong"):
            service.sign_in("Ada", "wrong horse!", f"192.0.2.{n}")
    with pytest.raises(NotAllowed, match="under this name"):
        service.sign_in("Ada", "correct horse", HOME, service.mark(eve))

    assert service.user_of(service.sign_in("Ada", "correct horse", HOME, service.mark(ada))) == ada


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


def test_a_browser_that_is_known_may_not_guess_for_ever(service: Service, person: Person) -> None:
    """A mark that was stolen is worth eight guesses."""
    mark = service.mark(person("Ada"))
    for n in range(8):
        with pytest.raises(NotAllowed, match="is wrong"):
            service.sign_in("Ada", "wrong horse!", f"192.0.2.{n}", mark)
    with pytest.raises(NotAllowed, match="in this browser"):
        service.sign_in("Ada", "correct horse", HOME, mark)


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
