"""Networks of other libraries: ReLU, softmax, Adam, batches of a new order in each epoch.

Each has ``epoch()``, one pass over the rows it was given, and ``accuracy(X, y)``.
"""

import itertools
from typing import Any, Protocol

import numpy as np

from benchmarks.network_problems import LabelledRows
from benchmarks.race import needs
from benchmarks.workbench import without_warnings


class Network(Protocol):
    def epoch(self) -> float:
        """One pass; the mean loss of its batches, or nan where a library does not say it."""

    def accuracy(self, rows: LabelledRows) -> float: ...


class ScikitLearn:
    def __init__(self, sizes: tuple[int, ...], rows: LabelledRows, batch: int, seed: int) -> None:
        from sklearn.neural_network import MLPClassifier

        self.model = MLPClassifier(sizes[1:-1], batch_size=batch, random_state=seed, alpha=0.0)
        self.rows, self.classes = rows, np.arange(sizes[-1])

    @without_warnings
    def epoch(self) -> float:
        self.model.partial_fit(self.rows.X, self.rows.y, classes=self.classes)
        return float(self.model.loss_)

    def accuracy(self, rows: LabelledRows) -> float:
        return float(self.model.score(rows.X, rows.y))


class Torch:
    """Eager, or compiled; on the CPU, or on a GPU with the rows there already."""

    def __init__(
        self,
        sizes: tuple[int, ...],
        rows: LabelledRows,
        batch: int,
        seed: int,
        *,
        device: str = "cpu",
        compiled: bool = False,
    ) -> None:
        self.torch = torch = needs("torch")
        torch.manual_seed(seed)
        layers: list[Any] = []
        for m, n in itertools.pairwise(sizes):
            layers += [torch.nn.Linear(m, n), torch.nn.ReLU()]
        self.model = torch.nn.Sequential(*layers[:-1]).to(device)
        self.forward = torch.compile(self.model) if compiled else self.model
        self.adam = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.X = torch.tensor(rows.X, device=device)
        self.y = torch.tensor(rows.y, device=device)
        self.batch, self.device = batch, device

    def epoch(self) -> float:
        torch, total = self.torch, 0.0
        order = torch.randperm(len(self.y), device=self.device)
        for rows in torch.split(order, self.batch):
            self.adam.zero_grad()
            loss = torch.nn.functional.cross_entropy(self.forward(self.X[rows]), self.y[rows])
            loss.backward()
            self.adam.step()
            total = total + loss.detach() * len(rows)
        return float(total) / len(self.y)

    def accuracy(self, rows: LabelledRows) -> float:
        torch = self.torch
        with torch.no_grad():
            label = self.model(torch.tensor(rows.X, device=self.device)).argmax(1)
        return float((label.cpu().numpy() == rows.y).mean())


class Jax:
    """A whole epoch in one compiled scan."""

    def __init__(self, sizes: tuple[int, ...], rows: LabelledRows, batch: int, seed: int) -> None:
        self.jax = jax = needs("jax")
        jnp, rng = jax.numpy, np.random.default_rng(seed)
        weights = [
            (
                jnp.asarray(rng.normal(0, np.sqrt(2 / m), (m, n)), jnp.float32),
                jnp.zeros(n, jnp.float32),
            )
            for m, n in itertools.pairwise(sizes)
        ]
        zeros = jax.tree.map(jnp.zeros_like, weights)
        self.state = (weights, zeros, zeros, jnp.float32(0))
        self.X, self.y, self.batch = jnp.asarray(rows.X), jnp.asarray(rows.y), batch
        self.rng, self.step = rng, jax.jit(self._scan)

    def _loss(self, weights: Any, X: Any, y: Any) -> Any:
        jnp, h = self.jax.numpy, X
        for W, b in weights[:-1]:
            h = jnp.maximum(h @ W + b, 0)
        W, b = weights[-1]
        log_p = self.jax.nn.log_softmax(h @ W + b)
        return -jnp.take_along_axis(log_p, y[:, None], axis=1).mean()

    def _scan(self, state: Any, order: Any) -> Any:
        jax, jnp = self.jax, self.jax.numpy

        def one(state: Any, rows: Any) -> Any:
            weights, m, v, t = state
            loss, g = jax.value_and_grad(self._loss)(weights, self.X[rows], self.y[rows])
            t = t + 1
            m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
            v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
            rate = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
            weights = jax.tree.map(
                lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-8), weights, m, v
            )
            return (weights, m, v, t), loss

        return jax.lax.scan(one, state, order)

    def epoch(self) -> float:
        n = len(self.y) // self.batch * self.batch  # a last short batch would compile again
        order = self.rng.permutation(len(self.y))[:n].reshape(-1, self.batch)
        self.state, losses = self.step(self.state, order)
        return float(losses.mean())

    def accuracy(self, rows: LabelledRows) -> float:
        h = rows.X
        for W, b in self.state[0][:-1]:
            h = np.maximum(h @ np.asarray(W) + np.asarray(b), 0)
        W, b = self.state[0][-1]
        return float(((h @ np.asarray(W) + np.asarray(b)).argmax(1) == rows.y).mean())
