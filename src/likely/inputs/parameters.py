"""Parameters of other libraries: an unknown parameter is answered with its name in ``likely``.

``LogisticRegression(C=0.1)`` raises, from the constructor, from ``set_params`` and from ``--set``:

    LogisticRegression has no parameter 'C'. scikit-learn's C is l2 = 1/C.

To add a name, write one line in ``PEERS``: the parameter of ours that does it (``fit.name`` for an
argument of ``fit``, empty where there is none), and a sentence.
"""

from collections.abc import Collection, Iterable, Mapping
from inspect import CO_VARKEYWORDS
from typing import NamedTuple, Self

from likely.errors import UnknownParameter


class Peer(NamedTuple):
    """A parameter of another library: ours in its place, and how they are related."""

    ours: str
    text: str


_EVERY: dict[str, Peer] = {
    "n_jobs": Peer("executor", 'n_jobs is executor: "auto", "serial" for one core, or "threads"'),
    "verbose": Peer("", "nothing is printed during a fit, so there is no verbose: leave it out"),
    "copy_X": Peer("", "the data are never changed, so there is no copy_X: leave it out"),
    "copy": Peer("", "the data are never changed, so there is no copy: leave it out"),
    "seed": Peer("random_state", "seed is random_state"),
    "n_iter": Peer("max_iter", "n_iter is max_iter"),
    "exog": Peer("", "the columns are the first argument of fit: fit(X, y)"),
    "endog": Peer("", "the response is the second argument of fit: fit(X, y)"),
}
_WEIGHTED = {
    "class_weight": Peer(
        "fit.sample_weight",
        "class_weight is sample_weight of fit: give each row the weight of its class "
        "(sklearn.utils.class_weight.compute_sample_weight)",
    ),
}
_LINEAR: dict[str, Peer] = {
    "C": Peer("l2", "scikit-learn's C is l2 = 1/C"),
    "alpha": Peer(
        "l2", "scikit-learn's alpha of Ridge is l2; that of Lasso, times the rows, is l1"
    ),
    "l1_ratio": Peer(
        "l1",
        "scikit-learn's l1_ratio is a share of the penalty: with C, give l1 = l1_ratio/C and "
        "l2 = (1 - l1_ratio)/C",
    ),
    "lambda_": Peer("l2", "lambda_ is l2, or l1 for absolute values"),
    "reg_lambda": Peer("l2", "reg_lambda is l2"),
    "reg_alpha": Peer("l1", "reg_alpha is l1"),
    "dual": Peer("solver", "the dual problem is solved where it is smaller; solver names a method"),
    "cov_type": Peer(
        "standard_errors", 'cov_type="HC1" is standard_errors="hc1"; the rest are listed there'
    ),
    "freq_weights": Peer("fit.sample_weight", "freq_weights is sample_weight of fit"),
    "var_weights": Peer("fit.sample_weight", "var_weights is sample_weight of fit"),
    "missing": Peer("", "missing cells are refused, with their place: impute them (Prepared does)"),
}
_INTERCEPT = {
    "intercept": Peer("fit_intercept", "intercept is fit_intercept"),
    "add_constant": Peer("fit_intercept", "a constant is added by fit_intercept=True, the default"),
    "hasconst": Peer("fit_intercept", "hasconst is fit_intercept=False, with a constant in X"),
    "intercept_scaling": Peer("", "the intercept has no penalty by default: leave it out"),
}
_CLASSES = {
    **_LINEAR,
    **_WEIGHTED,
    "alpha": Peer("l2", "scikit-learn's alpha of SGDClassifier, times the number of rows, is l2"),
    "multi_class": Peer("", "two classes are LogisticRegression, more are SoftmaxRegression"),
}
_MEANS = {
    **_LINEAR,
    **_INTERCEPT,
    "weights": Peer("fit.sample_weight", "weights is sample_weight of fit"),
    "positive": Peer("", "coefficients have no bounds here: leave it out"),
    "normalize": Peer("", "columns are not scaled by the model: use Prepared(model)"),
}
_FAMILY = "family=sm.families.Poisson() is GLM('poisson'): the name is the first argument, response"
_BY_REML = "the strength of each penalty is found by REML"
_ADDITIVE: dict[str, Peer] = {
    **_WEIGHTED,
    "formula": Peer("terms", "columns are taken from X; terms={'x': Smooth(k=20)} changes them"),
    "data": Peer("", "the rows are arguments of fit: fit(frame, 'y')"),
    "family": Peer("response", "family=poisson() is response='poisson'"),
    "distribution": Peer("response", "pyGAM's distribution is response"),
    "weights": Peer("fit.sample_weight", "weights is sample_weight of fit"),
    "method": Peer("", f"{_BY_REML}, so there is no method: leave it out"),
    "select": Peer("", "a curve without information shrinks to 0, as with select=TRUE"),
    "sp": Peer("", f"{_BY_REML}, so there is no sp: leave it out"),
    "lam": Peer("", f"{_BY_REML}, so there is no lam: leave it out"),
    "gamma": Peer("", f"{_BY_REML}, whose criterion has no gamma: leave it out"),
    "alpha": Peer("", f"{_BY_REML}, so there is no alpha: leave it out"),
    "l2": Peer("", f"{_BY_REML}, so there is no l2: leave it out"),
    "C": Peer("", f"{_BY_REML}, so there is no C: leave it out"),
    "n_splines": Peer("terms", "n_splines is k of a column: terms={'x': Smooth(k=20)}"),
    "k": Peer("terms", "k is one of a column: terms={'x': Smooth(k=20)}"),
    "cyclic": Peer("terms", "a period is one of a column: terms={'hour': Smooth(cyclic=24)}"),
    "knots": Peer("", "knots follow the values of a column: leave them out"),
    "constraints": Peer("", "curves have no constraints, such as rising: leave them out"),
    "feature_types": Peer("terms", "interpret's feature_types is terms={'zip': 'category'}"),
}
_NO_BASIS = (
    'curves are cubic splines, so there is no bs: "cc" is Smooth(cyclic=24), with the period, and '
    "\"re\", a random intercept, is terms={'g': 'category'}"
)
_SMOOTH: dict[str, Peer] = {
    "bs": Peer("", _NO_BASIS),
    "basis": Peer("", _NO_BASIS.replace("no bs", "no basis")),
    "by": Peer(
        "",
        "there is no by: a curve for each level of g is interactions=[('x', 'g')], beside the "
        "curve of x and the levels of g; a curve times a number is not fitted",
    ),
    "n_splines": Peer("k", "n_splines is k"),
    "period": Peer("cyclic", "period is cyclic"),
    "spline_order": Peer("", "splines are cubic: leave it out"),
    "m": Peer("", "the penalty is on the second derivative, m=2: leave it out"),
    "fx": Peer("", "a curve always has its penalty, fx=FALSE: leave it out"),
    "sp": _ADDITIVE["sp"],
    "lam": _ADDITIVE["lam"],
    "knots": _ADDITIVE["knots"],
    "constraints": _ADDITIVE["constraints"],
    "id": Peer("", "each curve has a strength of its own, so there is no id: leave it out"),
    "pc": Peer("", "a curve is 0 on average, so there is no pc: leave it out"),
}
_GAUSSIAN = {
    "covariance_type": Peer(
        "covariance", 'covariance_type is covariance; "diag" is called "diagonal"'
    ),
}
_MIXTURE: dict[str, Peer] = {
    "n_clusters": Peer("n_components", "n_clusters is n_components"),
    "reg_covar": Peer(
        "regularisation",
        "reg_covar is replaced by regularisation, a prior that is relative to the variance of the "
        "data; both are off at 0",
    ),
    "weights_init": Peer("start", 'weights_init is start={"mixing": …}'),
    "means_init": Peer("start", 'means_init is start={"mean": …}'),
    "precisions_init": Peer("start", 'precisions_init is start={"covariance": …}, not inverted'),
    "init_params": Peer("start", "starts are by k-means++; your own is start={…}"),
    "warm_start": Peer("start", "warm_start is start= the fitted model"),
}
_NETWORK: dict[str, Peer] = {
    "hidden_layer_sizes": Peer("hidden", "hidden_layer_sizes is hidden"),
    "layers": Peer("hidden", "layers is hidden: the sizes of the hidden layers"),
    "alpha": Peer("l2", "scikit-learn's alpha is l2, added to the sum over all rows"),
    "weight_decay": Peer("l2", "weight_decay, times the number of rows, is l2"),
    "batch_size": Peer("batch", "batch_size is batch"),
    "max_iter": Peer("max_epochs", "max_iter is max_epochs"),
    "epochs": Peer("max_epochs", "epochs is max_epochs"),
    "lr": Peer("learning_rate", "lr is learning_rate"),
    "learning_rate_init": Peer("learning_rate", "learning_rate_init is learning_rate"),
    "optimizer": Peer("solver", "optimizer is solver"),
    "power_t": Peer("schedule", "how the rate decreases is schedule"),
    "nesterovs_momentum": Peer("solver", 'nesterovs_momentum=True is solver="nesterov"'),
    "beta_1": Peer("solver", "beta_1 is an argument of the solver: likely.solvers.Adam"),
    "beta_2": Peer("solver", "beta_2 is an argument of the solver: likely.solvers.Adam"),
    "epsilon": Peer("solver", "epsilon is an argument of the solver: likely.solvers.Adam"),
    "validation_fraction": Peer("validation", "validation_fraction is validation"),
    "n_iter_no_change": Peer(
        "early_stopping", "n_iter_no_change is early_stopping=10, a number of epochs"
    ),
    "warm_start": Peer(
        "training",
        'partial_fit continues a fit; training=Training(resume="file"), one that was interrupted',
    ),
    "shuffle": Peer("batch", "shuffle is batch=Batches(shuffle=False), or batch__shuffle"),
    "balanced": Peer("batch", "balanced is batch=Batches(balanced=True), or batch__balanced"),
    "patience": Peer(
        "early_stopping",
        "patience is early_stopping=10, a number of epochs, or early_stopping__patience",
    ),
    "penalty_scaling": Peer(
        "penalty", 'penalty_scaling is penalty=WeightPenalty(scaling="mean"), or penalty__scaling'
    ),
    "trainable": Peer(
        "initialise",
        "trainable is initialise=StartValues(trainable=[-1]), or initialise__trainable",
    ),
    "callbacks": Peer("training", "callbacks is training=Training(callbacks=[…])"),
    "checkpoint": Peer("training", 'checkpoint is training=Training(checkpoint="file")'),
    "resume": Peer("training", 'resume is training=Training(resume="file")'),
    "evaluate_training": Peer("training", "evaluate_training is training=Training(evaluate=False)"),
    "n_jobs": Peer("", "all cores are used: leave it out"),
    "n_iter": Peer("max_epochs", "n_iter is max_epochs"),
}
_SCALING = {
    "method": Peer(
        "", "the method is the class: PlattScaling, IsotonicScaling, TemperatureScaling"
    ),
    "ensemble": Peer("", "there is one classifier and one map, as with ensemble=False"),
    "base_estimator": Peer("estimator", "base_estimator is estimator"),
}

PEERS: dict[str, Mapping[str, Peer]] = {
    "AdditiveModel": {
        **_ADDITIVE,
        "offset": Peer("fit.offset", "offset is an argument of fit"),
        "exposure": Peer("fit.exposure", "exposure is an argument of fit"),
    },
    "AdditiveClassifier": _ADDITIVE,
    "Smooth": _SMOOTH,
    "LinearRegression": _MEANS,
    "LogisticRegression": {
        **_CLASSES,
        **_INTERCEPT,
        "family": Peer("link", "family=sm.families.Binomial(link) is link; other families are GLM"),
    },
    "SoftmaxRegression": {**_CLASSES, **_INTERCEPT},
    "MaxEntropy": {**_CLASSES, **_INTERCEPT},
    "OrdinalRegression": {
        **_CLASSES,
        "distr": Peer("link", 'statsmodels\' distr="logit" is link="logit"'),
    },
    "GLM": {
        **_MEANS,
        **_WEIGHTED,
        "family": Peer("response", _FAMILY),
        "alpha": Peer("l2", "scikit-learn's alpha, times the number of rows, is l2"),
        "power": Peer("response", 'power=1.5 is response="tweedie(1.5)"'),
        "offset": Peer("fit.offset", "offset is an argument of fit"),
        "exposure": Peer("fit.exposure", "exposure is an argument of fit"),
    },
    "PenaltyPath": {
        "alphas": Peer("penalties", "alphas, times the number of rows, are penalties"),
        "Cs": Peer("penalties", "Cs are penalties = 1/Cs"),
        "lambdas": Peer("penalties", "lambdas are penalties"),
        "n_alphas": Peer("n_penalties", "n_alphas is n_penalties"),
        "eps": Peer("smallest", "eps is smallest"),
        "alpha": Peer("along", 'glmnet\'s alpha is along: "l1" for the lasso, "l2" for ridge'),
        "nfolds": Peer("cv", "nfolds is cv"),
    },
    "NaiveBayes": {
        **_WEIGHTED,
        "alpha": Peer("smoothing", "scikit-learn's alpha is smoothing"),
        "var_smoothing": Peer(
            "variance_floor",
            "scikit-learn's var_smoothing adds to every variance; variance_floor is a minimum",
        ),
        "priors": Peer("prior", "priors is prior"),
        "class_prior": Peer("prior", "class_prior is prior"),
        "fit_prior": Peer("prior", 'fit_prior=False is prior="uniform"'),
        "binarize": Peer("", "features of a Bernoulli are 0 or 1: binarize them first"),
        "norm": Peer("", "the weights of complement naive Bayes are not normalised: leave it out"),
        "min_categories": Peer(
            "event", "min_categories=6 is event=likely.distributions.CategoricalFamily((6,))"
        ),
    },
    "DiscriminantAnalysis": {
        **_WEIGHTED,
        **_GAUSSIAN,
        "priors": Peer("prior", "priors is prior"),
        "reg_param": Peer("shrinkage", "reg_param is shrinkage"),
        "solver": Peer("", "the fit has a closed form: leave it out"),
        "store_covariance": Peer("", "the covariances are always kept: leave it out"),
        "n_components": Peer("", "DiscriminantAnalysis classifies: leave it out"),
    },
    "GaussianMixture": {**_GAUSSIAN, **_MIXTURE},
    "MixtureModel": {**_MIXTURE, "covariance_type": Peer("event", 'columns have event="gaussian"')},
    "HiddenMarkovModel": {
        **_GAUSSIAN,
        **_MIXTURE,
        "n_components": Peer("n_states", "hmmlearn's n_components is n_states"),
        "n_clusters": Peer("n_states", "n_clusters is n_states"),
        "startprob_prior": Peer("start_smoothing", "startprob_prior is start_smoothing + 1"),
        "transmat_prior": Peer(
            "transition_smoothing", "transmat_prior is transition_smoothing + 1"
        ),
    },
    "BayesianNetworkClassifier": {
        "alpha": Peer("smoothing", "alpha is smoothing"),
        "equivalent_sample_size": Peer("smoothing", "an equivalent sample size is smoothing"),
    },
    "NeuralNetworkClassifier": _NETWORK,
    "NeuralNetworkRegressor": _NETWORK,
    "Discretizer": {
        "encode": Peer("", "bins are always codes from 0, which NaiveBayes reads as they are"),
        "bins": Peer("n_bins", "bins is n_bins"),
        "q": Peer("n_bins", "q is n_bins"),
    },
    "BasisFunctions": {
        "n_knots": Peer("centres", "n_knots is centres"),
        "knots": Peer("centres", "knots is centres"),
        "gamma": Peer("width", "gamma is 1/(2·width²)"),
    },
    "BagOfWords": {
        "tokenizer": Peer("token_pattern", "words are cut by token_pattern, a regular expression"),
        "preprocessor": Peer("", "change the documents before: preprocessor is not a parameter"),
    },
    "PlattScaling": _SCALING,
    "IsotonicScaling": _SCALING,
    "TemperatureScaling": _SCALING,
    "TextClassifier": {
        "vectorizer": Peer("words", "vectorizer is words: a BagOfWords"),
        "estimator": Peer("model", "estimator is model"),
        "classifier": Peer("model", "classifier is model"),
    },
}


def peer_of(estimator: str, name: str, known: Iterable[str]) -> Peer | None:
    """What another library's parameter is in an estimator of ours; None where nothing is known."""
    own, common = PEERS.get(estimator, {}).get(name), _EVERY.get(name)
    if own is None and common is not None and common.ours and common.ours not in known:
        return None
    return own or common


def unknown_parameter(estimator: str, name: str, known: Iterable[str]) -> UnknownParameter:
    """The error for a name that is not among the parameters of an estimator."""
    known = list(known)
    peer = peer_of(estimator, name, known)
    return UnknownParameter(estimator, name, known, "" if peer is None else peer.text)


def refuse_unknown_parameters(kind: type, given: Collection[str]) -> None:
    """Refuse names that are not among the arguments of the constructor of a class."""
    made_by = kind.__init__  # type: ignore[misc]  # of this class itself
    code = getattr(made_by, "__code__", None)  # a signature would take 100 times as long
    if given and not (code and code.co_flags & CO_VARKEYWORDS):
        known = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount] if code else ()
        for name in given:
            if name not in known:
                raise unknown_parameter(kind.__name__, name, known)


class KnownParameters:
    """A value whose constructor answers an unknown parameter with its name here."""

    def __new__(cls, *args: object, **parameters: object) -> Self:
        refuse_unknown_parameters(cls, parameters)
        return super().__new__(cls)
