import numpy as np

EPS = np.finfo(float).eps


def lrmfs(X, Y, slack, Q, *, alpha=0.1, lam=1.0, T=10, tolerance=1e-3):
    n, d = X.shape
    B = 2 * Y - 1
    D, Dz = np.eye(d), np.eye(n)
    before = None
    for _ in range(T):
        F = Y + B * slack
        C = X.T @ Dz @ X + alpha * np.eye(d) + lam * D
        W = np.linalg.solve(C - alpha * Q @ Q.T, X.T @ Dz @ F)
        Q = np.zeros_like(Q)
        slack = np.maximum(B * (X @ W - Y), 0)
        residuals = np.linalg.norm(X @ W - F, axis=1)
        norms = np.linalg.norm(W, axis=1)
        Dz, D = np.diag(0.5 / (residuals + EPS)), np.diag(0.5 / (norms + EPS))
        now = residuals.sum() + alpha * (W**2).sum() + lam * norms.sum()
        if before is not None and abs(now - before) <= tolerance:
            break
        before = now
    return (W**2).sum(1)


def nearest_but_one_graph(Y):
    """Join every label to all but the nearest of the sorted labels, and take the mean of both directions."""
    L = Y.shape[1]
    G = np.zeros((L, L))
    for a in range(L):
        order = sorted(range(L), key=lambda b: (((Y[:, a] - Y[:, b]) ** 2).sum(), b))
        G[a, order[1:]] = 1
    G = (G + G.T) / 2
    return np.diag(G.sum(1)) - G


def lsmfs(
    X,
    Y,
    V,
    slack,
    W,
    *,
    alpha=4.0,
    beta=0.1,
    gamma=0.1,
    lam=0.01,
    consistent=False,
    T=20,
    tolerance=1e-6,
    guard=True,
):
    d, L = X.shape[1], Y.shape[1]
    B = 2 * Y - 1
    LY = L * np.eye(L) - np.ones((L, L)) if guard else nearest_but_one_graph(Y)
    inverse_D = np.ones(d)
    before, history = None, []
    for _ in range(T):
        M = Y + B * slack
        U, _, Pt = np.linalg.svd(W, full_matrices=False)
        # (XᵀX + γD)⁻¹ = D⁻¹(XᵀX D⁻¹ + γI)⁻¹: the same matrix without the entries near 1/eps
        W = inverse_D[:, None] * np.linalg.solve(
            X.T @ X * inverse_D + gamma * np.eye(d), X.T @ V - lam * U @ Pt
        )
        if consistent:
            V = (X @ W + alpha * M) @ np.linalg.inv((1 + alpha) * np.eye(L) + beta * LY)
        else:
            V = (X @ W + beta * M) @ np.linalg.inv(alpha * np.eye(L) + 2 * beta * LY)
        slack = np.maximum(B * (V - Y), 0)
        norms = np.linalg.norm(W, axis=1)
        W[norms < 1e-150] = 0
        inverse_D = 2 * (norms + EPS)
        low_rank = np.linalg.norm(W, "nuc") if consistent else norms.sum()
        now = (
            ((X @ W - V) ** 2).sum() + alpha * ((V - M) ** 2).sum() + beta * np.trace(V @ LY @ V.T)
        )
        now += gamma * norms.sum() + lam * low_rank
        history.append((now, W))
        least = min(history, key=lambda step: step[0])
        if guard and now > 2 * least[0]:
            return (least[1] ** 2).sum(1)
        if before is not None and abs(now - before) <= tolerance:
            break
        before = now
    return (W**2).sum(1)
