"""``RESPONSES``, the list of scalar responses, and the likelihood of a response and a link.

To add a response, write one class and list it here: the laws in
``tests/laws/test_likelihoods.py``, the docs table and the command line read that list.
"""

from likely.errors import InvalidInput
from likely.likelihoods.base import Likelihood, Response
from likely.likelihoods.bernoulli import Bernoulli
from likely.likelihoods.gamma import Exponential, Gamma
from likely.likelihoods.gaussian import Gaussian
from likely.likelihoods.inverse_gaussian import InverseGaussian
from likely.likelihoods.log_normal import LogNormal
from likely.likelihoods.negative_binomial import NegativeBinomial
from likely.likelihoods.poisson import Poisson
from likely.likelihoods.tweedie import Tweedie
from likely.links import Link
from likely.names import check_part, lookup

RESPONSES: dict[str, Response] = {
    response.name: response
    for response in (
        Gaussian(),
        Bernoulli(),
        Poisson(),
        Exponential(),
        Gamma(),
        InverseGaussian(),
        LogNormal(),
        NegativeBinomial(),
        Tweedie(),
    )
}

OF_NUMBER = {  # as tweedie(1.7)
    "log-normal": LogNormal,
    "negative-binomial": NegativeBinomial,
    "tweedie": Tweedie,
}
ALIASES = {  # what others call them
    "binomial": "bernoulli",
    "lognormal": "log-normal",
    "normal": "gaussian",
}


def response_named(response: str | Response) -> Response:
    """A response by its name or another common name; a response is returned as it is.

    >>> response_named("negative-binomial(0.5)")
    NegativeBinomial(alpha=0.5)
    """
    if not isinstance(response, str):
        check_part("response", response, Response, RESPONSES)
        return response
    if response.startswith("quasi"):
        _refuse_quasi(response)
    return lookup("response", ALIASES.get(response, response), RESPONSES, OF_NUMBER)


def _refuse_quasi(response: str) -> None:
    """A quasi-likelihood is a response with a dispersion that standard errors estimate."""
    named = response.removeprefix("quasi").lstrip("-_ ")
    name = ALIASES.get(named, named)
    name = name if name in RESPONSES else "poisson"
    raise InvalidInput(
        f"The response {response!r} was given; quasi-likelihood is a kind of standard errors here, "
        f'not a response. Use GLM("{name}", standard_errors="quasi").'
    )


def likelihood_of(response: str | Response, link: str | Link | None = None) -> Likelihood:
    """A response and a link, by name or as parts; ``None`` is the response's own link.

    >>> likelihood_of("poisson").link.name
    'log'
    """
    return response_named(response).likelihood(link)
