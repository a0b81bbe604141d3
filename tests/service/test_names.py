"""Which names are allowed, which are taken for each other, and that nobody overlooks one."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterator
from itertools import combinations

import pytest
from argon2 import PasswordHasher
from confusable_homoglyphs.confusables import confusables_data  # type: ignore[import-untyped] # has no types

from grader.errors import NotAllowed
from grader.service import Service, names
from grader.service.names import fold, skeleton, tidy
from grader.store import people
from grader.store.engine import Database
from grader.store.records import Role, User
from tests.service.conftest import Clock

KEPT = "Ada, Ada Lovelace, Jürgen, Nguyễn Thị, O'Neil, x1, 李雷, かな カナ, Анна, आदित्य, 김철수 Kim, مريم"


@pytest.mark.parametrize("name", KEPT.split(", "))
def test_people_keep_their_names(name: str) -> None:
    """Every script is welcome."""
    assert tidy(name) == name


@pytest.mark.parametrize(
    ("looks", "why"),
    [
        (["a", "a" * 41, "   "], "2 to 40"),
        (["Ad\u200ba", "Ad\u202ea", "Ada\n", "Ada\u3164", "Ada  B", "Ada\x00", "\udcffAda"], "visible"),
        (["A\u0301\u0302\u0303\u0304da", "Ada\ufe0f"], "accents"),
        (["<b>"], "letter or a digit"),
        (["\u0430da", "Ad\u03b1", "al\u0456ce", "ali\u13dfe", "a\ua4e1ice", "\u0561lice"], "one alphabet"),
    ],
)
def test_what_deceives_or_disturbs_is_refused(looks: list[str], why: str) -> None:
    """The message says which rule it breaks; of other alphabets a letter is taken that looks like a Latin one."""
    for name in looks:
        with pytest.raises(NotAllowed, match=why):
            tidy(name)


def test_names_that_look_alike_have_one_key() -> None:
    """Width, case, ligatures and composition make no difference."""
    assert {fold(name) for name in ("Straße", "STRASSE", "\uff33trasse", " strasse ")} == {"strasse"}
    assert fold("e\u0301") == fold("É")


PLAIN = string.ascii_letters + string.digits
PASSWORD = "correct horse"
PEOPLE = [
    "Ada", "Ala", "Alan", "Allan", "Anna", "Анна", "Ольга", "Олег", "Elia", "Ella", "Ilse", "Else", "José", "Jonas",
    "Müller", "Möller", "Søren", "Łukasz", "Nguyễn Thị", "Nguyễn Thu", "O'Neil", "Ann Li", "Ann-Li", "李雷", "李蕾",
    "王芳", "김철수", "김철호", "かな", "がな", "カズ", "ガズ", "さくら", "आदित्य", "आदित्या", "ஆதி", "สมชาย", "สมหมาย",
    "มานี", "مريم", "محمد", "أحمد", "עומר", "עומרי", "Γιάννης", "Μαρία", "Արամ", "გიორგი", "Bob 1", "Bob 2", "x5",
]  # fmt: skip

_DRESSED = re.compile(
    "(?:FULLWIDTH|MATHEMATICAL|NEGATIVE|CIRCLED|SQUARED|REGIONAL|LATIN LETTER SMALL).*(?:CAPITAL|SMALL|LETTER) ([A-Z])"
)


def _alike(first: str, second: str) -> bool:
    return not skeleton(first).isdisjoint(skeleton(second))


def _with(letter: str) -> str:
    """Return a name with that letter inside; the others are mistaken for nothing."""
    return f"Ke{letter}ta"


def _lookalikes() -> Iterator[tuple[str, str]]:
    """Yield every pair of Unicode's table that leads to a plain letter or digit, as it is shown."""
    for letter in PLAIN:
        for entry in confusables_data.get(letter, ()):
            other = "".join(c for c in entry["c"] if unicodedata.category(c) != "Cf")
            if unicodedata.normalize("NFKC", other) == other:
                yield letter, other


def test_whatever_unicode_calls_confusable_is() -> None:
    """Each of its characters that looks like a plain letter or digit makes the same name as that one."""
    pairs = list(_lookalikes())

    missed = [pair for pair in pairs if not _alike(_with(pair[0]), _with(pair[1]))]

    assert missed == []
    assert len(pairs) > 400


def test_letters_in_another_dress_are_the_same() -> None:
    """Wide, mathematical, circled, boxed and small capital letters, those too that no normalization undoes."""
    named = (
        (character, _DRESSED.fullmatch(unicodedata.name(character, ""))) for character in map(chr, range(0x80, 0x1FBFA))
    )
    letters = [(character, found[1]) for character, found in named if found]

    missed = [
        character
        for character, letter in letters
        if not any(_alike(_with(case), _with(character)) for case in (letter, letter.lower()))
    ]

    assert len(letters) > 800
    assert missed == []


@pytest.mark.parametrize("accent", [chr(code) for code in range(0x300, 0x370) if code != 0x34F])
def test_an_accent_makes_no_other_name(accent: str) -> None:
    """On whichever letter it stands: most readers read over it, and some fonts do not show it."""
    named = [unicodedata.normalize("NFKC", f"Ke{letter}{accent}ta") for letter in string.ascii_letters]

    assert [
        name for name, letter in zip(named, string.ascii_letters, strict=True) if not _alike(_with(letter), name)
    ] == []


@pytest.mark.parametrize(
    "hidden", ["\u200b", "\u200d", "\u202e", "\u2066", "\ufeff", "\u034f", "\ufe0f", "\u00ad", "\u3164"]
)
def test_what_nobody_sees_is_refused(hidden: str) -> None:
    """Zero widths, marks of direction and fillers are in no new name, and make no other one of an old name."""
    with pytest.raises(NotAllowed):
        tidy(f"ali{hidden}ce")
    assert hidden == "\u3164" or _alike("alice", f"ali{hidden}ce")


@pytest.mark.parametrize("name", ["\u00b4alice", "O\u00b4Neil", "A \u0301b", "Ann-\u0301Li"])
def test_an_accent_stands_on_a_letter(name: str) -> None:
    """Alone it is shown as an apostrophe, or not at all."""
    with pytest.raises(NotAllowed):
        tidy(name)


def test_a_name_of_capitals_is_read_in_small_letters() -> None:
    """Case makes no difference to the key, so it makes none to letters that only look like capitals."""
    for other in (
        "ALICE",
        "ALlCE",
        "A1ICE",
        "\u13aa\u13de\u13c6\u13df\u13ac"[:2] + "ICE",
        "\u1d00\u029f\u026a\u1d04\u1d07",
    ):
        assert _alike("alice", other), other


def test_people_of_every_country_keep_names_of_their_own() -> None:
    """Honest names are allowed as they are, and none is taken for another's."""
    assert [name for name in PEOPLE if tidy(name) != unicodedata.normalize("NFKC", name)] == []
    assert [pair for pair in combinations(PEOPLE, 2) if _alike(*pair)] == []


def test_who_was_there_before_a_rule_signs_in_as_ever(
    service: Service, database: Database, person: Callable[..., User]
) -> None:
    """Accounts whose names would be refused today, or look like each other, keep working; nobody new joins them."""
    first = person("alice")
    hashed = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    with database.write() as session:
        people.add(session, "al\u0131ce", Role.STUDENT, key=fold("al\u0131ce"), password=hashed, now=0.0)
        people.add(session, "a\u200dlice", Role.STUDENT, key=fold("a\u200dlice"), password=hashed, now=0.0)

    tokens = [service.sign_in(name, PASSWORD, "192.0.2.1") for name in ("alice", "al\u0131ce", "a\u200dlice")]

    found = [service.user_of(token) for token in tokens]
    assert [user.name for user in found if user] == [first.name, "al\u0131ce", "a\u200dlice"]
    with pytest.raises(NotAllowed, match="looks like one"):
        person("ali\u0307ce")


def test_each_name_is_looked_at_once(person: Callable[..., User]) -> None:
    """Another account in a large class costs a look at one name, and not at all of them anew."""
    for number in range(5):
        person(f"Person {number + 2}0")
    before = skeleton.cache_info().misses
    person("Somebody else")

    assert skeleton.cache_info().misses - before <= 1


def store(database: Database, *new: str) -> None:
    with database.write() as session:
        for name in new:
            people.add(session, name, Role.STUDENT, key=name, password="", now=0.0)


def test_a_new_name_is_compared_with_what_has_come_since(
    service: Service, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the names were read, a registration reads how its own looks, however many others there are."""
    store(database, *(f"student {n}" for n in range(2000)))
    read: list[str] = []
    known = names.skeleton
    monkeypatch.setattr(names, "skeleton", lambda name: read.append(name) or known(name))
    costs = []
    for n in range(4):
        service.register(f"newcomer {n}", "correct horse", "green-tree")
        costs.append(len(read))
        read.clear()

    assert costs[0] > 2000
    assert max(costs[1:]) <= 4


def test_what_other_processes_do_is_seen(service: Service, database: Database, clock: Clock) -> None:
    """A name that was stored elsewhere is taken at once, at a lower id too; one deleted is free."""
    service.register("Grete", "correct horse", "green-tree")
    store(database, "Heidi")
    with pytest.raises(NotAllowed, match="Heidi"):
        service.register("Heidi", "correct horse", "green-tree")
    with database.engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        connection.exec_driver_sql("UPDATE memberships SET user_id = 100 WHERE user_id = 2")
        connection.exec_driver_sql("UPDATE users SET id = 100 WHERE name = 'Heidi'")
    service.register("Ida", "correct horse", "green-tree")  # 101
    with database.engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO users (id, name, key, password, created) VALUES (50, 'Käthe', 'käthe', '', 0)"
        )
        connection.exec_driver_sql("DELETE FROM users WHERE name = 'Heidi'")
        connection.exec_driver_sql(
            "INSERT INTO users (id, name, key, password, created) VALUES (51, 'Lena', 'lena', '', 0)"
        )
    for name in ("Käthe", "Lena"):
        with pytest.raises(NotAllowed, match=name):
            service.register(name, "correct horse", "green-tree")
    service.register("Heidi", "correct horse", "green-tree")
