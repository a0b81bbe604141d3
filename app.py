"""Starts the pages; a hosting Space runs this file."""

import sys

from grader import search_path

if __name__ == "__main__":
    search_path.leave_out_the_current_folder()
    from grader.cli.main import main  # here: after the line above

    sys.exit(main(["serve"]))
