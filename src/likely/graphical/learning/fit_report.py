"""How the tables of a graph were learned."""

from dataclasses import dataclass
from typing import ClassVar, final

from likely.output.formatting import count, fixed
from likely.solvers.minimise import Solution


@final
@dataclass(frozen=True, eq=False)
class FitReport:
    """The method, the likelihood it reached, and how its search ended."""

    saved_before: ClassVar = {
        "structure": "",
        "limits": "",
        "library": None,
    }  # what files of earlier versions lack

    method: str  # "counts", "em" or "gradient"
    weight: float  # Σ_i w_i of the rows
    log_likelihood: float  # of what was observed, in nats; nan where counts left cells out
    solution: Solution | None = None  # None where the estimate has a closed form
    structure: str = ""  # the method that learned the edges; empty where they were given
    limits: str = ""  # what the edges of that method cannot represent
    library: str | None = None  # of the frame of data; samples are frames of it

    @property
    def converged(self) -> bool:
        return self.solution is None or self.solution.converged

    @property
    def n_iter(self) -> int:
        """Steps of the search; 0 where there was none."""
        return 0 if self.solution is None else self.solution.n_iter

    @property
    def trace(self) -> tuple[float, ...]:
        """The log-likelihood with the log-prior, from the start to the end of the search."""
        return () if self.solution is None else tuple(-value for value in self.solution.trace)

    def __str__(self) -> str:
        steps = ""
        if self.solution is not None:
            end = "converged" if self.converged else "not converged"
            steps = f", {end} after {count(self.n_iter, 'step')}"
        edges = f" Edges by {self.structure}: {self.limits}." if self.structure else ""
        return (
            f"Learned by {self.method} from rows of weight {self.weight:g}: log-likelihood "
            f"{fixed(self.log_likelihood, 3)}{steps}.{edges}"
        )
