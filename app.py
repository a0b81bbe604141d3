"""Starts the pages; a hosting Space runs this file."""

from grader.pages.server import serve
from grader.settings import Settings

if __name__ == "__main__":
    serve(Settings.from_environment())
