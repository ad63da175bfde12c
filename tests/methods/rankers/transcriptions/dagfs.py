import numpy as np

EPS = np.finfo(float).eps


def dagfs(
    X,
    Y,
    W,
    *,
    alpha=0.1,
    beta=0.1,
    T=40,
    gamma=2,
    tau=0.5,
    topK=10,
    kappa=1.5,
    s_max=3,
    lift=True,
    paired=True,
):
    d = X.shape[1]
    L = Y.shape[1]
    f = Y.sum(0) + 1.0
    p = f**-gamma
    p = p / (p.sum() + EPS)
    s = np.minimum(1 + kappa * (Y * p).sum(1), s_max)
    s = s / (s.mean() + EPS)
    Ys = np.diag(np.sqrt(s)) @ Y
    norms = np.linalg.norm(Ys, axis=0)
    S = np.nan_to_num(Ys.T @ Ys / (np.outer(norms, norms) + EPS), nan=0, posinf=0, neginf=0)
    S[S < 0] = 0
    np.fill_diagonal(S, 0)
    C = np.zeros((L, L))
    for m in range(L):
        for student in range(L):
            C[m, student] = S[m, student] * (f[m] / f[student]) ** tau
    if 0 < topK < L:
        for m in range(L):
            keep = sorted(range(L), key=lambda student: -C[m, student])[:topK]
            C[m, [student for student in range(L) if student not in keep]] = 0
    C = C / (C.sum(1, keepdims=True) + EPS)
    M = (np.eye(L) - C) @ (np.eye(L) - C).T
    M = (M + M.T) / 2
    plus, minus = (np.abs(M) + M) / 2, (np.abs(M) - M) / 2
    mu = X.mean(0)
    lifted = np.hstack([np.maximum(X - mu, 0), np.maximum(mu - X, 0)]) if lift else X
    Xs = np.diag(np.sqrt(s)) @ lifted
    G, XtY = Xs.T @ Xs, Xs.T @ Ys
    for _ in range(T):
        squares = (W**2).sum(1)
        if lift and paired:
            squares = np.tile(squares[:d] + squares[d:], 2)
        q = 1 / (2 * (np.sqrt(squares) + EPS))
        W = (
            W
            * (XtY + alpha * W @ minus)
            / np.maximum(G @ W + alpha * W @ plus + beta * q[:, None] * W, EPS)
        )
    squares = (W**2).sum(1)
    if not lift:
        return np.sqrt(squares)
    if paired:
        return np.sqrt(squares[:d] + squares[d:])
    return np.sqrt(np.maximum(squares[:d], squares[d:]))
