import numpy as np
from sklearn.metrics.pairwise import cosine_similarity

EPS32 = np.finfo(np.float32).eps


def srfs(X, Y, W, *, alpha=0.1, beta=0.1, gamma=0.1, T=30):
    d = X.shape[1]
    S = cosine_similarity(Y.T)
    A = np.diag(S.sum(1))
    J = np.ones((d, d))
    for _ in range(T):
        D = np.diag(1 / (2 * np.linalg.norm(W, axis=1) + EPS32))
        top = X.T @ Y + alpha * W @ S + gamma * W
        bottom = X.T @ X @ W + alpha * W @ A + beta * D @ W + gamma * J @ W
        W = W * top / np.maximum(bottom, EPS32)
    return np.linalg.norm(W, axis=1)


def rfsfs(X, Y, W, *, alpha=0.1, beta=0.1, gamma=0.1, T=50):
    d = X.shape[1]
    S = cosine_similarity(Y.T)
    A = np.diag(S.sum(1))
    J = np.ones((d, d))
    for _ in range(T):
        Q = 1 / np.maximum(2 * np.abs(W), EPS32)
        top = X.T @ Y + alpha * W @ S + gamma * W
        bottom = X.T @ X @ W + alpha * W @ A + beta * (Q * W) + gamma * J @ W
        W = W * top / np.maximum(bottom, EPS32)
    return np.linalg.norm(W, axis=1)
