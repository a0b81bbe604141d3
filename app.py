"""Starts the pages; a hosting Space runs this file."""

import sys

from grader.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["serve"]))
