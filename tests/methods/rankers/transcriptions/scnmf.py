import numpy as np
from scipy.spatial.distance import cdist, pdist


def label_distances(Y):
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(cdist(Y.T.astype(float), Y.T.astype(float), "cosine"), nan=0.0)


def scnmf(X, Y, *, lambda1=0.01, lambda2=1.0, T=1000, tolerance=1e-2):
    d, L = X.shape[1], Y.shape[1]
    LL = label_distances(Y)
    distances = cdist(X.T, X.T)
    sigma = pdist(X.T).mean() if d > 1 else 0.0
    H = np.exp(-(distances**2) / (2 * sigma**2)) if sigma > 0 else np.ones((d, d))
    W = np.full((d, L), 0.5)
    before = None
    for _ in range(T):
        norms = np.linalg.norm(W, axis=1)
        top = X.T @ Y + 2 * lambda1 * H @ W
        bottom = X.T @ (X @ W) + 0.5 * np.diag(1 / np.maximum(norms, 1e-20)) @ W
        bottom = bottom + 2 * lambda1 * W @ (W.T @ W) + lambda2 * W @ LL
        W = W * top / np.maximum(bottom, 1e-20)
        now = (
            np.linalg.norm(X @ W - Y) ** 2
            + np.linalg.norm(W, axis=1).sum()
            + lambda1 * np.linalg.norm(H - W @ W.T) ** 2
            + lambda2 * np.trace(LL @ W.T @ W)
        )
        if before is not None and abs(now - before) <= tolerance:
            break
        before = now
    return W.sum(1)
