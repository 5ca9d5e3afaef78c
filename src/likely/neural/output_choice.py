"""The output that suits a response, a link and a target."""

from typing import Any

from likely.errors import InvalidInput
from likely.likelihoods.base import Likelihood, Response
from likely.likelihoods.categorical import Categorical
from likely.likelihoods.ordinal import Ordinal
from likely.likelihoods.responses import likelihood_of, response_named
from likely.links import LINKS, Identity, Link, Log, Logit, UnitLink
from likely.names import lookup
from likely.neural.outputs import (
    CategoricalOutput,
    OrdinalOutput,
    Output,
    ScalarOutput,
    SquareErrorSigmoid,
    SquareErrorSoftmax,
)
from likely.output.formatting import all_listed

OF_CLASSES = ("bernoulli", "categorical", "ordinal", "square-error-sigmoid", "square-error-softmax")

EVERY_ETA = Identity.etas


def output_of(
    response: str | Response | Categorical | Ordinal | None = None,
    *,
    n_classes: int | None = None,
    n_outputs: int = 1,
    link: str | Link | None = None,
) -> Output:
    """The output of a response by name or as a part; ``n_classes`` is None for numbers.

    Without a response, two classes are Bernoulli, more are categorical, and numbers are Gaussian.
    Without a link, it is the response's own, or the log where that one needs η > 0, which the last
    layer of a network does not promise.

    >>> output_of(n_classes=2).name, output_of(n_classes=3).name, output_of("poisson").name
    ('bernoulli (logit link)', 'categorical', 'poisson (log link)')
    >>> output_of("gamma").name
    'gamma (log link)'
    """
    if n_classes is not None:
        return _of_classes(response, n_classes, link)
    name = _name(response)
    if name == "square-error-sigmoid":
        _refuse_link(name, link)
        return SquareErrorSigmoid(n_outputs)
    if name in OF_CLASSES and name != "bernoulli":
        raise InvalidInput(
            f"The response {name!r} is for classes; y has numbers. Use a classifier, or "
            "response='gaussian'."
        )
    assert not isinstance(response, Categorical | Ordinal)
    return ScalarOutput(_scalar(response or "gaussian", link), n_outputs)


def _of_classes(response: Any, n_classes: int, link: str | Link | None) -> Output:
    name = _name(response) or ("bernoulli" if n_classes == 2 else "categorical")
    if name == "ordinal":
        return OrdinalOutput(_ordinal(response, n_classes, link))
    if name == "bernoulli" and n_classes == 2:
        scalar = response if isinstance(response, Response) else name
        return ScalarOutput(_scalar(scalar, link), classes=True)
    _refuse_link(name, link)
    if name == "categorical":
        return CategoricalOutput(n_classes)
    if name == "square-error-softmax":
        return SquareErrorSoftmax(n_classes)
    if name == "square-error-sigmoid" and n_classes == 2:
        return SquareErrorSigmoid(classes=True)
    many = "" if n_classes == 2 else f" with {n_classes} classes"
    raise InvalidInput(
        f"The response {name!r} cannot be used for classes{many}; expected one of "
        f"{all_listed(OF_CLASSES, 'or')}, of which bernoulli and square-error-sigmoid are for two "
        "classes. Leave response out to have the one that fits."
    )


def _name(response: Any) -> str | None:
    if response is None:
        return None
    if isinstance(response, Categorical):
        return "categorical"
    if isinstance(response, Ordinal):
        return "ordinal"
    if isinstance(response, str) and response.replace("_", "-") in OF_CLASSES:
        return response.replace("_", "-")
    return response_named(response).name


def _scalar(response: str | Response, link: str | Link | None) -> Likelihood:
    found = likelihood_of(response, link)
    return (
        found
        if link is not None or found.link.etas == EVERY_ETA
        else found.response.with_link(Log())
    )


def _ordinal(response: Any, n_classes: int, link: str | Link | None) -> Ordinal:
    if isinstance(response, Ordinal):
        if response.n_classes != n_classes:
            raise InvalidInput(
                f"The ordinal response has {response.n_classes} classes, and y has {n_classes}; "
                "expected equal numbers. Use response='ordinal'."
            )
        return response
    chosen = Logit() if link is None else lookup("link", link, LINKS)
    if not isinstance(chosen, UnitLink):
        fitting = [name for name, each in LINKS.items() if isinstance(each, UnitLink)]
        raise InvalidInput(
            f"The link {chosen.name!r} does not give probabilities; an ordinal response needs one "
            f"of {all_listed(fitting, 'or')}."
        )
    return Ordinal(n_classes, chosen)


def _refuse_link(name: str, link: Any) -> None:
    if link is not None:
        raise InvalidInput(
            f"The link {link!r} was given with response={name!r}, which has a link of its own; "
            "expected link=None."
        )
