"""What a careful person writes with other libraries for a table of numbers, or of classes.

Each peer has variants, such as losses: a variant is fitted to the training rows of a fold and
predicts the mean, or the log-probabilities, of the others.  The variant that scores best on all
held-out rows stands for the peer, which flatters it a little.

    careful   scikit-learn: medians and indicators for missing cells, standardised; one-hot with
              rare categories together; ridge, Poisson, gamma or logistic, α by cross-validation
    splines   the same with a cubic spline of 8 quantile knots for each number
    hgb       histogram gradient boosting, under each loss that suits y, with and without stopping
    lightgbm  as it comes, with categories
    ebm       interpret's explainable boosting with 4 bags, on at most 5,000 rows: it is slow
    mgcv      bam(method = "fREML", discrete, select): s(x) for numbers, s(f, bs = "re") for factors
"""

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from likely.metrics import Truth

FEW = 600  # rows below which mgcv has fewer knots
CLASSES = ("binary", "classes", "ordinal")
ALPHAS = np.logspace(-4, 3, 15)
MOST_SECONDS = 30  # of a fit, in which a peer is given up
MOST_BOOSTED, BAGS = 5_000, 4  # rows and bags of EBM


class Rows(NamedTuple):
    """A table for a peer: y is numbers, or codes of classes."""

    X: pd.DataFrame
    y: np.ndarray
    kind: str
    folds: list[tuple[np.ndarray, np.ndarray]]

    @property
    def has_classes(self) -> bool:
        return self.kind in CLASSES

    def truth(self, rows: np.ndarray) -> Truth:
        """The numbers of some rows, as ``compare`` scores them."""
        zeros = self.kind == "real" and bool(self.y.min() == 0)
        return Truth(self.y[rows], kind=self.kind, with_zeros=zeros)

    def losses(self) -> tuple[str, ...]:
        """The names that scikit-learn gives to the losses that suit y."""
        if self.kind == "count":
            return ("squared_error", "poisson", *(["gamma"] if self.y.min() > 0 else []))
        return ("squared_error", "gamma") if self.kind == "positive" else ("squared_error",)


class Held(NamedTuple):
    """What a variant of a peer predicts for held-out rows, and the seconds of a fit."""

    variant: str
    predicted: np.ndarray  # means, or log-probabilities (n, classes)
    seconds: float


def is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def columns_of(X: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Numbers, and other columns; those without a value are left out."""
    filled = [c for c in X if X[c].notna().any()]
    numbers = [c for c in filled if is_number(X[c])]
    return numbers, [c for c in filled if c not in numbers]


def with_categories(X: pd.DataFrame) -> pd.DataFrame:
    """Other columns than numbers as categories."""
    numbers, others = columns_of(X)
    return X[[*numbers, *others]].astype(dict.fromkeys(others, "category"))


def linear_pipeline(X: pd.DataFrame, estimator: Any, *, splines: bool) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

    numbers, others = columns_of(X)
    steps: list[Any] = [SimpleImputer(strategy="median", add_indicator=not splines)]
    if splines:
        steps.append(SplineTransformer(8, knots="quantile", extrapolation="linear"))
    one_hot = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5)
    prepared = ColumnTransformer(
        [
            ("numbers", make_pipeline(*steps, StandardScaler()), numbers),
            (
                "others",
                make_pipeline(SimpleImputer(strategy="constant", fill_value="missing"), one_hot),
                others,
            ),
        ]
    )
    return make_pipeline(prepared, estimator)


def linear_variants(rows: Rows) -> dict[str, Any]:
    from sklearn.linear_model import (
        GammaRegressor,
        LogisticRegressionCV,
        PoissonRegressor,
        RidgeCV,
    )
    from sklearn.model_selection import GridSearchCV

    if rows.has_classes:
        few = LogisticRegressionCV(
            Cs=10, cv=5, scoring="neg_log_loss", max_iter=1000, l1_ratios=(0,),
            solver="newton-cholesky",
            use_legacy_attributes=False,
        )  # fmt: skip
        return {"logistic": few}
    found: dict[str, Any] = {"squared_error": RidgeCV(ALPHAS)}
    for loss, model in (("poisson", PoissonRegressor), ("gamma", GammaRegressor)):
        if loss in rows.losses():
            grid = {"alpha": np.logspace(-5, 1, 7)}
            newton = model(solver="newton-cholesky", max_iter=1000)
            scoring = f"neg_mean_{loss}_deviance"
            found[loss] = GridSearchCV(newton, grid, scoring=scoring)
    return found


def careful(rows: Rows, *, splines: bool = False) -> Iterator[Held]:
    X = rows.X.astype(dict.fromkeys(columns_of(rows.X)[1], object))
    for name, model in linear_variants(rows).items():
        pipeline = linear_pipeline(X, model, splines=splines)
        yield held_out(name, lambda p=pipeline: p, X, rows)


def splines(rows: Rows) -> Iterator[Held]:
    yield from careful(rows, splines=True)


def hgb(rows: Rows) -> Iterator[Held]:
    from sklearn.ensemble import HistGradientBoostingClassifier as OfClasses
    from sklearn.ensemble import HistGradientBoostingRegressor as OfNumbers

    X = with_categories(rows.X)
    for stops in (False, True):
        usual = {"random_state": 0, "early_stopping": stops, "categorical_features": "from_dtype"}
        many = [c for c in columns_of(X)[1] if X[c].nunique() > 255]
        less = X.drop(columns=many)
        for loss in ("log_loss",) if rows.has_classes else rows.losses():
            kind = OfClasses if rows.has_classes else OfNumbers
            name = loss + (" early" if stops else "")
            yield held_out(name, lambda k=kind, u=usual, s=loss: k(loss=s, **u), less, rows)


def lightgbm(rows: Rows) -> Iterator[Held]:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMClassifier if rows.has_classes else LGBMRegressor
    X = with_categories(rows.X)
    X.columns = [f"c{k}" for k in range(X.shape[1])]
    yield held_out(
        "default", lambda: kind(n_jobs=1, verbose=-1, random_state=0), X, rows
    )  # fmt: skip


def ebm(rows: Rows) -> Iterator[Held]:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    if len(rows.y) > MOST_BOOSTED:
        raise ValueError(f"more than {MOST_BOOSTED:,} rows")
    X = with_categories(rows.X)
    others = columns_of(X)[1]
    X = X.astype(dict.fromkeys(others, object)).fillna(dict.fromkeys(others, "missing"))
    if rows.has_classes:
        yield held_out(
            "", lambda: ExplainableBoostingClassifier(outer_bags=BAGS, n_jobs=1), X, rows
        )
        return
    own = {"poisson": "poisson_deviance", "gamma": "gamma_deviance", "squared_error": "rmse"}
    loss = "gamma" if rows.kind == "positive" else rows.losses()[-1 if rows.kind == "real" else 1]
    yield held_out(
        loss,
        lambda: ExplainableBoostingRegressor(objective=own[loss], outer_bags=BAGS, n_jobs=1),
        X,
        rows,
    )


def held_out(variant: str, make: Callable[[], Any], X: pd.DataFrame, rows: Rows) -> Held:
    """The predictions of all folds."""
    n_classes = int(rows.y.max()) + 1 if rows.has_classes else 0
    predicted = np.zeros((len(rows.y), n_classes) if n_classes else len(rows.y))
    seconds = 0.0
    for train, test in rows.folds:
        start = process_time()
        model = make().fit(X.iloc[train], rows.y[train])
        seconds += process_time() - start
        if seconds > MOST_SECONDS and not predicted.any():
            raise ValueError(f"a fit takes {seconds:.0f} s")
        if not n_classes:
            predicted[test] = model.predict(X.iloc[test])
            continue
        places = np.ix_(test, np.asarray(model.classes_, dtype=int))
        predicted[places] = model.predict_proba(X.iloc[test])
    if not np.isfinite(predicted).all():
        raise ValueError("a prediction is not finite")
    if n_classes:
        predicted = np.log(np.maximum(predicted, 1e-15))
    return Held(variant, predicted, seconds / len(rows.folds))


MGCV = """
library(mgcv)
rows <- read.csv("rows.csv"); y <- rows$y; fold <- rows$fold
X <- rows[, setdiff(names(rows), c("y", "fold")), drop=FALSE]
terms <- c()
for (name in names(X)) {
  if (is.numeric(X[[name]])) {
    n <- min(sapply(unique(fold), function(k) length(unique(X[[name]][fold != k]))))
    k <- min(LARGEST_K, n - 1)
    terms <- c(terms, if (n > 4) sprintf("s(%s, k=%d)", name, k) else name)
  } else {
    X[[name]] <- factor(X[[name]])
    terms <- c(terms, sprintf("s(%s, bs='re')", name))
  }
}
f <- as.formula(paste("y ~", paste(terms, collapse=" + ")))
seconds <- 0; mean <- rep(NA, length(y))
for (k in sort(unique(fold))) {
  here <- fold != k
  train <- cbind(X[here, , drop=FALSE], y=y[here])
  start <- proc.time()
  model <- bam(f, data=train, family=FAMILY, method="fREML", discrete=TRUE, select=TRUE)
  seconds <- seconds + sum((proc.time() - start)[1:2])
  mean[!here] <- predict(model, X[!here, , drop=FALSE], type="response", discrete=FALSE)
}
write.csv(data.frame(mean=mean, seconds=seconds/length(unique(fold))), "mean.csv", row.names=FALSE)
"""


def mgcv(rows: Rows) -> Iterator[Held]:
    """Means by bam; of classes only two, for which it has a family.  Medians fill missing cells."""
    if rows.kind in ("classes", "ordinal"):
        raise ValueError("bam has no family for several classes")
    families = {
        "squared_error": "gaussian()",
        "poisson": "quasipoisson()",
        "gamma": "Gamma(link='log')",
    }
    wanted = ["binomial()"] if rows.has_classes else [families[loss] for loss in rows.losses()]
    wanted += ["nb()"] if "poisson" in rows.losses() and not rows.has_classes else []
    numbers, others = columns_of(rows.X)
    several = [name for name in (*numbers, *others) if rows.X[name].nunique() > 1]
    others = [name for name in others if name in several]
    X = rows.X[several].astype(dict.fromkeys(others, str))
    for name in set(numbers) & set(several):
        if X[name].isna().any():
            X[f"{name}_missing"] = X[name].isna().astype(int)
            X[name] = X[name].fillna(X[name].median())
    X.columns = [f"c{k}" for k in range(X.shape[1])]
    fold = np.zeros(len(rows.y), dtype=int)
    for k, (_, test) in enumerate(rows.folds):
        fold[test] = k
    for family in wanted:
        with tempfile.TemporaryDirectory() as folder:
            X.assign(y=rows.y, fold=fold).to_csv(Path(folder) / "rows.csv", index=False)
            k = "10" if len(fold) < FEW else "20"
            (Path(folder) / "fit.R").write_text(
                MGCV.replace("FAMILY", family).replace("LARGEST_K", k)
            )
            done = subprocess.run(
                ["Rscript", "fit.R"], cwd=folder, capture_output=True, text=True, check=False,
                timeout=600,
            )  # fmt: skip
            if done.returncode:
                if family == wanted[-1] or "coefficients than data" in done.stderr:
                    raise ValueError(done.stderr[-300:])
                continue
            found = pd.read_csv(Path(folder) / "mean.csv")
        mean = found["mean"].to_numpy(dtype=float)
        if rows.has_classes:
            mean = np.log(np.clip(np.column_stack([1 - mean, mean]), 1e-15, 1))
        yield Held(family, mean, float(found["seconds"].iloc[0]))


PEERS: dict[str, Callable[[Rows], Iterator[Held]]] = {
    each.__name__: each for each in (careful, splines, hgb, lightgbm, ebm, mgcv)
}
BOOSTERS = ("hgb", "lightgbm", "ebm")
