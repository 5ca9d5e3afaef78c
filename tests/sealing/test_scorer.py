"""Sealing works with what it is given, and brings no model, no metric and no scikit-learn."""

import subprocess
import sys
import textwrap

ALONE = """
    import sys
    from pathlib import Path

    import numpy as np
    import pyarrow as pa

    from likely.sealing.create import Origin, SealTerms, create_seal
    from likely.sealing.evaluation import evaluate
    from likely.sealing.folder import TRAIN
    from likely.sealing.final_score import Scorer
    from likely.sealing.sealed import Sealed
    from likely.sealing.judges import ModelSubmission

    class AbsoluteError(Scorer):
        name = "absolute error"

        def predictions(self, model, X):
            return {"mean": model(X.column("x").to_numpy())}

        def losses(self, predictions, y):
            return np.abs(y - predictions["mean"])

        def constant_loss(self, y):
            return np.abs(y - np.median(y)).mean()

        def score(self, predictions, y, *, y_train, level, groups=None):
            losses, constant = self.losses(predictions, y), np.abs(y - np.median(y_train))
            ends = [losses.min(), losses.max()]
            return {"value": losses.mean(), "interval": ends, "baseline": constant.mean()}

    def final(seal, model, **asked):
        submission = ModelSubmission(
            model=model,
            name="a line",
            columns=["x"],
            trained_on=seal.manifest.files[TRAIN],
            scorer=AbsoluteError(),
        )
        again, escrow = asked["again"], asked["escrow"]
        made = lambda described: None
        return evaluate(seal, submission, scorer_of_commit=made, again=again, escrow=escrow)

    x = np.arange(50.0)
    origin = Origin(pa.table({"x": x, "y": 2 * x + np.sin(x)}), "a table", "0" * 64)
    terms = SealTerms(target="y", test=0.2, group=None, by_time=None, budget=1, judge="plain",
                  escrow=None, seed=0)
    sealed = Sealed(create_seal(origin, terms, Path(sys.argv[1]) / "line.seal"), final)
    print(sealed.final(lambda x: 2 * x).value < 1, sealed.evaluations)
    above = ("likely.workbench", "likely.metrics", "likely.linear", "likely.generative", "sklearn")
    print([name for name in sys.modules if name.startswith(above)])
"""


def test_a_look_by_sealing_alone(tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(ALONE), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["True 1", "[]"]
