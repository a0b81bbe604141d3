"""Grading on one's own machine: what the command line and the pytest plugin share.

It needs neither the service nor the store nor the pages, so it works wherever torch does. Nothing here brings torch
before it must: the box takes as long to import it as its user, and the two do so side by side.
"""

from __future__ import annotations

import difflib
import gc
import re
import secrets
import stat
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from grader.box.run import Box, Limits
from grader.errors import SubmissionFault
from grader.exercise.catalog import ROOT, Exercise, read_exercise
from grader.exercise.spec import Device
from grader.sandbox import choice

SEED = 0  # public: pytest has the same tensors on every machine
_SEED_BITS = 48  # JSON readers of every language hold such an integer exactly
FOLDER = "solutions"  # where students keep their files, `<exercise>.py` each

if TYPE_CHECKING:  # they bring torch
    from grader.judge.completion import DevicePlace


class WrongUse(SubmissionFault):
    """A local user asked for what cannot be done; the text says what can."""


def exercise_ids(root: Path = ROOT) -> tuple[str, ...]:
    """Return the id of every exercise, of those too that are not finished."""
    return tuple(sorted(path.parent.name for path in (root / "exercises").glob("*/exercise.toml")))


def find_exercise(name: str, root: Path = ROOT) -> Exercise:
    """Return the exercise called `name`; no other one is read, so another one's errors do not matter.

    Raises:
        WrongUse: there is none; the text names those that are written alike.
        AuthorError: it is written wrongly.
    """
    known = exercise_ids(root)
    if name in known:
        return read_exercise(root / "exercises" / name, root)
    raise WrongUse(f"there is no exercise {name!r}; {_suggest(name, known)}")


def read_file(path: Path) -> bytes:
    """Return what a file holds, of a huge one only the beginning, which is too long already.

    Raises:
        WrongUse: there is no such file, or it cannot be read.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise WrongUse(f"{str(path)!r} is a folder; name the .py file in it")
        if not stat.S_ISREG(mode):  # a pipe, which nobody may ever fill, or a device
            raise WrongUse(f"{str(path)!r} is no ordinary file; name a .py file")
        with path.open("rb") as file:
            return file.read(Limits().source_bytes + 1)
    except FileNotFoundError as error:
        dangling = ": it is a link to one that is not there" if path.is_symlink() else ""
        raise WrongUse(f"there is no file {str(path)!r}{dangling}") from error
    except (OSError, ValueError) as error:  # ValueError: a name with a zero in it
        raise WrongUse(f"{str(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def some_seed(seed: int | None) -> int:
    """Return `seed`, or one that nobody can know before if there is none.

    Numbers that are known before, such as a pack's, can be replayed in place of an answer.
    """
    return secrets.randbits(_SEED_BITS) if seed is None else check_seed(seed)


def check_seed(seed: int) -> int:
    """Return `seed` if tensors can be drawn from it.

    Raises:
        WrongUse: it is negative.
    """
    if seed < 0:
        raise WrongUse(f"the seed is {seed}; it must be 0 or more")
    return seed


def check_device(device: Device, exercise: Exercise) -> Device:
    """Return `device` if this machine has it, and the exercise is meant for it.

    Raises:
        WrongUse: torch finds no GPU, or the exercise is for the CPU alone.
    """
    if device not in exercise.spec.devices:
        meant = ", ".join(exercise.spec.devices)
        raise WrongUse(f"`{exercise.id}` runs on {meant} only, so there is nothing to compare; leave out --device")
    if device == "cuda":
        import torch  # here: the processor is there without asking

        if not torch.cuda.is_available():
            raise WrongUse("there is no GPU that torch can use here; leave out --device to grade on the CPU")
    return device


class LocalGrader:
    """Grades local files in a box that warms up from now on; `box` waits for it, and the end of the block closes it."""

    def __init__(self, device: Device = "cpu") -> None:
        gc.disable()  # until there is a box: nothing that is imported meanwhile is garbage, and looking takes a third
        self._device = device
        self._coming = choice.take()

    @cached_property
    def places(self) -> tuple[DevicePlace, ...]:
        """Where a file is run beside the verdict: nowhere, or on the CPU and the GPU with the same precision.

        One's own file needs no walls, so the GPU's box is a plain subprocess.
        """
        if self._device == "cpu":
            return ()
        from grader.judge.completion import PANEL_DTYPE, DevicePlace
        from grader.sandbox.plain import PlainBox

        return DevicePlace("cpu", PANEL_DTYPE, self.box), DevicePlace(self._device, PANEL_DTYPE, PlainBox(), apart=True)

    @cached_property
    def box(self) -> Box:
        """The sandbox, or a plain subprocess where this machine has none.

        Raises:
            GraderFault: the sandbox did not start.
        """
        use_one_thread()
        try:
            return self._coming.wait(allow_plain=True)
        finally:
            gc.freeze()  # else the first look goes through all of torch, a tenth of a second
            gc.enable()

    def close(self) -> None:
        """Close the box, or end what is on its way."""
        gc.enable()
        self._coming.close()
        close = getattr(self.__dict__.get("box"), "close", None)  # a plain subprocess has nothing to close
        if close is not None:
            close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def use_one_thread() -> None:
    """Have torch use one thread: the tensors are small, and more threads only get into each other's way."""
    import torch  # here: it takes as long as the box, beside which it is imported

    torch.set_num_threads(1)


def has_walls(box: Box) -> bool:
    """Return whether `box` keeps a program from doing what its owner can do."""
    from grader.sandbox.plain import PlainBox  # here: it brings torch, as every box does

    return not isinstance(box, PlainBox)


def _suggest(name: str, known: tuple[str, ...]) -> str:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", Path(name).stem).lower()
    near = difflib.get_close_matches(re.sub(r"[\s-]+", "_", snake), known, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return "`attention-gym exercise list` shows them all"
