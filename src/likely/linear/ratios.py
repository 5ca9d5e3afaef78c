"""What exp(β) is: an odds ratio, a rate ratio, a hazard ratio, by the response and its link.

    logit     odds(x + 1)/odds(x) = exp(β)            odds = p/(1 − p), or P(Y > j)/P(Y ≤ j)
    log       μ(x + 1)/μ(x) = exp(β)                  of rates, risks or means
    cloglog   ln(1 − p(x + 1))/ln(1 − p(x)) = exp(β)  of cumulative hazards in a period

Intervals are those of β, with both ends transformed: a ratio of 1 is in them where 0 is in that of
the coefficient.

References
----------
Agresti, Categorical Data Analysis, 3rd ed., §5.1, §6.6 and §9.2.
"""

from typing import Any

RATIOS = {  # by the name of the response and that of the link
    ("bernoulli", "logit"): "odds ratio",
    ("bernoulli", "log"): "risk ratio",
    ("bernoulli", "cloglog"): "hazard ratio",
    ("poisson", "log"): "rate ratio",
    ("negative-binomial", "log"): "rate ratio",
    ("classes", "logit"): "odds ratio",  # of Y > j, for every j
}


def ratio_of(response: str, link: Any) -> str:
    """The name of exp(β); nothing where it has no meaning of its own.

    >>> ratio_of("poisson", "log"), ratio_of("gamma", "log"), ratio_of("bernoulli", "probit")
    ('rate ratio', 'ratio of means', '')
    """
    name = link if isinstance(link, str) or link is None else link.name
    if name == "log":
        return RATIOS.get((response, name), "ratio of means")
    return RATIOS.get((response, str(name)), "")


def plural(ratio: str) -> str:
    """The heading of a table of ratios.

    >>> plural("odds ratio"), plural("ratio of means")
    ('Odds ratios', 'Ratios of means')
    """
    return ratio.replace("ratio", "ratios").capitalize()
