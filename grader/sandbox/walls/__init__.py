"""The walls around one submission, one mechanism a file, and what they are worth together: the tier, one letter.

`grader.sandbox.walls` puts them up in order.
"""

from __future__ import annotations

TIERS = {
    "A": "every wall that we know",
    "B": "good for strangers' code: behind the system call filter stands a second wall of another kind",
    "C": "one wall, the system call filter; not enough for strangers' code",
    "none": "no sandbox here",
}


def tier(*, landlocked: bool, apart: bool) -> str:
    """Return the tier of a sandbox whose floor stands: the system call filter, the limits, a user that is not root.

    One wall is never enough, since each has been climbed somewhere; two of different kinds are.

    Args:
        landlocked: Landlock stands.
        apart: the network, the files, the processes, shared memory and the host name are namespaces of their own.
    """
    return ("C", "B", "A")[landlocked + apart]
