"""The real service, killed with SIGKILL while the real sandbox is grading: nothing that was handed in is lost."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from grader import bootstrap
from grader.exercise.catalog import ROOT
from grader.judge.report import Status
from grader.service import Service
from grader.settings import Settings
from grader.store.records import State, SubmissionId, User, Watch

HANGS = """
def softmax(x, dim=-1):
    while True:
        pass
"""
# Hands in three answers, one of which hangs, says so once that one is running, and goes on until it is killed.
VICTIM = """
import sys, time
from pathlib import Path
from grader import bootstrap
from grader.settings import Settings
from grader.store.records import Role, State

data, hanging = Path(sys.argv[1]), sys.argv[2]
service = bootstrap.build(Settings(data=data, slots=1, class_code="green-tree"))
ada = service.add_user("Ada", "correct horse battery", Role.STUDENT)
ids = [service.submit(ada, "softmax", hanging)]
for exercise in ("causal_attention", "cross_attention"):
    ids.append(service.submit(ada, exercise, service.catalog[exercise].reference_path.read_bytes()))
service.start()
while service.submission(ada, ids[0]).state is not State.RUNNING:
    time.sleep(0.01)
print(*ids, flush=True)
time.sleep(600)
"""


def test_sigkill_while_grading_loses_nothing(tmp_path: Path) -> None:
    """After the next start every submission gets its verdict, once: the one that was running and those that waited."""
    ids = _killed_while_grading(tmp_path)
    service = bootstrap.build(Settings(data=tmp_path, slots=2, class_code="green-tree"))
    token = service.sign_in("Ada", "correct horse battery", "127.0.0.1")
    ada = service.user_of(token)
    assert ada is not None
    left = [service.submission(ada, id).state for id in ids]
    service.start()
    try:
        ends = asyncio.run(_ends(service, ada, ids))
    finally:
        service.stop()

    assert left == [State.RUNNING, State.QUEUED, State.QUEUED]
    assert [end.report.status for end in ends if end.report] == [Status.TIMEOUT, Status.GRADED, Status.GRADED]
    assert [end.report.score for end in ends[1:] if end.report] == [100, 100]
    assert [end.state for end in ends] == [State.DONE] * 3


def _killed_while_grading(data: Path) -> list[SubmissionId]:
    victim = subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(data), HANGS], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with victim:
        assert victim.stdout is not None
        ids = victim.stdout.readline().split()
        victim.kill()
    return [SubmissionId(id) for id in ids]


async def _ends(service: Service, user: User, ids: list[SubmissionId]) -> list[Watch]:
    """Return the last that a watcher is told of each."""

    async def end(id: SubmissionId) -> Watch:
        return [watch async for watch in service.watch(user, id)][-1]

    return list(await asyncio.gather(*(end(id) for id in ids)))
