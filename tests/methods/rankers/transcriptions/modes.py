"""The two modes, and where each transcription starts from: written down a second time, like the formulas."""

from __future__ import annotations

import numpy as np

from transcriptions.dagfs import dagfs
from transcriptions.fusion import rfsfs, srfs
from transcriptions.grro import grro
from transcriptions.lrdg import lrdg
from transcriptions.relaxation import lrmfs, lsmfs
from transcriptions.scnmf import scnmf


def scores(name, X, Y, *, guard=True, seed=0, **params):
    """Score all features; guarded, constant columns are left out of the formulas and get NaN here."""
    kept = (
        np.array([len(set(column)) > 1 for column in X.T]) if guard else np.ones(X.shape[1], bool)
    )
    found = np.full(X.shape[1], np.nan)
    found[kept] = RUNS[name](X[:, kept], Y, kept, np.random.default_rng(seed), guard, params)
    return found


def ranking(found):
    """Order by falling score, ties to the lower index, what has no score last."""
    return sorted(
        range(len(found)),
        key=lambda j: (np.isnan(found[j]), -found[j] if found[j] == found[j] else 0),
    )


def _dagfs(X, Y, kept, generator, guard, params):
    W = generator.random(((2 if params.get("lift", True) else 1) * len(kept), Y.shape[1]))
    return dagfs(X, Y, W[np.tile(kept, len(W) // len(kept))], **params)


def _fusion(function):
    def run(X, Y, kept, generator, guard, params):
        return function(X, Y, generator.random((len(kept), Y.shape[1]))[kept], **params)

    return run


def _lrmfs(X, Y, kept, generator, guard, params):
    slack, Q = generator.random(Y.shape), generator.random((len(kept), Y.shape[1]))
    return lrmfs(X, Y, slack, Q[kept], **params)


def _lsmfs(X, Y, kept, generator, guard, params):
    V, slack = generator.random(Y.shape), generator.random(Y.shape)
    return lsmfs(
        X, Y, V, slack, generator.random((len(kept), Y.shape[1]))[kept], guard=guard, **params
    )


def _lrdg(X, Y, kept, generator, guard, params):
    V, S = generator.random(Y.shape), generator.random((len(kept), Y.shape[1]))
    return lrdg(X, Y, V, S[kept], guard=guard, **params)


def _scnmf(X, Y, kept, generator, guard, params):
    found = scnmf(X, Y, **params)
    lone = np.array(
        [
            guard and len(X) > 2 and len(X) - max(np.unique(c, return_counts=True)[1]) == 1
            for c in X.T
        ]
    )
    if lone.any() and not lone.all():
        found[lone] = found[lone] / found[lone].max() * found[~lone].min() / 2
    return found


RUNS = {
    "dagfs": _dagfs,
    "srfs": _fusion(srfs),
    "rfsfs": _fusion(rfsfs),
    "scnmf": _scnmf,
    "grro": lambda X, Y, kept, generator, guard, params: grro(X, Y, **params),
    "lrmfs": _lrmfs,
    "lsmfs": _lsmfs,
    "lrdg": _lrdg,
}
