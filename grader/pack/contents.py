"""What a pack keeps of an exercise, in the forms in which it travels anyway: cases as a plan, observations as frames.

The plan of the checks is not kept: the same cases give the same plan again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from torch import Tensor

from grader.box.observations import Event, Observations
from grader.box.plan import Argument, Build, Call, Plan
from grader.box.wire.answer import END, FrameReader, pack
from grader.box.wire.job import decode_job, encode_job
from grader.checks.evidence import base_call, calling
from grader.exercise.inputs import Case, make_case
from grader.exercise.spec import Spec

_DECODE = "(decode)"  # kept among the arguments, of which none can be called so


def write_cases(cases: Mapping[str, Case], plan: Plan) -> bytes:
    """Return the tensors of `cases`, as the job that calls each of them once; `plan` is their sheet's."""
    return encode_job(calling(plan, cases.values(), _call_out), source="")


def read_cases(spec: Spec, blob: bytes, seed: int) -> dict[str, Case]:
    """Return what `write_cases` was given; `seed` is what the cases were drawn from."""
    plan, _ = decode_job(blob)
    cases: dict[str, Case] = {}
    for case, call in zip(spec.cases, plan.calls, strict=True):
        drawn = make_case(spec, case, seed=seed)  # for its names and sizes; every tensor of it is replaced
        cases[case.name] = _case_in(replace(drawn, made=case.make is not None), call, plan.build_of(call))
    return cases


def _call_out(case: Case) -> Call:
    call = base_call(case, backward=True)
    return replace(call, arguments={**call.arguments, _DECODE: case.decode})


def _case_in(case: Case, call: Call, build: Build | None) -> Case:
    """Return `case`, of which names and sizes are kept, with the tensors of its call."""
    arguments: dict[str, Argument] = dict(call.arguments)
    decode = arguments.pop(_DECODE)
    assert decode is None or isinstance(decode, Tensor)
    return replace(
        case,
        construct=build.arguments if build is not None else {},
        weights=build.weights if build is not None else (),
        arguments=arguments,
        outputs=call.outputs,
        grad_outputs=call.grad_outputs,
        wants=call.wants,
        dtype=call.dtype,
        decode=decode,
    )


def write_observations(observations: Observations, plan: Plan) -> bytes:
    """Return the frames of what was seen when `plan` ran, or a part of it."""
    events: list[Event] = [*observations.builds.values(), *observations.calls.values()]
    return b"".join(pack(event, plan) for event in events) + END


def read_observations(plan: Plan, blob: bytes) -> Observations:
    """Return what `write_observations` was given.

    Raises:
        BadAnswer: the bytes break the format.
    """
    return Observations.of(FrameReader(plan).feed(blob))
