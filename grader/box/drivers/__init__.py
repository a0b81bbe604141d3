"""How an entry point is driven: one driver a kind, one file a driver, and never an exercise's name.

A driver turns what a submission defines into something that can be called (`construct`), and calls it (`run`). What
`run` returns is taken for the outputs of the contract, in their order; gradients flow back through it.
"""

from __future__ import annotations

from collections.abc import Mapping

from grader.box.drivers.decode import Decode
from grader.box.drivers.driver import Driver
from grader.box.drivers.hooks import Hooks
from grader.box.drivers.names import Names
from grader.box.drivers.plain import PlainFunction, PlainModule
from grader.box.drivers.train import Train
from grader.box.drivers.transfer import Transfer
from grader.box.kinds import Kind

DRIVERS: Mapping[Kind, Driver] = {
    Kind.FUNCTION: PlainFunction(),
    Kind.MODULE: PlainModule(),
    Kind.DECODE: Decode(),
    Kind.TRAIN: Train(),
    Kind.HOOKS: Hooks(),
    Kind.NAMES: Names(),
    Kind.TRANSFER: Transfer(),
}
