"""What a name may look like."""

from __future__ import annotations

import pytest

from grader.errors import NotAllowed
from grader.service.names import fold, tidy


@pytest.mark.parametrize(
    "name",
    [
        "Ada",
        "Ada Lovelace",
        "Jürgen",
        "Nguyễn Thị",
        "O'Neil",
        "x1",
        "李雷",
        "かな カナ",
        "Анна",
        "आदित्य",
        "김철수 Kim",
        "مريم",
    ],
)
def test_people_keep_their_names(name: str) -> None:
    """Every script is welcome."""
    assert tidy(name) == name


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a", "2 to 40"),
        ("a" * 41, "2 to 40"),
        ("   ", "2 to 40"),
        ("Ad\u200ba", "visible"),
        ("Ad\u202ea", "visible"),
        ("Ada\n", "visible"),
        ("Ada\u3164", "visible"),
        ("Ada  B", "visible"),
        ("Ada\x00", "visible"),
        ("\udcffAda", "visible"),
        ("A\u0301\u0302\u0303\u0304da", "accents"),
        ("Ada\ufe0f", "accents"),
        ("<b>", "letter or a digit"),
        ("\u0430da", "one alphabet"),  # a Cyrillic a
        ("Ad\u03b1", "one alphabet"),  # a Greek alpha
    ],
)
def test_what_deceives_or_disturbs_is_refused(name: str, why: str) -> None:
    """The message says which rule it breaks."""
    with pytest.raises(NotAllowed, match=why):
        tidy(name)


def test_names_that_look_alike_have_one_key() -> None:
    """Width, case, ligatures and composition make no difference."""
    assert {fold(name) for name in ("Straße", "STRASSE", "\uff33trasse", " strasse ")} == {"strasse"}
    assert fold("e\u0301") == fold("É")
