"""The list of longer proofs names tests that exist, and each has a shorter one beside it."""

from __future__ import annotations

import re
from pathlib import Path

from slow_tests import LONGER


def test_every_longer_proof_and_what_stands_for_it_exist():
    text = "\n".join(path.read_text() for path in Path(__file__).parent.rglob("test_*.py"))
    defined = set(re.findall(r"def (test_\w+)\(", text))
    named = {name.partition("[")[0] for name in LONGER} | {
        name for name in LONGER.values() if name.startswith("test_")
    }
    assert named - defined == set()
    assert not {name for name in LONGER.values() if name in LONGER}
