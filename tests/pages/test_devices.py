"""The choice of a device on the page: there is one only where the installation has two and the exercise wants it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from grader.box.inline import InlineBox
from grader.errors import NotAllowed
from grader.exercise.catalog import ROOT, Catalog, read_exercise
from grader.grading_process import assemble
from grader.settings import Settings
from tests.pages.conftest import CODE, Person, Site, serving
from tests.pages.test_journeys import ready, status, write

SOLUTION = (ROOT / "reference" / "causal_attention.py").read_text(encoding="utf-8")


class _Gpu(InlineBox):
    """What the service takes for the GPU's box; the CPU computes in its place."""

    name = "GPU worker (weaker walls)"
    device = "cpu"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Serve two exercises, one of which wants a GPU, where there seems to be one."""
    settings = Settings(
        data=tmp_path_factory.mktemp("data"), class_code=CODE, secret=secrets.token_hex(32), drain_seconds=1.0
    )
    catalog = Catalog([read_exercise(ROOT / "exercises" / name) for name in ("softmax", "causal_attention")])
    service = assemble(settings, catalog, InlineBox(), gpu=_Gpu())  # type: ignore[arg-type]
    with serving(service, settings) as site:
        yield site


def test_whoever_chooses_the_gpu_sees_both_panels(
    open_page: Callable[..., Page], person: Callable[..., Person], site: Site
) -> None:
    """The choice names its weaker walls; the report has a panel for each place, and the points are the CPU's."""
    who = person()
    page = ready(open_page("/exercise?ex=causal_attention", who))
    write(page, SOLUTION)
    expect(page.locator("#device")).to_contain_text("weaker walls")
    page.get_by_role("radio", name=re.compile("GPU worker")).check()
    page.get_by_role("button", name="Run checks").click()

    expect(status(page)).to_contain_text(re.compile(r"Done: all \d+ checks passed"))
    places = page.locator(".gym-device")
    expect(places).to_have_count(3)
    expect(places.nth(2)).to_contain_text("GPU worker (weaker walls)")
    expect(places.nth(2).get_by_role("img", name="within bounds")).to_be_visible()
    expect(places.nth(2)).to_contain_text("gradient of W_query")
    (attempt,) = site.service.attempts(who.user)
    assert site.service.submission(who.user, attempt.id).device == "cuda"


def test_an_exercise_for_the_cpu_alone_refuses_the_gpu(person: Callable[..., Person], site: Site) -> None:
    """Whoever asks for it all the same is told why not, and nothing is stored."""
    who = person()

    with pytest.raises(NotAllowed, match="not meant for 'cuda'"):
        site.service.submit(who.user, "softmax", "x", "cuda")
    assert site.service.attempts(who.user) == []


def test_the_foot_of_the_page_names_both_classes_of_promise(site: Site) -> None:
    """Nobody takes the one for the other."""
    assert "on request beside it a GPU worker (weaker walls)" in site.service.box_name


def test_the_gpu_has_a_queue_of_its_own(site: Site) -> None:
    """With slots of its own; a service without a GPU has none of that."""
    assert site.service.devices == ("cpu", "cuda")
    assert site.service.devices_for("causal_attention") == ("cpu", "cuda")
    assert site.service.devices_for("softmax") == ("cpu",)
