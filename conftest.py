"""Makes `pytest solutions/<exercise>.py` grade that file."""

pytest_plugins = ["grader.pytest_plugin"]
