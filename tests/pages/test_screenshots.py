"""The pictures of the docs are taken from the running application by `python -m docs.screenshots`."""

from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

from docs.screenshots.__main__ import DESKTOP, FOLDER, PHONE, Site, take_instructor, take_student
from grader.store.records import Role
from tests.pages.conftest import CODE, PASSWORD
from tests.pages.conftest import Site as Served


def sizes(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the size of each picture in a folder, in pixels."""
    found = {}
    for path in folder.glob("*.png"):
        with Image.open(path) as picture:
            found[path.name] = picture.size
    return found


def test_the_command_still_takes_every_picture(
    site: Served, browser: Browser, person: Callable[..., object], tmp_path: Path
) -> None:
    """What it looks for is on the pages, and the docs hold the same pictures in the same sizes, and no others."""
    person("Instructor of the pictures", Role.INSTRUCTOR)
    shown = Site(site.url, CODE, "Instructor of the pictures", PASSWORD)

    take_student(browser, shown, tmp_path, work=())
    take_instructor(browser, shown, tmp_path)

    assert sizes(tmp_path) == sizes(FOLDER), "run `make screenshots`, and look at each picture"
    assert set(sizes(FOLDER).values()) == {DESKTOP, PHONE}
