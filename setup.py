"""Builds a wheel that grades anywhere: the exercises and their references lie in it as `grader/content/`.

The examples stay in the repository: they prove the exercises, and nobody who grades needs them.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

CONTENT = ("exercises", "reference")
LEFT_OUT = shutil.ignore_patterns("examples", "__pycache__")


class BuildWithContent(build_py):
    """Copies the content beside the code, but where the package is installed in place and reads it from here."""

    def run(self) -> None:
        """Build the package, with nothing that an earlier build has left."""
        if self.editable_mode:
            super().run()
            return
        shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        for name in CONTENT:
            place = Path(self.build_lib) / "grader" / "content" / name
            shutil.copytree(Path(__file__).with_name(name), place, ignore=LEFT_OUT)


setup(cmdclass={"build_py": BuildWithContent})
