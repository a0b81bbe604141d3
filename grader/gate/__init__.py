"""The gate: an author's proof that an exercise is right, told in plain sentences where it is not.

An exercise passes when its reference earns full marks and its starter none, trivial answers do not get through,
every known mistake costs points where it says and is diagnosed as itself, and every submission kept as an example
gets the verdict written at its top. `docs/authors.md` says what to do about each sentence.
"""

from grader.gate.prove import GateResult as GateResult
from grader.gate.prove import check_exercise as check_exercise
