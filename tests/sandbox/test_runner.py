"""The runner: right answers come back, and every kind of ending is told for what it is."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from pathlib import Path

import numpy
import pytest

from grader.box.observations import CallSeen
from grader.box.run import Ending, Limits, Run
from grader.errors import AuthorError, GraderFault
from grader.exercise.catalog import ROOT
from grader.sandbox.runner import Sandbox
from tests.jobs.classroom import until
from tests.machine import STATE, stat_of
from tests.sandbox.errand import HONEST, LIMITS, plan, verdict
from tests.sandbox.user_story import innermost, wait_for_run


def _innermost(sandbox: Sandbox) -> int:
    """Return the process that forks the children."""
    return innermost(sandbox._zygote._process.pid)


def test_an_honest_submission_comes_back_right(sandbox: Sandbox) -> None:
    """The tensor is the one computed here, and the figures are measured."""
    run = sandbox.run(plan(), HONEST, LIMITS)
    assert (verdict(run), run.ending, run.detail) == ("right", Ending.FINISHED, "")
    assert 0 < run.cpu_seconds < 1
    assert 0 < run.wall_seconds < 2
    assert run.memory_bytes > 1 << 20


def test_prints_are_brought_back(sandbox: Sandbox) -> None:
    """Standard output and standard error arrive in order, also without a newline at the end."""
    source = f"import sys\nprint('one')\nsys.stderr.write('two')\n{HONEST}"
    assert sandbox.run(plan(), source, LIMITS).output == "one\ntwo"


def test_prints_before_a_crash_are_brought_back(sandbox: Sandbox) -> None:
    """Nothing printed is lost in a buffer when the process ends abruptly."""
    run = sandbox.run(plan(), "import os\nprint('last words')\nos._exit(3)", LIMITS)
    assert (run.output, run.ending, run.detail) == ("last words\n", Ending.CRASHED, "exit code 3")


@pytest.mark.parametrize(
    "body",
    [
        "raise KeyboardInterrupt",
        "import traceback; traceback.print_stack()",
        "import warnings; warnings.warn('odd', stacklevel=3)",
        "import sys; print(sys.path, sys.orig_argv, torch.__file__)",
        "import torch; raise ValueError(torch.__file__)",
    ],
)
def test_neither_prints_nor_errors_say_where_the_grader_lies(body: str, sandbox: Sandbox) -> None:
    """A warning or a traceback from below the grader's own lines names their files, without their folder."""
    run = sandbox.run(plan(), f"import torch\n\ndef attend(q, k, v):\n    {body}\n", LIMITS)

    call = run.observations.calls.get("case/plain")
    told = run.output + (call.raised.message if call is not None and call.raised is not None else "")
    assert "…" in told
    assert [place for place in (str(ROOT), sys.prefix, sys.base_prefix, "site-packages") if place in told] == []


def test_prints_are_cut_at_the_cap(sandbox: Sandbox) -> None:
    """A flood is ended and at most the cap is kept."""
    run = sandbox.run(plan(), "while True: print('x' * 99)", Limits(wall_seconds=2, output_bytes=1000))
    assert (run.ending, len(run.output)) == (Ending.OUTPUT, 1000)


def test_a_signal_is_named(sandbox: Sandbox) -> None:
    """A crash says which signal it was."""
    run = sandbox.run(plan(), "import ctypes\nctypes.string_at(0)", LIMITS)
    assert (run.ending, run.detail) == (Ending.CRASHED, "SIGSEGV")


def test_each_finished_call_is_reported_at_once(sandbox: Sandbox) -> None:
    """The progress callback is given what was seen of the call."""
    heard: list[CallSeen] = []
    run = sandbox.run(plan(), HONEST, LIMITS, heard.append)
    assert heard == list(run.observations.calls.values())
    assert [seen.name for seen in heard] == ["case/plain"]


def test_a_forbidden_operation_is_trapped_inside(sandbox: Sandbox) -> None:
    """A plan that forbids attention ends a call of it, and says which."""
    source = (
        "import torch\n\ndef attend(q, k, v):\n    return torch.nn.functional.scaled_dot_product_attention(q, k, v)"
    )
    run = sandbox.run(plan(("attention",)), source, LIMITS)
    raised = run.observations.calls["case/plain"].raised
    assert raised is not None
    assert "scaled_dot_product_attention" in raised.message
    assert verdict(sandbox.run(plan(("attention",)), HONEST, LIMITS)) == "right"


def test_compilation_is_skipped(sandbox: Sandbox) -> None:
    """`torch.compile` and `torch.jit.script` give the function back, as functions and as decorators."""
    source = (
        f"{HONEST}\nattend = torch.compile(torch.compile(dynamic=True)(torch.jit.script(attend)))\n"
        "module = torch.nn.Linear(1, 1)\nmodule.compile()\n"
    )
    assert verdict(sandbox.run(plan(), source, LIMITS)) == "right"


def test_what_is_drawn_outside_of_torch_is_the_same_in_every_run(sandbox: Sandbox) -> None:
    """`random` and NumPy go on from their seed 0, in whatever process the run is: one code has one score."""
    source = f"import random, numpy\nprint(random.random(), float(numpy.random.rand()))\n{HONEST}"
    drawn = f"{random.Random(0).random()} {float(numpy.random.RandomState(0).rand())}\n"
    assert {sandbox.run(plan(), source, LIMITS).output for _ in range(3)} == {drawn}


def test_no_answer_is_in_the_process(sandbox: Sandbox) -> None:
    """Neither the reference nor anything that judges was ever loaded where submissions run."""
    source = (
        "import sys\n"
        "parts = ('reference', 'exercises', 'grader.exercise', 'grader.checks', 'grader.judge', 'grader.store')\n"
        "print([name for name in sys.modules if name.startswith(parts)])"
    )
    assert sandbox.run(plan(), source, LIMITS).output == "[]\n"


def test_nothing_of_ours_can_be_imported(sandbox: Sandbox) -> None:
    """Of our modules none is left under its name: some hold an attention that would answer an exercise."""
    source = "import sys\nprint({name: module for name, module in sys.modules.items() if name.startswith('grader')})"
    assert sandbox.run(plan(), source, LIMITS).output == "{'grader': None}\n"


@pytest.mark.parametrize(
    "body",
    [
        "torch.einsum('bqd,bkd->bqk', q, k)",
        "torch.func.vmap(torch.func.grad(lambda row: row.softmax(-1).sum()))(q)",
        "torch.utils.checkpoint.checkpoint(torch.tanh, q.requires_grad_(), use_reentrant=False).sum().backward()",
        "torch.func.jvp(torch.tanh, (q,), (q,))",
        "torch.func.hessian(lambda row: row.pow(3).sum())(q[0, 0])",
        "torch.optim.AdamW([q.requires_grad_()]).step()",
        "torch.optim.lr_scheduler.LambdaLR(torch.optim.SGD([q.requires_grad_()], 0.1), lambda step: 1.0).step()",
        "torch.optim.LBFGS([w := q.requires_grad_()]).step(lambda: (w.grad, w.sum())[1])",
        "torch.compiler.reset(), torch.compiler.disable(torch.tanh)(q), torch.compiler.is_compiling()",
        "torch._dynamo.config.suppress_errors = torch._dynamo.is_compiling()",
        "__import__('torch._dynamo.utils').utils",
        "torch.save(q, buffer := __import__('io').BytesIO()), buffer.seek(0), torch.load(buffer)",
        "__import__('torch.nn.utils.prune').nn.utils.prune.l1_unstructured(torch.nn.Linear(4, 4), 'weight', 1)",
        "__import__('torch.utils.flop_counter').utils.flop_counter.FlopCounterMode(display=False).__enter__()",
        "torch.jit.script(torch.jit.trace(lambda x: x.tanh(), q))(q)",
        "torch.nn.functional.conv1d(q, torch.ones(3, 3, 1).double())",
        "torch.linalg.svd(q)",
        "torch.fft.fft(q)",
        "torch.nn.TransformerEncoderLayer(4, 2, batch_first=True).double()(q)",
        "(q.bfloat16() @ k.bfloat16().mT).softmax(-1)",
        "(q.half() @ k.half().mT).softmax(-1)",
        "torch.view_as_complex(q.reshape(-1, 2)).abs()",
        "torch.set_num_threads(2), torch.ones(300, 300) @ torch.ones(300, 300)",
        "torch.autocast('cpu').__enter__(), torch.ones(3, 3) @ torch.ones(3, 3)",
        "__import__('numpy').asarray(q.detach()).sum()",
        "__import__('copy').deepcopy(torch.nn.LayerNorm(4))",
        "__import__('dataclasses').make_dataclass('D', ['x'])(1)",
        "torch.testing.assert_close(q, q)",
        "torch.manual_seed(0), torch.randn(3)",
        "repr(q), str(torch.nn.Linear(2, 2))",
        "torch.nn.init.xavier_uniform_(torch.empty(3, 3))",
        "torch.broadcast_shapes((1, 2), (3, 2)), torch.sym_max(1, 2), torch.sym_not(True), torch._check(True)",
        "torch._refs.softmax(q, -1), torch.empty(2, 3, device='meta').softmax(-1)",
        "torch.func.jacrev(torch.tanh)(q[0, 0]), torch.func.jacfwd(torch.tanh)(q[0, 0])",
        "torch.func.functionalize(torch.tanh)(q), torch.func.vjp(torch.tanh, q)",
        "torch.autograd.functional.hessian(lambda row: row.pow(3).sum(), q[0, 0])",
        "torch.autograd.gradgradcheck(torch.tanh, (q.clone().requires_grad_(),))",
        "torch.autograd.grad(w := q.requires_grad_(), w, torch.ones(2, *q.shape).double(), is_grads_batched=True)",
        "torch.masked.softmax(q, -1, mask=q > 0), torch.nested.nested_tensor([q[0], q[0][:1]])",
        "torch.distributions.Categorical(logits=q).entropy()",
        "torch.eye(3).to_sparse_csr() @ torch.ones(3, 3), torch.sparse_coo_tensor([[0]], [1.0], (2,)).to_dense()",
        "torch.fx.symbolic_trace(torch.nn.Linear(4, 4)).double()(q)",
        "torch.nn.LSTM(4, 3, batch_first=True).double()(q), torch.nn.Transformer(4, 2, 1, 1, 8).double()(q, q)",
        "next(iter(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(q))))",
    ],
)
def test_ordinary_torch_works_behind_the_walls(body: str, sandbox: Sandbox) -> None:
    """What submissions use runs inside, without files, threads or processes."""
    source = (
        "import torch\nimport torch.utils.checkpoint\n\ndef attend(q, k, v):\n"
        f"    q0 = q.clone()\n    {body}\n    return torch.softmax(q0 @ k.mT / 2, dim=-1) @ v"
    )
    run = sandbox.run(plan(), source, LIMITS)
    assert verdict(run) == "right", (run.observations, run.output)


def test_runs_side_by_side_do_not_mix(sandbox: Sandbox) -> None:
    """Threads share the sandbox; each gets its own answer and its own prints."""
    outputs: dict[int, str] = {}
    verdicts: list[str] = []

    def one(number: int) -> None:
        run = sandbox.run(plan(), f"print({number})\n{HONEST}", Limits(cpu_seconds=2, wall_seconds=6))
        outputs[number] = run.output
        verdicts.append(verdict(run))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs == {number: f"{number}\n" for number in range(8)}
    assert verdicts == ["right"] * 8


def test_runs_leave_no_descriptor_behind(sandbox: Sandbox) -> None:
    """Twenty runs, crashes and floods among them, leave as many open descriptors as before."""
    sources = [
        HONEST,
        "import os; os._exit(1)",
        "import os\nwhile True: os.write(1, b'x' * 999)",
        "import os; os.write(4, b'junk' * 9)",
    ]
    sandbox.run(plan(), HONEST, LIMITS)
    before = len(os.listdir("/proc/self/fd"))
    for number in range(20):
        sandbox.run(plan(), sources[number % len(sources)], LIMITS)
    assert len(os.listdir("/proc/self/fd")) == before


def test_the_child_is_dead_when_the_run_is_over(sandbox: Sandbox) -> None:
    """No process of a run is left once its verdict can be reached, a sleeper's neither."""
    running = threading.Thread(target=sandbox.run, args=(plan(), _SLEEPER, Limits(cpu_seconds=1, wall_seconds=0.2)))
    running.start()
    child = wait_for_run()
    running.join()
    assert not Path(f"/proc/{child}").exists()


def test_four_hundred_runs_leave_the_zygote_as_it_was(sandbox: Sandbox) -> None:
    """It keeps no descriptor for a run that is over, and its memory has not grown by as much as a thousandth."""
    zygote = _innermost(sandbox)
    _wait_until_idle(zygote)
    descriptors, pages = _weight(zygote)
    for _ in range(400):
        assert verdict(sandbox.run(plan(), HONEST, LIMITS)) == "right"
    _wait_until_idle(zygote)  # the last child's descriptor is closed a moment after its end was told
    assert _innermost(sandbox) == zygote
    # How many children are ready at one moment changes by a few; what a run leaves behind would be there 400 times.
    assert _weight(zygote)[0] < descriptors + 20
    assert _weight(zygote)[1] - pages <= pages // 1000


def test_no_child_outlives_its_zygote(quickly: None) -> None:
    """Whichever of the zygote's two processes is killed, a sleeping child is gone too, and its run is repeated."""
    with Sandbox() as sandbox:
        for victim in (_innermost, lambda sandbox: sandbox._zygote._process.pid):
            lost = sandbox._zygote
            runs: list[Run] = []
            running = threading.Thread(target=lambda: runs.append(sandbox.run(plan(), _SLEEPER, _SHORT)))  # noqa: B023
            target = victim(sandbox)
            running.start()
            child = wait_for_run()
            os.kill(target, signal.SIGKILL)
            until(lambda: not Path(f"/proc/{child}").exists(), "the child is gone")  # noqa: B023
            running.join(timeout=30)
            assert [run.ending for run in runs] == [Ending.TIMEOUT]
            assert sandbox._zygote is not lost


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look into a process that has closed itself")
def test_the_zygote_has_no_files(sandbox: Sandbox) -> None:
    """Seen from outside, its root is empty; of files it holds the empty input, the log, and its oom_score_adj."""
    if sandbox.tier != "A":
        pytest.skip("this system does not grant an empty root")
    zygote = Path(f"/proc/{_innermost(sandbox)}")
    assert os.listdir(zygote / "root") == os.listdir(zygote / "cwd") == []
    opened = [os.readlink(link) for link in (zygote / "fd").iterdir()]
    held = sorted(name for name in opened if name.startswith("/") and "(deleted)" not in name)
    assert held == ["/dev/null", f"{zygote}/oom_score_adj"]


@pytest.mark.parametrize(
    ("source", "ending", "detail"),
    [
        ("while True: pass", Ending.TIMEOUT, "more than 1 s of processor time"),
        ("import time\ntime.sleep(99)", Ending.TIMEOUT, "more than 1 s in all"),
        ("hoard = [bytearray(1 << 20) for _ in range(1 << 20)]", Ending.FINISHED, ""),
        ("import os\nwhile True: os.write(1, b'x' * 999)", Ending.OUTPUT, "more than 65536 bytes"),
        ("import os\nwhile True: os.write(4, b'x' * 999)", Ending.PROTOCOL, None),
    ],
)
def test_what_never_ends_is_ended(source: str, ending: Ending, detail: str | None, sandbox: Sandbox) -> None:
    """Spinning, sleeping, hoarding and flooding each meet their own limit, and memory stays within what was allowed."""
    limits = Limits(cpu_seconds=1, wall_seconds=1 if "sleep" in source else 20, memory_bytes=512 << 20)
    run = sandbox.run(plan(), source, limits)
    assert (run.ending, detail in (None, run.detail)) == (ending, True), run
    assert run.grown_bytes <= 1.05 * limits.memory_bytes
    if ending is Ending.FINISHED:
        assert verdict(run) == "error MemoryError"


def test_what_is_written_after_the_end_of_an_answer_is_not_read(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a child that writes faster than it is read holds its reader for as long as it likes."""
    endless = """
import os, sys
frame, end = sys._getframe(), None
while frame is not None:
    end, frame = frame.f_globals.get("END", end), frame.f_back
os.write(4, end)
while True:
    os.write(4, bytes(1 << 22))
"""
    read, sizes = os.read, list[int]()

    def counted(descriptor: int, size: int) -> bytes:
        found = read(descriptor, size)
        sizes.append(len(found))
        return found

    monkeypatch.setattr("grader.sandbox.run_monitor.os.read", counted)
    most = 0
    for _ in range(20):
        sizes.clear()
        sandbox.run(plan(), endless, LIMITS)
        most = max(most, sum(sizes))

    assert 0 < most <= 1 << 18


def test_a_dead_zygote_is_replaced_without_the_student_noticing(
    quickly: None, caplog: pytest.LogCaptureFixture
) -> None:
    """The run that meets a dead zygote is repeated in a new one, which the log says; a closed sandbox says that."""
    with Sandbox() as sandbox:
        os.kill(sandbox._zygote._process.pid, signal.SIGKILL)
        assert verdict(sandbox.run(plan(), HONEST, LIMITS)) == "right"
        assert caplog.messages == ["the sandbox lost its zygote during a run; another one takes its place"]
        running = threading.Thread(target=_run_into_a_fault, args=(sandbox,))
        running.start()
        child = wait_for_run()
        sandbox.close()
        running.join(timeout=5)
        assert not running.is_alive()
        assert not Path(f"/proc/{child}").exists()
    with pytest.raises(GraderFault, match="closed"):
        sandbox.run(plan(), HONEST, LIMITS)


def test_a_renewed_zygote_lets_its_runs_finish(quickly: None) -> None:
    """The old zygote lives as long as a run needs it, and new runs get the new one."""
    with Sandbox() as sandbox:
        with sandbox._lease() as old:
            sandbox.renew()
            assert old._process.poll() is None
            assert sandbox._zygote is not old
        assert old._process.poll() is not None
        assert verdict(sandbox.run(plan(), HONEST, LIMITS)) == "right"


def test_an_unknown_group_of_traps_is_the_authors_fault(sandbox: Sandbox) -> None:
    """It is refused before a child could end by it, which would be told to the student as a crash."""
    with pytest.raises(AuthorError, match="`convolution`; there are attention, softmax, dropout"):
        sandbox.run(plan(forbidden=("convolution",)), HONEST, LIMITS)


def test_a_zygote_is_renewed_a_day_later_and_not_before(quickly: None) -> None:
    """Runs of one day share a zygote; the first one after that day has it renewed behind it, and gets its answer."""
    now = [0.0]
    with Sandbox(clock=lambda: now[0]) as sandbox:
        first = sandbox._zygote
        now[0] = 24 * 3600.0 - 1
        assert verdict(sandbox.run(plan(), HONEST, LIMITS)) == "right"
        assert _renewals() == []
        now[0] += 1
        assert verdict(sandbox.run(plan(), HONEST, LIMITS)) == "right"
        for renewal in _renewals():
            renewal.join(timeout=60)
        second = sandbox._zygote
        assert second is not first
        assert first._process.poll() is not None
        assert verdict(sandbox.run(plan(), HONEST, LIMITS)) == "right"
        assert _renewals() == []
        assert sandbox._zygote is second


_SLEEPER, _SHORT = "import time; time.sleep(99)", Limits(cpu_seconds=1, wall_seconds=1)


def _weight(pid: int) -> tuple[int, int]:
    """Return how many descriptors a process has open, and its resident pages."""
    return len(os.listdir(f"/proc/{pid}/fd")), int(Path(f"/proc/{pid}/statm").read_text().split()[1])


def _wait_until_idle(pid: int) -> None:
    """Wait until a zygote has nothing left to fold and nobody to get ready, and so waits as well."""
    asleep = 0

    def stays_asleep() -> bool:
        nonlocal asleep
        state = stat_of(pid)[STATE]
        asleep = asleep + 1 if state == "S" else 0
        return asleep > 5

    until(stays_asleep, "the zygote waits")


def _renewals() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "zygote renewal"]


def _run_into_a_fault(sandbox: Sandbox) -> None:
    with pytest.raises(GraderFault, match="closed"):
        sandbox.run(plan(), "import time; time.sleep(99)", Limits(cpu_seconds=1, wall_seconds=20))
