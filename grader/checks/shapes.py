"""Shapes: the right tensors come back, and impossible configurations are refused."""

from __future__ import annotations

from dataclasses import replace

from grader.box.keys import call_name
from grader.box.plan import Build, Call, TensorSpec
from grader.checks.evidence import Evidence, Item, Options, Trait, Work, base_call, variant_call, wanted_dtype
from grader.checks.explain import explain
from grader.checks.finding import PASSED, Finding, Verdict, failed, skipped
from grader.checks.registry import check
from grader.exercise.spec import Dimension

_CREATED, _USUAL = "created", "float32"
_OF_DTYPES = ("dtype", "Float", "Double", _USUAL, "float64")  # in what torch says of two that do not fit


def _shape_work(item: Item) -> Work:
    created = replace(variant_call(item.case, _CREATED), default_dtype=_USUAL)
    return Work((base_call(item.case), created) if _follows_an_input(item) else (base_call(item.case),))


@check("shape", "shape and dtype", Dimension.SHAPES, work=_shape_work, needs=())
def judge_shape(item: Item, evidence: Evidence) -> Finding:
    """Every output must be a plain tensor of the announced shape, in the input's dtype.

    The first case is called once more where torch's default dtype is another one than the input's.
    """
    call = evidence.call(item, "base")
    if wrong := _other_dtype(call, evidence):
        slot, dtype = wrong
        return failed(f"`{slot.name}` must be {wanted_dtype(slot, call)}; yours is {dtype}")
    return _judge_created(item, evidence) if _follows_an_input(item) else PASSED


def _follows_an_input(item: Item) -> bool:
    """Return whether the dtype of what comes out is an input's, and this is the case that looks after it."""
    looks_after = item.points > 0 and item.case.name == item.spec.cases[0]
    return looks_after and bool(item.case.wants) and item.case.dtype != _USUAL


def _judge_created(item: Item, evidence: Evidence) -> Finding:
    """Look at what comes out where a tensor that is created without a dtype has another one than the input."""
    call = evidence.call(item, _CREATED)
    where = f"where the input is {call.dtype} and torch's default dtype is {_USUAL}"
    advice = "Give what you create the dtype of the input: `dtype=x.dtype`, or `x.new_zeros(...)`"
    if (problem := evidence.problem(call)) is not None:
        if problem.verdict is not Verdict.FAILED:
            return problem
        is_about_dtypes = any(word in problem.message for word in _OF_DTYPES)
        return failed(f"{where}: {problem.message}{f'. {advice}' * is_about_dtypes}", alone=True)
    if wrong := _other_dtype(call, evidence):
        slot, dtype = wrong
        wanted = f"`{slot.name}` must be {slot.dtype or call.dtype} as well; yours is {dtype}"
        return failed(f"{where}, {wanted}. {advice}", alone=True)
    return PASSED


def _other_dtype(call: Call, evidence: Evidence) -> tuple[TensorSpec, str] | None:
    """Return the first output that has another dtype than announced, and which."""
    seen = evidence.seen(call).slots
    dtypes = ((slot, seen[slot.key].dtype) for slot in call.outputs)
    return next(((slot, dtype) for slot, dtype in dtypes if dtype != (slot.dtype or call.dtype)), None)


class RefusalOptions(Options):
    """`late`, the first call may refuse as well; `error`, the exception that it must be (else any will do)."""

    late: bool = False
    error: str = ""


def _refusal_work(item: Item) -> Work:
    build = _refused(item)
    call = replace(base_call(item.case), name=call_name(item.case.name, "refused"), build=build.name)
    return Work((call,) if item.given(RefusalOptions).late else (), (build,))


@check(
    "refusal",
    "rejects invalid arguments",
    Dimension.SHAPES,
    work=_refusal_work,
    after=(),
    needs=(),
    options=RefusalOptions,
    traits=[Trait.REFUSES],
)
def judge_refusal(item: Item, evidence: Evidence) -> Finding:
    """A configuration that cannot work must make the constructor raise."""
    options = item.given(RefusalOptions)
    seen = evidence.observed.builds.get(_refused(item).name)
    if seen is None:
        return skipped("because the run ended before this check")
    if not any(built.raised is None for built in evidence.observed.builds.values()):
        return skipped("because your constructor raises for every configuration")
    called = evidence.observed.calls.get(call_name(item.case.name, "refused"))
    raised = seen.raised or (called.raised if called else None)
    given = ", ".join(f"{name}={value!r}" for name, value in item.case.construct.items())
    wanted = f"with {given} your {'module' if options.late else 'constructor'} must raise"
    if raised is None:
        return failed(f"{wanted} {f'a {options.error}' if options.error else 'an error'}; yours accepts this")
    if options.error and not raised.is_a(options.error):
        return failed(f"{wanted} a {options.error}; yours raised {explain(raised)}")
    return PASSED


def _refused(item: Item) -> Build:
    build = item.case.build
    assert build is not None, "only a module's constructor can refuse"
    return replace(build, name=f"refused: {build.name}", weights=(), must_raise=True)
