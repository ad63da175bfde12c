import numpy as np
from scipy.spatial.distance import cdist


def graph(points, k):
    n = len(points)
    squared = cdist(points, points, "sqeuclidean")
    W = np.zeros((n, n))
    for row in range(n):
        for near in np.argsort(squared[row], kind="stable")[: k + 1]:
            W[row, near] = np.exp(-squared[row, near] / 2)
    return np.maximum(W, W.T)


def lrdg(X, Y, V, S, *, alpha=1.0, beta=1.0, gamma=1.0, T=50, guard=True):
    n = len(X)
    H = np.eye(n) - 1 / n
    AX, AY = graph(X, 5), graph(Y.astype(float), 5)
    PY = np.diag(AY.sum(1))
    with np.errstate(all="ignore"):
        for _ in range(T):
            AV = graph(V.T, 3)
            PV = np.diag(AV.sum(1))
            top = H @ (X @ S) + alpha * Y + 2 * beta * AX @ V + gamma * AY @ V
            bottom = H @ V + alpha * V + 2 * beta * V @ (V.T @ V) + gamma * PY @ V
            V_next = V * top / bottom
            top = X.T @ (H @ V_next) + gamma * S @ AV
            bottom = X.T @ (H @ (X @ S)) + gamma * S @ PV
            S_next = S * top / bottom
            if guard and not (np.isfinite(V_next).all() and np.isfinite(S_next).all()):
                break
            V, S = V_next, S_next
    return (S**2).sum(1)
