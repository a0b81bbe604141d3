"""Stand on the board under a name that reads as another's: other alphabets, small capitals, accents, an l for an I.

Expected: taken
Stopped by: names that may be read alike by Unicode's table are refused
"""

import pytest

from grader.errors import NotAllowed
from grader.service.names import fold

PAIRS = [
    ("Ilia Bloom", "llia Bloom"), ("Bob0", "Bobo"), ("Copa", "\u0421\u043e\u0440\u0430"), ("ANNA", "\u0391\u039d\u039d\u0391"),
    ("O'Neil", "O\u2019Neil"), ("Ann-Li", "Ann\u2013Li"), ("Arno Modem", "Amo Modem"), ("Willow", "VVillow"),
    ("x1", "x\u0661"), ("HELP", "\ua4e7\ua4f0\ua4e1\ua4d1"), ("alice", "ali\u0307ce"), ("Paula", "Pau\u01c0a"),
    ("Victor", "\u1d20\u026a\u1d04\u1d1b\u1d0f\u0280"), ("Zack", "Za\u0327ck"), ("Gina", "G\u0131na"), ("Tom", "\u0422\u041e\u041c"),
]  # fmt: skip


def control(world):
    assert all(fold(first) != fold(second) for first, second in PAIRS)  # as keys they differ


def attack(world):
    service = world.small("alike")
    for n, (first, second) in enumerate(PAIRS):
        service.register(first, "correct horse battery", "green-tree", f"192.0.2.{n}")
        with pytest.raises(NotAllowed, match="looks like one"):
            service.register(second, "correct horse battery", "green-tree", f"192.0.2.{n}")
    for name in ("Ida", "\u0410\u043d\u043d\u0430", "Li Lei", "Bobby", "M\u00fcller", "\u674e\u96f7", "Eva"):
        assert service.register(name, "correct horse battery", "green-tree").name == name
    service.stop()
