"""`python -m grader`: the command line."""

from __future__ import annotations

import gc
import sys

from grader.cli.main import main

if __name__ == "__main__":
    code = main()
    gc.freeze()  # Python's last search for garbage would walk through all of torch, for a third of a second
    sys.exit(code)
