"""What a box of workers is called, in reports and on the page, so that nobody takes it for more than it promises."""

from __future__ import annotations

from collections.abc import Mapping

NAMES: Mapping[str, str] = {"cuda": "GPU worker (weaker walls)", "cpu": "CPU worker (weaker walls)"}
