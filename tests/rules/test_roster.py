"""A registrar's file is read as it is, each fault at its line, and what it would change is told first."""

from __future__ import annotations

import pytest

from grader.rules.roster import BadFile, KnownPerson, Move, RowFault, compare, is_email, read_roster

_PLAIN = "email,name,section\nada@uni.example,Ada,A1\nben@uni.example,Ben,A2\n"
_SECTIONS = ("A1", "A2")


def _people(content: bytes | str) -> list[tuple[str, str, str]]:
    roster = read_roster(content, _SECTIONS)
    assert roster.faults == ()
    return [(row.email, row.name, row.section) for row in roster.rows]


@pytest.mark.parametrize(
    "content",
    [
        _PLAIN.encode(),
        b"\xef\xbb\xbf" + _PLAIN.encode(),
        _PLAIN.replace("\n", "\r\n").encode(),
        _PLAIN.replace(",", ";").encode(),
        _PLAIN.replace(",", "\t").encode(),
        _PLAIN.replace("email,name,section", " E-Mail,EMAIL,Name ,Section").replace("\n", "\nx,", 2).encode(),
        _PLAIN.replace("ada@uni.example", "ADA@Uni.Example\u200f").encode(),
        _PLAIN.replace("\nben", "\n,,\n\n\nben").encode(),
        _PLAIN.replace("Ada,", '"Ada",').encode(),
        _PLAIN.removesuffix("\n").encode(),
    ],
    ids=[
        "plain",
        "mark",
        "crlf",
        "semicolons",
        "tabs",
        "capitals",
        "folded",
        "empty rows",
        "quotes",
        "no last newline",
    ],
)
def test_a_registrars_file_is_read_as_it_is(content: bytes) -> None:
    assert _people(content) == [("ada@uni.example", "Ada", "A1"), ("ben@uni.example", "Ben", "A2")]


def test_a_file_in_cp1252_keeps_its_letters() -> None:
    assert _people("email;name;section\nj@u.example;Jürgen Groß;A1\n".encode("cp1252"))[0][1] == "Jürgen Groß"


def test_names_are_kept_as_they_are() -> None:
    names = ("Иванов (Ivanov)", '=HYPERLINK("http://x","Kim")', "Wei Zhang", "Wei Zhang", "O’Neil, Pat")
    rows = "".join(
        f'p{number}@u.example,"{name.replace(chr(34), chr(34) * 2)}",A1\n' for number, name in enumerate(names)
    )
    assert [name for _, name, _ in _people(f"email,name,section\n{rows}")] == list(names)


def test_columns_that_are_not_used_are_named() -> None:
    roster = read_roster("id,email,name,section,number,lms_id,phone\n7,a@u.example,A,A1,007,x9,1\n", _SECTIONS)
    assert roster.ignored == ("id", "phone")
    assert (roster.rows[0].number, roster.rows[0].lms_id) == ("007", "x9")


def test_each_fault_is_told_at_the_line_where_its_row_begins() -> None:
    text = (
        "email,name,section\n"
        'ada@u.example,"Ada\nLovelace",A1\n'  # lines 2 and 3
        "ada@,Ada,A1\n"
        "ADA@U.EXAMPLE,Again,A9\n"
        "ben@u.example,,A9\n"
        "cleo@u.example, ,A1\n"
        f"dov@u.example,{'x' * 201},A1\n"
        "eve@u.example\n"
    )
    assert read_roster(text, _SECTIONS).faults == (
        (4, RowFault.BAD_EMAIL),
        (5, RowFault.DUPLICATE_EMAIL),
        (6, RowFault.UNKNOWN_SECTION),
        (7, RowFault.NO_NAME),
        (8, RowFault.LONG_NAME),
        (9, RowFault.UNKNOWN_SECTION),
    )


def test_a_class_without_sections_takes_an_empty_one() -> None:
    assert read_roster("email,name\na@u.example,A\n", ()).faults == ()
    assert read_roster("email,name,section\na@u.example,A,A1\n", ()).faults == ((2, RowFault.UNKNOWN_SECTION),)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no column `email`"),
        (b"mail,name\n", "the columns are mail, name"),
        (b"email,section\na@u.example,A1\n", "no column `name`"),
        (b"email,name\na@u.example,A\0\n", "NUL"),
        (b"email,name\n" + b"x" * 4_000_000, "at most 4,000,000"),
    ],
)
def test_a_file_that_is_no_roster_is_refused_in_one_line(content: bytes, told: str) -> None:
    with pytest.raises(BadFile, match=told) as refused:
        read_roster(content, ())
    assert "\n" not in str(refused.value)


def test_a_cell_of_a_megabyte_and_ten_thousand_rows_are_read() -> None:
    roster = read_roster(f"email,name,notes\na@u.example,A,{'x' * 1_000_000}\n", ())
    assert (len(roster.rows), roster.ignored) == (1, ("notes",))
    many = "".join(f"p{number}@u.example,P,\n" for number in range(10_000))
    assert len(read_roster(f"email,name,section\n{many}", ()).rows) == 10_000


@pytest.mark.parametrize("email", ["a@b.c", "a.b+c@uni.example", "a@b.c.d"])
def test_an_address_has_one_at_and_a_dot_inside_what_follows(email: str) -> None:
    assert is_email(email)
    name, _, host = email.partition("@")
    for wrong in (
        name,
        f"@{host}",
        f"{name}@",
        f"{name}@com",
        f"{name}@.com",
        f"{name}@com.",
        f"{name}@@{host}",
        f"{email} x",
    ):
        assert not is_email(wrong)


def _class() -> list[KnownPerson]:
    return [
        KnownPerson("ada", "ada@u.example", "Ada", "A1"),
        KnownPerson("ben", "ben@u.example", "Ben", "A1", number="7"),
        KnownPerson("cleo", "cleo@u.example", "Cleo", "A2", lms_id="x1"),
        KnownPerson("dov", "dov@u.example", "Dov", "A1", is_present=False),
        KnownPerson("iris", "iris@u.example", "Iris", is_staff=True),
        KnownPerson("hana", "hana@u.example", "Hana", "B1", is_member=False),
    ]


def test_each_row_counts_once_as_the_first_change_that_applies() -> None:
    text = (
        "email,name,section,number,lms_id\n"
        "ada@u.example,Ada,A1,,\n"  # unchanged
        "ben.new@u.example,Benjamin,A2,7,\n"  # moved and renamed, found by number
        "other@u.example,Cleopatra,A2,7,x1\n"  # renamed: the platform's id goes before the number
        "dov@u.example,Dov,A2,,\n"  # back, in another section
        "iris@u.example,Other,A1,,\n"  # staff
        "hana@u.example,Hana,A1,,\n"  # in another class so far
        "eve@u.example,Eve,A1,,\n"
    )
    change = compare(read_roster(text, _SECTIONS), _class())
    assert [(move, person) for _, move, person in change.rows] == [
        (Move.UNCHANGED, "ada"),
        (Move.MOVED, "ben"),
        (Move.RENAMED, "cleo"),
        (Move.BACK, "dov"),
        (Move.UNCHANGED, "iris"),
        (Move.NEW, "hana"),
        (Move.NEW, None),
    ]
    assert change.left == ()
    assert change.count(Move.NEW) == 2


def test_who_is_in_no_row_leaves_and_staff_never_do() -> None:
    change = compare(read_roster("email,name,section\nada@u.example,Ada,A1\n", _SECTIONS), _class())
    assert change.left == ("ben", "cleo")


@pytest.mark.parametrize(
    ("present", "left", "asked"), [(300, 10, False), (300, 11, True), (20, 1, False), (19, 1, True)]
)
def test_a_file_that_would_drop_many_wants_their_number(present: int, left: int, asked: bool) -> None:
    known = [KnownPerson(str(number), f"p{number}@u.example", "P") for number in range(present)]
    rows = "".join(f"p{number}@u.example,P\n" for number in range(left, present))
    assert compare(read_roster(f"email,name\n{rows}", ()), known).must_be_confirmed is asked
