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

# Has its grading process killed at a time when no other one can be started, for want of descriptors; prints the end.
BEREFT = """
import logging, os, resource, signal, sys, time
from pathlib import Path
from grader import bootstrap
from grader.settings import Settings
from grader.store.records import Role, State

class Log(logging.Handler):
    text = ""
    def emit(self, record):
        Log.text += record.getMessage()

logging.getLogger().addHandler(Log())
service = bootstrap.build(Settings(data=Path(sys.argv[1]), slots=1, class_code="green-tree"))
ada = service.add_user("Ada", "correct horse battery", Role.STUDENT)
source = service.catalog["softmax"].reference_path.read_text()
id = service.submit(ada, "softmax", source + "\\nimport time\\ntime.sleep(0.5)\\n")
service.start()
while service.submission(ada, id).state is not State.RUNNING:
    time.sleep(0.01)
(grading,) = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
free = os.dup(0)
os.close(free)
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
os.kill(int(grading), signal.SIGKILL)
while "a grading process did not start" not in Log.text:
    time.sleep(0.01)
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
while not service.submission(ada, id).state.final:
    time.sleep(0.05)
found = service.submission(ada, id)
used = [line.attempts for line in service.leaderboard()]
print(found.state.value, found.report.score, repr(found.report.incident), used)
service.stop()
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


def test_a_grading_process_that_is_killed_is_replaced_even_if_that_fails_at_first(tmp_path: Path) -> None:
    """What it held is graded by its successor, once, and by nobody's fault."""
    done = subprocess.run(
        [sys.executable, "-c", BEREFT, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=300
    )

    assert done.stdout.strip() == "done 100.0 '' [1]", done.stderr


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
    async def end(id: SubmissionId) -> Watch:
        return [watch async for watch in service.watch(user, id)][-1]

    return list(await asyncio.gather(*(end(id) for id in ids)))
