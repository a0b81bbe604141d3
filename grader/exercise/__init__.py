"""What an exercise is: its specification, its inputs, its mistakes, and where all of them lie."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_INSTALLED = _PACKAGE / "content"  # in a wheel; a checkout has both folders beside the package
ROOT = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent
