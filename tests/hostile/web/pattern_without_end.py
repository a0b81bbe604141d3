"""Keep a processor busy with one line: text on which a pattern of ours tries every way to match.

Expected: no pattern that a stranger's text meets repeats what repeats
Stopped by: patterns without nested repetition
Own: yes
"""

import ast
import re
from re import _constants as op
from re import _parser as parser

from grader.exercise.catalog import ROOT

PARTS = ("pages", "service", "store", "jobs", "judge", "box", "sandbox", "exercise", "cli")


def nested(items, inside=False):
    """Whether something that repeats without a bound stands in something that does."""
    for code, value in items:
        if code in (op.MAX_REPEAT, op.MIN_REPEAT):
            endless = value[1] is op.MAXREPEAT
            if endless and inside:
                return True
            if nested(value[2], inside or endless):
                return True
        elif code is op.SUBPATTERN:
            if nested(value[3], inside):
                return True
        elif code is op.BRANCH:
            if any(nested(branch, inside) for branch in value[1]):
                return True
    return False


def patterns():
    for part in PARTS:
        for path in (ROOT / "grader" / part).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                named = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args
                if named and ast.unparse(node.func).startswith("re.") and isinstance(node.args[0], ast.Constant):
                    yield path.name, node.args[0].value


def control(world):
    assert nested(parser.parse(r"(a+)+$"))
    assert nested(parser.parse(r"(\s*,?\s*)*;"))
    assert not nested(parser.parse(r"[a-z]+\.[a-z]+"))


def attack(world):
    found = list(patterns())
    assert len(found) > 5
    assert [one for one in found if nested(parser.parse(one[1]))] == []
    assert re.compile("x")
