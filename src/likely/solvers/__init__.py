"""Optimisation algorithms, and the loop that runs them."""

from likely.solvers.base import FirstOrder, SecondOrder, SmoothObjective, Solver, State
from likely.solvers.choice import CLOSED_FORMS, SOLVERS, NamedSolver
from likely.solvers.em import EM, ExpectationObjective
from likely.solvers.gradient_descent import FixedStep, GradientDescent, gradient_step
from likely.solvers.lbfgs import LBFGS
from likely.solvers.least_squares import solve_minimum_norm, solve_normal_equations, solve_qr
from likely.solvers.maximise import Negated, maximise
from likely.solvers.minimise import Solution, minimise
from likely.solvers.newton import Newton
from likely.solvers.proximal import FISTA
from likely.solvers.proximal_newton import ProximalNewton
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

__all__ = [
    "CLOSED_FORMS",
    "EM",
    "FISTA",
    "LBFGS",
    "SOLVERS",
    "ExpectationObjective",
    "FirstOrder",
    "FixedStep",
    "GradientDescent",
    "HeldOutPatience",
    "Iterations",
    "NamedSolver",
    "Negated",
    "Newton",
    "Patience",
    "Progress",
    "ProximalNewton",
    "SecondOrder",
    "Seconds",
    "SmallChange",
    "SmallStep",
    "SmoothObjective",
    "Solution",
    "Solver",
    "State",
    "Stop",
    "StoppingRule",
    "Tolerance",
    "gradient_step",
    "maximise",
    "minimise",
    "solve_minimum_norm",
    "solve_normal_equations",
    "solve_qr",
]
