"""The attacks on the pages: noticed where nothing stops them, going nowhere here, and leaving honest people served."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Error, Page

from tests.pages.arena import FOLDER, World, load
from tests.pages.conftest import Person, Site

ATTACKS = sorted(FOLDER.glob("*.py"))
IN_BROWSER = [path for path in ATTACKS if "Needs: a browser" in path.read_text(encoding="utf-8")]
CATALOGUE = 10  # attacks of the literature that are in the corpus, at least; those thought up here are marked
FORM = re.compile(r'""".+?\n\nExpected: .+?\nStopped by: .+?\n(Needs: a browser\n)?(Own: yes\n)?"""\n', re.DOTALL)


@pytest.fixture(scope="module")
def world(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Give the application with its three people."""
    found = World(site, tmp_path_factory.mktemp("arena"))
    found.ada, found.eve, found.prof  # noqa: B018 - they are there before anybody comes
    yield found
    found.close()


def strike(world: World, path) -> None:
    """Prove that the attack is noticed where nothing stops it, let it loose, and visit honestly."""
    attack = load(path)
    attack.control(world)
    attack.attack(world)
    world.close()
    world.honest()


@pytest.mark.parametrize("path", [path for path in ATTACKS if path not in IN_BROWSER], ids=lambda path: path.stem)
def test_an_attack_gets_nowhere(path, world: World) -> None:
    """What the file expects is what happens, and the next honest visitor is served right."""
    strike(world, path)


@pytest.mark.parametrize("path", IN_BROWSER, ids=lambda path: path.stem)
def test_an_attack_gets_nowhere_in_a_browser(path, world: World, browser: Browser, site: Site) -> None:
    """The same where it takes a browser to be hit; whatever a script of the attacker does would ring an alarm."""
    contexts: list[BrowserContext] = []
    world.alarms.clear()

    def visit(path: str | None, who: Person | None = None, **options: object) -> Page:
        context = browser.new_context(base_url=site.url, reduced_motion="reduce", **options)
        contexts.append(context)
        if who:
            context.add_cookies([{"name": "attention_gym", "value": who.token, "url": site.url}])
        page = context.new_page()
        page.on("dialog", lambda dialog: _dismiss(world, dialog))
        page.on("request", lambda request: _ring(world, site, request.url))
        if path is not None:
            page.goto(path)
        return page

    world.page = visit
    try:
        strike(world, path)
    finally:
        for context in contexts:
            context.close()


def _dismiss(world: World, dialog: Dialog) -> None:
    world.alarms.append(dialog.message)
    with suppress(Error):  # the script that opened it may have left the page by now
        dialog.dismiss()


def _ring(world: World, site: Site, url: str) -> None:
    if not url.startswith((site.url, "data:", "blob:", "about:")):
        world.alarms.append(url)


def test_every_attack_names_its_way_and_its_walls() -> None:
    """A file without a way, an expectation and walls is no documentation; and most of them are thought up here."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in ATTACKS}
    own = [name for name, text in texts.items() if "\nOwn: yes\n" in text]

    assert [name for name, text in texts.items() if not FORM.match(text)] == []
    assert len(own) >= 25
    assert len(texts) - len(own) >= CATALOGUE


def test_every_attack_is_in_the_table() -> None:
    """The table names each file, and nothing else."""
    named = re.findall(r"^\| `(\w+)` \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert named == [path.stem for path in ATTACKS]
