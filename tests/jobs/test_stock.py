"""The stock: each entry serves one grading, and whatever happens to it costs time only."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from grader.box.inline import InlineBox
from grader.exercise.catalog import ROOT, Catalog, Exercise, read_exercise
from grader.jobs import stock as stocking
from grader.jobs.single_use import clean
from grader.jobs.stock import Stock
from grader.judge import grade as judging
from grader.judge.grade import grade
from grader.judge.prepared import Prepared
from grader.judge.report import Report

ROOM = 4 << 20  # bytes, enough for all that a test keeps
FILL_FOREVER = """
import sys
from pathlib import Path
from grader.exercise.catalog import Catalog
from grader.jobs.stock import Stock
all_of_them = Catalog.load()
stock = Stock(Path(sys.argv[1]), Catalog([all_of_them["causal_mask"]]), 1 << 30)
print("ready", flush=True)
while stock.fill(lambda: False):
    pass
"""


@pytest.fixture
def few(catalog: Catalog) -> Catalog:
    """Give two exercises that are prepared in no time."""
    return Catalog([catalog["causal_mask"], catalog["padding_mask"]])


@pytest.fixture
def full(tmp_path: Path, few: Catalog) -> Stock:
    """Give a stock with all that it wants."""
    return filled(Stock(tmp_path / "stock", few, ROOM))


def test_nothing_is_ready_at_first(tmp_path: Path, few: Catalog) -> None:
    """A process that has prepared nothing yet gives nothing, and leaves what others have prepared alone."""
    filled(Stock(tmp_path, few, ROOM))
    late = Stock(tmp_path, few, ROOM)

    assert late.take(few["causal_mask"]) is None
    late.fill(lambda: True)
    assert late.take(few["causal_mask"]) is not None


def test_every_exercise_has_its_share(full: Stock, few: Catalog) -> None:
    """As many of each as nobody asked for; then there is nothing left to do."""
    assert not full.fill(lambda: True)
    assert [len(drained(full, few, name)) for name in few] == [stocking.LEAST] * 2


def test_what_is_asked_for_most_is_kept_fullest(full: Stock, few: Catalog) -> None:
    """Each asking of late raises what an exercise should have."""
    for _ in range(20):
        full.take(few["padding_mask"])
    filled(full)

    assert len(drained(full, few, "padding_mask")) == stocking.LEAST + 20
    assert len(drained(full, few, "causal_mask")) == stocking.LEAST


def test_each_entry_is_given_once(tmp_path: Path, few: Catalog) -> None:
    """Of three processes' stocks on one folder, asked by six threads at once, no two get the same numbers."""
    stocks = [filled(Stock(tmp_path, few, ROOM)) for _ in range(3)]
    count = len(list(tmp_path.glob("causal_mask-*/*")))
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda number: stocks[number % 3].take(few["causal_mask"]), range(2 * count)))

    seeds = [prepared.seed for prepared in found if prepared is not None]
    assert len(seeds) == len(set(seeds)) == count == stocking.LEAST


def test_a_result_is_found_again_from_its_seed(full: Stock, few: Catalog) -> None:
    """The report names the seed of the entry, and without any stock that seed gives every digit again."""
    for exercise in few.values():
        source = next((exercise.folder / "examples").glob("wrong_*.py")).read_text(encoding="utf-8")
        first = grade(exercise, source, seed=0, box=InlineBox(), take=partial(full.take, exercise))
        again = grade(exercise, source, seed=first.seed, box=InlineBox())

        assert first.seed
        assert digits(again) == digits(first)


@pytest.mark.parametrize("cut", [0, 3, 11, 2000], ids="{} bytes".format)
def test_a_damaged_entry_is_no_truth(tmp_path: Path, few: Catalog, cut: int) -> None:
    """Cut or changed files are taken away unused; whole ones are still found behind them."""
    stock = filled(Stock(tmp_path, few, ROOM))
    files = sorted(tmp_path.glob("causal_mask-*/*"))
    for path in files[:-1]:
        data = bytearray(path.read_bytes())
        data[cut % len(data)] ^= 1
        path.write_bytes(data if path != files[0] else data[:cut])

    assert len(drained(stock, few, "causal_mask")) == 1
    assert not list(tmp_path.glob("causal_mask-*/*"))


def test_the_loss_of_it_all_costs_nothing_but_time(tmp_path: Path, full: Stock, few: Catalog) -> None:
    """Without its folder it gives nothing, and then it is filled again."""
    shutil.rmtree(tmp_path / "stock")

    assert full.take(few["causal_mask"]) is None
    filled(full)
    assert full.take(few["causal_mask"]) is not None


def test_something_else_in_the_place_of_its_folder_fails_no_grading(tmp_path: Path, full: Stock, few: Catalog) -> None:
    """Asking gives nothing, and filling says why."""
    (folder,) = (tmp_path / "stock").glob("causal_mask-*")
    shutil.rmtree(folder)
    folder.write_text("no folder", encoding="utf-8")

    assert full.take(few["causal_mask"]) is None
    with pytest.raises(FileExistsError):
        full.fill(lambda: True)


@pytest.mark.parametrize("before", [0, 3])
def test_an_exercise_that_cannot_be_prepared_holds_up_no_other(
    tmp_path: Path, few: Catalog, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    """Whatever an author's code raises, for its first seed or a later one."""
    drawn: list[int] = []

    def prepare(exercise: Exercise, seed: int, go_on: Callable[[], bool] = lambda: False) -> Prepared:
        drawn.extend([seed] * (exercise.id == "causal_mask"))
        if exercise.id == "causal_mask" and len(drawn) > before:
            raise ZeroDivisionError("for this seed")
        return judging.prepare(exercise, seed, go_on)

    monkeypatch.setattr(stocking, "prepare", prepare)
    stock = filled(Stock(tmp_path, few, ROOM))

    assert len(drained(stock, few, "padding_mask")) == stocking.LEAST
    assert len(drawn) == before + 1


def test_many_slots_may_ask_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted of their askings is halved now and then, while others count on."""
    monkeypatch.setattr(stocking, "_REMEMBERED", 20)
    stock, often = Stock(tmp_path, Catalog([]), 0), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as slots:
            list(slots.map(stock._note, (str(count) for count in range(15_000))))
    finally:
        sys.setswitchinterval(often)


def test_a_changed_exercise_has_an_empty_stock(tmp_path: Path, full: Stock, few: Catalog) -> None:
    """What was prepared with other files is never used, and is removed; other exercises keep theirs."""
    for part in ("exercises", "reference"):
        (tmp_path / part).mkdir()
    for name in few:
        shutil.copytree(few[name].folder, tmp_path / "exercises" / name)
        shutil.copy(few[name].reference_path, tmp_path / "reference" / f"{name}.py")
    text = (tmp_path / "reference" / "causal_mask.py").read_text(encoding="utf-8")
    (tmp_path / "reference" / "causal_mask.py").write_text(text + "\nCHANGED = True\n", encoding="utf-8")
    changed = Catalog([read_exercise(tmp_path / "exercises" / name, tmp_path) for name in few])
    old = sorted(path.name for path in (tmp_path / "stock").glob("causal_mask-*"))
    stock = Stock(tmp_path / "stock", changed, ROOM)
    stock.fill(lambda: True)
    stock.fill(lambda: True)

    assert stock.take(changed["causal_mask"]) is None
    assert stock.take(changed["padding_mask"]) is not None
    assert sorted(path.name for path in (tmp_path / "stock").glob("causal_mask-*")) != old


def test_it_never_takes_more_than_its_budget(tmp_path: Path, few: Catalog) -> None:
    """The bytes of all entries stay below what the settings give."""
    stock = Stock(tmp_path, few, 1_000_000)
    filled(stock)
    sizes = [path.stat().st_size for path in tmp_path.glob("*/*")]

    assert 500_000 < sum(sizes) < 1_001_000
    assert not Stock(tmp_path, few, 0).fill(lambda: True)


def test_a_disk_that_is_nearly_full_is_left_to_others(
    tmp_path: Path, few: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database needs the room more."""
    monkeypatch.setattr(stocking, "FREE_BYTES", shutil.disk_usage(tmp_path).free + (1 << 40))
    filled(Stock(tmp_path, few, ROOM))

    assert not list(tmp_path.glob("*/*"))


def test_a_killed_process_leaves_whole_entries_only(tmp_path: Path, few: Catalog) -> None:
    """Whenever it is killed while it fills, what can be taken is whole, and its remains are swept up."""
    with subprocess.Popen([sys.executable, "-c", FILL_FOREVER, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE) as one:
        assert one.stdout is not None
        one.stdout.readline()
        wait_for_entries(tmp_path)
        one.send_signal(signal.SIGKILL)
    (folder,) = tmp_path.iterdir()
    (folder / "0123456789abcdef.part").write_bytes(b"half of it")
    found = drained(filled(Stock(tmp_path, few, ROOM)), few, "causal_mask")

    assert len(found) == stocking.LEAST
    assert (folder / "0123456789abcdef.part").exists(), "somebody may be writing it"
    ago = time.time() - 3600
    os.utime(folder / "0123456789abcdef.part", (ago, ago))
    clean(tmp_path, frozenset({folder.name}))
    assert not (folder / "0123456789abcdef.part").exists()


def test_nobody_else_on_the_machine_can_read_it(tmp_path: Path, full: Stock) -> None:
    """It holds expected outputs of submissions to come."""
    full.fill(lambda: True)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "stock").rglob("*")}

    assert modes == {0o700, 0o600}


def filled(stock: Stock) -> Stock:
    """Fill it up."""
    while stock.fill(lambda: False):
        pass
    return stock


def drained(stock: Stock, few: Catalog, name: str) -> list[int]:
    """Take all that there is of one exercise; return the seeds."""
    return [prepared.seed for prepared in taken(stock, few, name)]


def taken(stock: Stock, few: Catalog, name: str) -> Iterator[object]:
    """Take until nothing is left."""
    while (prepared := stock.take(few[name])) is not None:
        yield prepared


def wait_for_entries(folder: Path) -> None:
    """Wait until somebody has put something there."""
    until = time.monotonic() + 120
    while len(list(folder.glob("*/*.entry"))) < 2:
        assert time.monotonic() < until
        time.sleep(0.002)


def digits(report: Report) -> tuple[object, ...]:
    """Return all that decides something."""
    return report.status, report.score, report.checks, report.diagnosis
