"""Remarks that cost nothing, from what was seen beside the tensors."""

from __future__ import annotations

from grader.box.keys import call_name, case_of
from grader.box.observations import Loaded, Observations, Raised
from grader.checks.evidence import Evidence
from grader.checks.explain import explain
from grader.checks.finding import Verdict
from grader.checks.numerics import outputs_differ, unsteady
from grader.judge.text import clean


def remarks(evidence: Evidence) -> tuple[str, ...]:
    """Return advice on habits that happen to work here and hurt elsewhere."""
    observed = evidence.observed
    found = [
        *_loaded(observed.loaded),
        *_zeroed(observed),
        *_unused(observed),
        *_loose(observed),
        *_strided(evidence),
    ]
    return tuple(clean(text, limit=500) for text in dict.fromkeys(found))


def _loaded(loaded: Loaded) -> list[str]:
    found = []
    if loaded.raised is not None and not _left_on_purpose(loaded.raised):
        told = explain(loaded.raised)
        found.append(f"a part of your file that your answer does not need raised an error, which costs nothing: {told}")
    if loaded.missing:
        names = ", ".join(f"`{name}`" for name in loaded.missing[:8])
        replaced = "it was replaced by a placeholder, which draws nothing and has no values"
        if len(loaded.missing) > 1:
            replaced = "they were replaced by placeholders, which draw nothing and have no values"
        found.append(f"{names}: not available, so {replaced}")
    return found


def _left_on_purpose(raised: Raised) -> bool:
    """Return whether a script ended itself and reported success, as `sys.exit(main())` does."""
    return raised.type == "SystemExit" and raised.message in ("", "0", "None")


def _zeroed(observed: Observations) -> list[str]:
    names = sorted({name for build in observed.builds.values() for name in build.zeroed})
    was = "it was" if len(names) == 1 else "they were"
    listed = ", ".join(f"`{name}`" for name in names)
    return [f"{listed}: the exercise has no bias here, so {was} set to zero"] if names else []


def _unused(observed: Observations) -> list[str]:
    builds = observed.builds.values()
    used = {place for build in builds for places in build.mapping.values() for place in places.split(", ")}
    names = sorted({name.partition(" ")[0] for build in builds for name in build.unused} - used)
    return [f"`{name}` is no weight of the exercise, so it kept your initial values" for name in names]


def _loose(observed: Observations) -> list[str]:
    names = sorted({name for build in observed.builds.values() for name in build.loose})
    return [
        f"`self.{name}` is a plain tensor: `.to(device)` and `state_dict()` ignore it; register it as a buffer"
        for name in names
    ]


def _strided(evidence: Evidence) -> list[str]:
    """Return what becomes of inputs that are not contiguous, where the same numbers gave no trouble otherwise.

    Code that changes from call to call had no trouble with them in the first one only.
    """
    if unsteady(evidence):
        return []
    given = "given inputs that are not contiguous in memory"
    for call in (call for call in evidence.plan.calls if call.non_contiguous):
        plain = next((c for c in evidence.plan.calls if c.name == call_name(case_of(call.name))), None)
        if plain is None or evidence.problem(plain) is not None or outputs_differ(plain, evidence):
            continue
        if (problem := evidence.problem(call)) is not None:
            return [f"{given}, your code fails: {problem.message}"] if problem.verdict is Verdict.FAILED else []
        if text := outputs_differ(call, evidence):
            return [f"{given}, your output is wrong: {text}"]
    return []
