"""*Load a file*: code and notebooks get into the editor, and what is neither says what it is and what to do."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.pages.test_journeys import ready, source, write

KEPT = "def softmax(x, dim=-1):\n    return x  # mine\n"
BOOK = {
    "cells": [
        {"cell_type": "markdown", "source": "# Softmax"},
        {"cell_type": "code", "source": ["import torch\n", "%matplotlib inline\n"]},
        {"cell_type": "code", "source": "%%bash\nls"},
        {"cell_type": "code", "source": "def softmax(x, dim=-1):\n    return x"},
    ]
}
WRONG = {
    "model.py": (b"\x80\x04\x95\x00\x00", "model.py is binary data, not text. Choose the .py file with your code"),
    "weights.pt": (b"PK\x03\x04rest", "weights.pt is a ZIP archive or an office document, not code."),
    "paper.pdf": (b"%PDF-1.7", "paper.pdf is a PDF, not code."),
    "old.py": ("# Größe".encode("latin-1"), "old.py is not text in UTF-8. If it is code, save it as UTF-8"),
    "empty.py": (b" \n", "empty.py is empty."),
    "big.py": (b"#" * (300 << 10), "big.py has 307200 bytes; the limit is 262144."),
    "cut.ipynb": (
        json.dumps(BOOK).encode()[:-20],
        "cut.ipynb is a notebook that is cut off or damaged. Open it in Jup",
    ),
    "list.ipynb": (b"[1]", "list.ipynb has no list of cells"),
    "text.ipynb": (
        json.dumps({"cells": BOOK["cells"][:1]}).encode(),
        "text.ipynb is a notebook without code in Python.",
    ),
}


def load(page: Page, name: str, content: bytes) -> None:
    """Choose a file of that name and content."""
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Load a file").click()
    chooser.value.set_files({"name": name, "mimeType": "", "buffer": content})


def test_what_is_no_code_says_what_to_do_and_changes_nothing(open_page):
    """Each refusal names the file, what it is and the way on, where it can be seen; the editor keeps its code."""
    page = ready(open_page("/exercise?ex=softmax"))
    write(page, KEPT)
    note = page.locator("#editor").get_by_role("status")
    for name, (content, words) in WRONG.items():
        load(page, name, content)
        expect(note).to_contain_text(words)
        expect(note).to_contain_text("The code in the editor is as it was.")
        expect(note).to_be_in_viewport()

        assert source(page) == KEPT, name
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_notebook_becomes_the_code_of_its_cells(open_page):
    """In order and numbered; text and cells in other languages are left out, and Undo brings back what was there."""
    page = ready(open_page("/exercise?ex=softmax"))
    write(page, KEPT)
    page.keyboard.press("Control+Home")  # what was typed is a step of its own for Undo
    load(page, "cut.ipynb", b"{")
    load(page, "answer.ipynb", json.dumps(BOOK).encode())
    page.get_by_role("button", name="Load the file").click()
    expect(page.locator("#editor").get_by_role("status")).to_be_empty()

    assert source(page).split("\n") == [
        "# Cell 2", "import torch", "%matplotlib inline", "", "# Cell 4", *BOOK["cells"][3]["source"].split("\n"), "",
    ]  # fmt: skip
    page.locator("#editor .cm-content").press("Control+z")
    assert source(page) == KEPT


@pytest.mark.parametrize("coding", ["utf-8-sig", "utf-16"])
def test_files_of_windows_are_read(open_page, coding: str):
    """With a byte-order mark, in two bytes a character, with other line ends; the mark does not get into the code."""
    page = ready(open_page("/exercise?ex=softmax"))
    load(page, "answer.py", KEPT.replace("\n", "\r\n").encode(coding))
    page.wait_for_function("gym.source().includes('# mine')")

    assert source(page) == KEPT


def drop(page: Page, place: str, *files: tuple[str, str]) -> None:
    """Drop files on a part of the page, as a pointer does."""
    holder = page.evaluate_handle(
        """files => {
            const holder = new DataTransfer();
            for (const [name, text] of files) holder.items.add(new File([text], name));
            return holder;
        }""",
        [list(file) for file in files],
    )
    for kind in ("dragenter", "dragover", "drop"):
        page.locator(place).dispatch_event(kind, {"dataTransfer": holder})


@pytest.mark.parametrize("place", ["#editor .cm-content", "#statement"])
def test_a_file_that_is_dropped_is_loaded(open_page, place: str):
    """Wherever it falls, with the questions and refusals of *Load a file*; several at once are refused."""
    page = ready(open_page("/exercise?ex=softmax"))
    drop(page, place, ("answer.ipynb", json.dumps(BOOK)))
    page.wait_for_function("gym.source().startsWith('# Cell 2')")
    drop(page, place, ("one.py", KEPT), ("two.py", KEPT))
    expect(page.locator("#editor").get_by_role("status")).to_contain_text("Choose one file.")
    drop(page, place, ("one.py", KEPT))
    page.get_by_role("button", name="Load the file").click()
    page.wait_for_function("gym.source().includes('# mine')")

    assert source(page) == KEPT
