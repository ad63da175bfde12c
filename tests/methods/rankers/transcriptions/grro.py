import numpy as np
from scipy.linalg import solve_sylvester

from transcriptions.scnmf import label_distances


def two_bins(X):
    n = len(X)
    middle = int(np.floor(n / 2 + 0.5))
    cuts = np.sort(X, axis=0)[middle - 1]
    return (cuts < X).astype(float)


def information(A, B):
    n = len(A)
    p11 = A.T @ B / n
    pa, pb = A.mean(0)[:, None], B.mean(0)[None, :]
    total = np.zeros_like(p11)
    for joint, one, other in (
        (p11, pa, pb),
        (pa - p11, pa, 1 - pb),
        (pb - p11, 1 - pa, pb),
        (1 - pa - pb + p11, 1 - pa, 1 - pb),
    ):
        there = joint > 1e-15
        total[there] += (
            joint * np.log2(np.where(there, joint, 1) / np.where(there, one * other, 1))
        )[there]
    return np.maximum(total, 0)


def grro(X, Y, *, alpha=100.0, beta=0.1, keep=None):
    bins = two_bins(X)
    FL, FF = information(bins, Y.astype(float)), information(bins, bins)
    np.fill_diagonal(FF, 1)
    W = solve_sylvester(np.eye(len(FF)) + alpha * FF, beta * label_distances(Y), FL)
    if keep is not None:
        for label in range(W.shape[1]):
            order = sorted(range(len(W)), key=lambda row: -W[row, label])
            W[order[keep:], label] = 0
    return W.sum(1)
