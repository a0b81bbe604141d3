"""`python -m benchmarks latency`: run a benchmark and print its table."""

from __future__ import annotations

import sys

import typer

try:
    from benchmarks.calls import calls
    from benchmarks.click import click
    from benchmarks.cost import cost
    from benchmarks.crash import crash
    from benchmarks.crash_engine import crash_engine
    from benchmarks.explained import explained
    from benchmarks.fuzz import fuzz
    from benchmarks.gpu import gpu
    from benchmarks.grades import grades
    from benchmarks.hand_ins import hand_ins
    from benchmarks.house import house
    from benchmarks.jobs import jobs
    from benchmarks.latency import latency
    from benchmarks.located import located
    from benchmarks.memory import memory
    from benchmarks.pages import pages
    from benchmarks.quiet import quiet
    from benchmarks.scale import scale
    from benchmarks.scale_out import scale_out
    from benchmarks.sign_ins import sign_ins
    from benchmarks.similarity import similarity
    from benchmarks.storm import storm
    from benchmarks.suite import suite
    from benchmarks.throughput import throughput
    from benchmarks.verdicts import verdicts
    from benchmarks.walls import walls
except ModuleNotFoundError as missing:  # what `make run` does not install
    sys.exit(
        f"{missing.name} is missing; benchmarks need the packages of the tests: "
        ".venv/bin/python -m pip install -c constraints.txt -r requirements-dev.txt"
    )

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__)
app.command()(latency)
app.command()(throughput)
app.command()(scale)
app.command()(grades)
app.command()(cost)
app.command()(fuzz)
app.command()(gpu)
app.command()(walls)
app.command()(calls)
app.command()(storm)
app.command("tests")(suite)
app.command()(memory)
app.command()(crash)
app.command()(crash_engine)
app.command()(scale_out)
app.command()(quiet)
app.command()(jobs)
app.command()(pages)
app.command()(located)
app.command()(explained)
app.command("signins")(sign_ins)
app.command()(verdicts)
app.command()(house)
app.command()(click)
app.command()(hand_ins)
app.command()(similarity)


if __name__ == "__main__":
    app()
