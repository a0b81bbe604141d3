"""The pages against axe-core, which finds missing labels, roles, contrast and places that no key reaches."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import shutil
import subprocess
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import expect

from grader.exercise.catalog import ROOT
from grader.pages import routes
from grader.pages.lists import pair_address
from grader.pages.routes import METRICS, OWN
from grader.store.records import Role
from tests.pages.conftest import PASSWORD, Person, Site, wait_for

PACKAGE = "axe-core@4.11.0"
SHA512 = "ilYanEU8vxxBexpJd8cWM4ElSQq4QctCLKih0TSfjIfCQTeyH/6zVrmIJfLPrKTKJRbiG+cfnZbQIjAlJmF1jQ=="
PAGES = {
    "front page": ("/", None),
    "exercise": ("/exercise?ex=gradient_descent", Role.STUDENT),
    **{page.title: (page.path, Role.STUDENT) for page in routes.PAGES},
    "assignments": (routes.ASSIGNMENTS.path, Role.STUDENT),
    "comparison": (routes.COMPARE, Role.STUDENT),
    "sign-in": ("/sign-in", None),
    "register": ("/register", None),
    "gradebook": ("/teach/", Role.INSTRUCTOR),
    "worth a look": ("/teach/?flag=any", Role.INSTRUCTOR),
    "submissions": ("/teach/?list=all&ex=softmax", Role.INSTRUCTOR),
    "class": ("/teach/class", Role.INSTRUCTOR),
    "account": ("/account", Role.STUDENT),
    "leaderboard of an exercise": ("/leaderboard?ex=softmax", Role.STUDENT),
    "join": ("/join", Role.LEARNER),
    "new password": ("/reset?token={link}", None),
    "link that works no more": ("/reset?token=x", None),
    "page that is not there": ("/nothing", None),
    "gradebook to a student": ("/teach/", Role.STUDENT),
}
ELSEWHERE = {
    "/teach/member",
    routes.RESULTS,
    *(path for path, route in routes.SCHOOL.items() if "GET" in route.methods),
}  # what other tests look at
NO_PAGES = {"/health", "/ready", METRICS, "/favicon.ico", "/robots.txt", "/teach", "/teach/export.csv"}
WIDTHS = (1280, 390)  # CSS pixels
# Whoever speaks to the browser says what stands on a control: its name holds that.
RUN = """async () => (await axe.run(document, {
    resultTypes: ["violations"], rules: {"label-content-name-mismatch": {enabled: true}}})).violations.flatMap(
    (one) => one.nodes.map((node) => `${one.id}: ${node.target} ${node.failureSummary}`))"""


@pytest.fixture(scope="session")
def axe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give the checker's script, fetched once and kept beside pytest's other notes."""
    folder: Path = request.config.cache.mkdir("axe")
    kept = folder / f"{PACKAGE}.tgz"
    if not kept.exists():
        shutil.move(fetch(tmp_path_factory.mktemp("axe")), kept)
    package = kept.read_bytes()
    assert base64.b64encode(hashlib.sha512(package).digest()).decode() == SHA512
    with tarfile.open(fileobj=io.BytesIO(package)) as archive:
        script = archive.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


def fetch(folder: Path) -> Path:
    """Return the package as the registry holds it."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("axe-core comes from npm, which is not here")
    done = subprocess.run([npm, "pack", PACKAGE], cwd=folder, capture_output=True, timeout=120, check=False)
    if done.returncode:
        pytest.skip("the registry of axe-core cannot be reached")
    return next(folder.glob("*.tgz"))


EXAMPLES = ROOT / "exercises" / "multi_head_attention" / "examples"
WRONG = ("wrong_added_mask.py", "wrong_inverted_mask.py")


@pytest.fixture(scope="module")
def reported(site: Site) -> Person:
    """Return somebody whose two wrong answers were graded."""
    user = site.service.add_user("Somebody with a report", PASSWORD, Role.STUDENT)
    for name in WRONG:
        id = site.service.submit(user, "multi_head_attention", (EXAMPLES / name).read_text(encoding="utf-8"))
        wait_for(lambda id=id: (seen := site.service.submission(user, id).report) is not None and seen.complete)
    return Person(user, site.service.sign_in(user.name, PASSWORD, "127.0.0.1"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_shuts_nobody_out(open_page, reported, site, axe, *, scheme):
    """No finding on a report with a diagnosis, properties, heads and gradients, and where two are compared."""
    page = open_page("/exercise?ex=multi_head_attention", reported, color_scheme=scheme)
    expect(page.locator("#editor")).to_have_attribute("data-ready", "yes")
    page.get_by_role("tab", name="My attempts").click()
    page.get_by_role("button", name="Attempt 1").click()
    page.get_by_role("button", name="Open this attempt").click()
    expect(page.get_by_role("heading", name="What your attention does in the cases")).to_be_visible()
    expect(page.get_by_role("group", name="Which head")).to_be_visible()
    expect(page.locator(".gym-stages").get_by_role("grid").first).to_be_visible()
    found_at_both_sizes(page, axe)
    later, earlier = site.service.attempts(reported.user)
    page.goto(pair_address(later.id, earlier.id))
    expect(page.get_by_role("heading", level=1)).to_have_text("Multi-head attention: attempt 1 and attempt 2")
    expect(page.get_by_role("heading", name="Pictures")).to_be_visible()
    found_at_both_sizes(page, axe)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_trying_shuts_nobody_out(open_page, axe, *, scheme):
    """No finding where numbers are shown, marked, typed and drawn."""
    page = open_page("/exercise?ex=scaled_dot_product_attention", color_scheme=scheme)
    expect(page.locator("#editor")).to_have_attribute("data-ready", "yes")
    page.evaluate("gym.write('def scaled_dot_product_attention(q, k, v, mask=None):\\n    print(q)\\n    return v, k')")
    page.get_by_role("button", name="Try", exact=True).click()
    card = page.get_by_role("region", name="Try", exact=True)
    card.get_by_role("button", name="type other values").first.click()
    card.get_by_role("button", name="draw values").first.click()
    card.get_by_role("gridcell").first.press("-")
    page.keyboard.press("2")
    page.evaluate(axe)

    assert page.evaluate(RUN) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_an_instructor_reads_shuts_nobody_out(open_page, person, reported, site, axe, *, scheme):
    """No finding on code beside its report, and on what can be changed about a member."""
    (attempt, *_) = site.service.attempts(reported.user)
    page = open_page("/teach/", person(role=Role.INSTRUCTOR), color_scheme=scheme)
    for path in (f"?submission={attempt.id}", f"member?person={reported.user.id}"):
        page.goto(f"/teach/{path}")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Somebody with a report")
        found_at_both_sizes(page, axe)


def test_every_page_is_looked_at():
    """Each address that gives a page is in the table above, or in a test of its own."""
    paths = {path.partition("?")[0] for path, _ in PAGES.values()}

    left = {path for path, route in OWN.items() if "GET" in route.methods} - paths
    assert left == ELSEWHERE | NO_PAGES, "a new page has a line in PAGES, any other answer to a GET one in NO_PAGES"


@pytest.mark.parametrize(("path", "role"), PAGES.values(), ids=PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_shuts_anybody_out(browser, site, person, axe, *, path, role, scheme):
    """No finding on any page, in both colours and at both sizes; none is wider than its window."""
    with closing(browser.new_context(base_url=site.url, reduced_motion="reduce", color_scheme=scheme)) as context:
        who = person(role=role) if role else None
        if who:
            context.add_cookies([{"name": "attention_gym", "value": who.token, "url": site.url}])
        page = context.new_page()
        page.goto(path.format(link=site.service.own_account.link_for((who or person()).user.name)))
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        if "exercise" in path:
            expect(page.locator("#editor")).to_have_attribute("data-ready", "yes")
        found_at_both_sizes(page, axe)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_a_form_answers_shuts_nobody_out(browser, site, person, axe, *, scheme):
    """No finding where something is refused, done, or asked once more."""
    who, teacher = person(), person(role=Role.INSTRUCTOR)
    with closing(browser.new_context(base_url=site.url, reduced_motion="reduce", color_scheme=scheme)) as context:
        page = context.new_page()
        for path, button in (("/sign-in", "Sign in"), ("/register", "Register")):
            page.goto(path)
            page.get_by_label("Name").fill(who.user.name)
            page.get_by_label("Password").fill("wrong password")
            page.get_by_role("button", name=button, exact=True).click()
            expect(page.get_by_role("alert")).to_be_visible()
            found_at_both_sizes(page, axe)
        context.add_cookies([{"name": "attention_gym", "value": teacher.token, "url": site.url}])
        page.goto(f"/teach/member?person={who.user.id}")
        page.get_by_role("button", name=re.compile("password")).click()
        expect(page.get_by_label("Link")).to_be_visible()
        found_at_both_sizes(page, axe)
        context.add_cookies([{"name": "attention_gym", "value": who.token, "url": site.url}])
        page.goto("/account")
        form = page.locator("form", has=page.get_by_role("button", name="Delete my account"))
        for password in ("wrong password", PASSWORD):
            form.get_by_label("Password").fill(password)
            form.get_by_role("button").click()
            found_at_both_sizes(page, axe)
        expect(page.get_by_role("heading", level=1)).to_have_text("Your account is deleted")


def found_at_both_sizes(page, axe):
    """Check that axe finds nothing on a page at either size, and that it fits."""
    page.evaluate(axe)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(RUN) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_microscope_shuts_nobody_out(open_page, axe, *, scheme):
    """No finding on a statement's example, with one query and with all, masked scores and weights."""
    page = open_page("/exercise?ex=multi_head_attention_causal", color_scheme=scheme)
    expect(page.locator("#editor")).to_have_attribute("data-ready", "yes")
    scope = page.locator("#statement .gym-scope")
    scope.scroll_into_view_if_needed()
    expect(scope.get_by_role("grid")).to_be_visible()
    found_at_both_sizes(page, axe)
    scope.get_by_role("button", name="weights").click()
    scope.get_by_role("button", name="all queries").click()
    found_at_both_sizes(page, axe)
