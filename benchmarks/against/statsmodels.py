"""statsmodels, without penalty: GLM by IRLS on the deviance, OrderedModel by BFGS."""

import numpy as np

from benchmarks.linear_problems import Binary, Mixed, Ordered
from benchmarks.objectives import Cumulative, Linear
from benchmarks.race import Fit, needs
from benchmarks.workbench import without_warnings

MANY = 1000  # iterations: the tolerance stops the fit


@without_warnings
def binary(problem: Binary, tolerance: float) -> Fit:
    api = needs("statsmodels.api")
    links = api.families.links
    link = {"logit": links.Logit, "probit": links.Probit, "cloglog": links.CLogLog}[problem.link]()
    X = api.add_constant(problem.X)
    result = api.GLM(problem.y, X, family=api.families.Binomial(link)).fit(
        tol=tolerance, maxiter=MANY
    )
    return Fit(lambda: Linear(result.params[1:], float(result.params[0])))


@without_warnings
def mixed(problem: Mixed, tolerance: float) -> Fit:
    """Dummies without the first level, made from the frame as part of the work."""
    import pandas as pd

    api = needs("statsmodels.api")
    families = api.families
    family = {"poisson": families.Poisson, "gamma": families.Gamma}[problem.response]
    X = api.add_constant(pd.get_dummies(problem.frame, drop_first=True, dtype=float))
    model = api.GLM(
        problem.y, X, family=family(families.links.Log()), offset=np.log(problem.exposure)
    )
    result = model.fit(tol=tolerance, maxiter=MANY)
    return Fit(lambda: np.asarray(result.fittedvalues))


@without_warnings
def ordinal(problem: Ordered, tolerance: float) -> Fit:
    ordered_model = needs("statsmodels.miscmodels.ordinal_model").OrderedModel
    model = ordered_model(problem.y, problem.X, distr="logit")
    result = model.fit(method="bfgs", gtol=tolerance, maxiter=MANY, disp=False)
    d = problem.X.shape[1]
    params = np.asarray(result.params)
    return Fit(lambda: Cumulative(params[:d], model.transform_threshold_params(params)[1:-1]))
