"""Optimisation algorithms, and the loop that runs them."""

from likely.solvers.base import (
    FirstOrder,
    FirstOrderObjective,
    SecondOrder,
    SmoothObjective,
    Solver,
    State,
)
from likely.solvers.batched import PENALTY_SCALINGS, Batch, BatchedObjective, ExampleLosses
from likely.solvers.choice import CLOSED_FORMS, SOLVERS, NamedSolver
from likely.solvers.em import EM, ExpectationObjective
from likely.solvers.gradient_descent import FixedStep, GradientDescent, gradient_step
from likely.solvers.gradient_noise import GradientNoise, gradient_noise
from likely.solvers.lbfgs import LBFGS
from likely.solvers.least_squares import solve_minimum_norm, solve_normal_equations, solve_qr
from likely.solvers.mini_batches import (
    BalancedBatches,
    BatchPlan,
    SampledBatches,
    ShuffledBatches,
    batches,
    epoch_order,
)
from likely.solvers.minimise import Negated, Solution, maximise, minimise
from likely.solvers.newton import Newton
from likely.solvers.proximal import FISTA
from likely.solvers.proximal_newton import ProximalNewton
from likely.solvers.schedules import (
    SCHEDULES,
    Constant,
    Cosine,
    HoldThenDecay,
    InverseTime,
    ReduceOnPlateau,
    Schedule,
    StepDecay,
    WarmUp,
)
from likely.solvers.stochastic import StochasticDescent
from likely.solvers.stopping import (
    HeldOutPatience,
    Iterations,
    Patience,
    Progress,
    Seconds,
    SmallChange,
    SmallStep,
    Stop,
    StoppingRule,
    Tolerance,
)
from likely.solvers.updates import (
    UPDATES,
    AdaGrad,
    Adam,
    AdamW,
    Clip,
    Clipped,
    Momentum,
    Nesterov,
    Plain,
    RMSProp,
    Update,
)

__all__ = [
    "CLOSED_FORMS",
    "EM",
    "FISTA",
    "LBFGS",
    "PENALTY_SCALINGS",
    "SCHEDULES",
    "SOLVERS",
    "UPDATES",
    "AdaGrad",
    "Adam",
    "AdamW",
    "BalancedBatches",
    "Batch",
    "BatchPlan",
    "BatchedObjective",
    "Clip",
    "Clipped",
    "Constant",
    "Cosine",
    "ExampleLosses",
    "ExpectationObjective",
    "FirstOrder",
    "FirstOrderObjective",
    "FixedStep",
    "GradientDescent",
    "GradientNoise",
    "HeldOutPatience",
    "HoldThenDecay",
    "InverseTime",
    "Iterations",
    "Momentum",
    "NamedSolver",
    "Negated",
    "Nesterov",
    "Newton",
    "Patience",
    "Plain",
    "Progress",
    "ProximalNewton",
    "RMSProp",
    "ReduceOnPlateau",
    "SampledBatches",
    "Schedule",
    "SecondOrder",
    "Seconds",
    "ShuffledBatches",
    "SmallChange",
    "SmallStep",
    "SmoothObjective",
    "Solution",
    "Solver",
    "State",
    "StepDecay",
    "StochasticDescent",
    "Stop",
    "StoppingRule",
    "Tolerance",
    "Update",
    "WarmUp",
    "batches",
    "epoch_order",
    "gradient_noise",
    "gradient_step",
    "maximise",
    "minimise",
    "solve_minimum_norm",
    "solve_normal_equations",
    "solve_qr",
]
