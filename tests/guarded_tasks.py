"""Tasks that behave and tasks that misbehave, in a module that guarded processes can import."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time

import numpy as np

from paragone.lab.cells import Outcome

MIB = 2**20


def gives(value: float) -> Outcome:
    return Outcome("done", seconds=value)


def naps(seconds: float) -> Outcome:
    time.sleep(seconds)
    return gives(seconds)


def spins() -> Outcome:
    sum(iter(int, 1))
    return gives(0.0)


def fills_at_once(size: int) -> Outcome:
    block = np.ones(size // 8)
    time.sleep(30)
    return gives(block[0])


def fills_bit_by_bit(size: int) -> Outcome:
    blocks = []
    while sum(block.nbytes for block in blocks) < size:
        blocks.append(np.ones(MIB // 8))
    time.sleep(30)
    return gives(len(blocks))


def lets_a_child_fill(size: int) -> Outcome:
    subprocess.run(
        [sys.executable, "-c", f"import time; b = b'x' * {size}; time.sleep(30)"], check=True
    )
    return gives(0.0)


def reserves_without_touching(size: int) -> Outcome:
    block = np.empty(size // 8)
    return gives(float(block.nbytes))


def keeps(size: int) -> Outcome:
    globals()["kept"] = np.ones(size // 8)
    return gives(float(os.getpid()))


def dies(number: int) -> Outcome:
    os.kill(os.getpid(), number)
    time.sleep(30)
    return gives(0.0)


def reads_address_zero() -> Outcome:
    ctypes.string_at(0)
    return gives(0.0)
