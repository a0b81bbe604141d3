"""Starts the process of a worker, in an environment of its own, with pipes to it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO

from grader import search_path

# A driver's own switches. EAGER: every kernel is loaded while files can still be read. No cache of compiled kernels:
# it would be written to a home. The bus's order: the management library counts GPUs so. A fixed workspace: the same
# sums come out in the same order each time.
_DRIVER: Mapping[str, str] = {
    "CUDA_MODULE_LOADING": "EAGER",
    "CUDA_CACHE_DISABLE": "1",
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
}


@dataclass(frozen=True, slots=True)
class Launched:
    """A process on its way, and our ends of what leads to it; `close` ends it."""

    process: subprocess.Popen[bytes]
    report: socket.socket
    job: IO[bytes]
    result: int
    output: int
    log: IO[bytes]

    def said(self) -> str:
        """Return what it wrote while it warmed up, which is ours and no student's."""
        self.log.seek(0)
        return self.log.read().decode(errors="replace").strip()

    def close(self) -> None:
        """Close every end; the guardian then ends the worker, and itself."""
        self.report.close()
        self.job.close()
        for descriptor in (self.result, self.output):
            os.close(descriptor)
        self.process.wait()
        self.log.close()


def launch(device: str, *, reserve_bytes: int, scratch: str) -> Launched:
    """Start a worker for `device`; what it says of itself comes on its report socket."""
    log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the worker
    with ExitStack() as theirs:
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        theirs.enter_context(far)
        job, our_job = os.pipe()
        our_result, result = os.pipe()
        our_output, output = os.pipe()
        for descriptor in (job, result, output):
            theirs.callback(os.close, descriptor)
        files = {"job": job, "result": result, "output": output, "report": far.fileno()}
        orders = json.dumps({**files, "device": device, "reserve": reserve_bytes})
        process = subprocess.Popen(
            search_path.isolated("grader.sandbox.gpu.worker", "main", repr(orders)),
            env=environment(device, scratch),
            cwd="/",
            pass_fds=tuple(files.values()),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    return Launched(process, near, open(our_job, "wb", buffering=0), our_result, our_output, log)


def environment(device: str, scratch: str) -> dict[str, str]:
    """Return a worker's whole environment: one thread for every library, one device, nothing of the service's."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    places = dict.fromkeys(("HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR"), scratch)
    seen = {"CUDA_VISIBLE_DEVICES": "0" if device == "cuda" else "", **_DRIVER}
    return {**threads, **places, **seen, "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}
