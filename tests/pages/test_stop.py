"""What people and monitors see of a service that stops."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import torch

from grader.box.inline import InlineBox
from grader.exercise.catalog import ROOT, Catalog, read_exercise
from grader.grading_process import assemble
from grader.settings import Settings
from grader.store.records import Role
from tests.pages.conftest import CODE, Site, serving, wait_for

RIGHT = (ROOT / "reference" / "softmax.py").read_text(encoding="utf-8")
WAITS = f"""{RIGHT}
import time, pathlib
pathlib.Path({{mark!r}}).touch()
while pathlib.Path({{mark!r}}).exists():
    time.sleep(0.01)
"""


@pytest.fixture(params=[60.0, 0.2], ids=["a patient stop", "an impatient stop"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    """Serve one exercise; its answers run in this process, until a file is removed."""
    settings = Settings(
        data=tmp_path / "data", class_code=CODE, secret=secrets.token_hex(32), drain_seconds=request.param
    )
    service = assemble(settings, Catalog([read_exercise(ROOT / "exercises" / "softmax")]), InlineBox())
    with serving(service, settings) as site:
        yield site
    wait_for(lambda: torch.get_default_dtype() == torch.float32)  # an answer may still run, as it is told nothing


def test_a_stop_ends_no_stream_early_and_logs_no_trace(
    site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    """Who waits gets the verdict if it comes in time, else asks again at the next start; monitors read of the stop."""
    patient = "a patient stop" in request.node.name
    mark, said = tmp_path / "mark", list[str]()
    user = site.service.add_user("Ada", "a quiet password", Role.STUDENT)
    token = site.service.sign_in("Ada", "a quiet password", "127.0.0.1")
    client = httpx.Client(base_url=site.url, cookies={"attention_gym": token}, timeout=60)

    def follow(id: str) -> None:
        with client.stream("GET", f"/runs/{id}") as answer:
            try:
                for piece in answer.iter_text():
                    said.append(piece)
            except httpx.RemoteProtocolError:
                said.append("broken off")

    id = site.service.submit(user, "softmax", WAITS.format(mark=str(mark)))
    following = threading.Thread(target=follow, args=(id,))
    following.start()
    wait_for(lambda: mark.exists() and bool(said))
    with httpx.Client(base_url=site.url, timeout=60) as monitor:
        site.server.should_exit = True
        if patient:
            wait_for(lambda: monitor.get("/ready").status_code == 503)
            answer = monitor.get("/ready")
            mark.unlink()
    following.join()
    mark.unlink(missing_ok=True)
    client.close()

    if patient:
        assert answer.json() == {"ready": False, "missing": ["grading"]}
        assert "event: report" in "".join(said)
        assert "".join(said).endswith("event: end\ndata: \n\n")
    else:
        assert said[-1] == "broken off"
    wait_for(lambda: not site.server.server_state.connections)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
