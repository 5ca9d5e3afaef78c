"""Amounts of which many are exactly 0, with an exposure: every verb, and what it suggests next."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

SAID = re.compile(r"Next: likely (.+)")
OPTIONS = ("--target", "amount", "--exposure", "years", "--drop", "claims")


@pytest.fixture
def policies(tmp_path):
    rng = np.random.default_rng(0)
    years, age = rng.uniform(0.1, 1.0, 300), rng.integers(18, 80, 300)
    claims = rng.poisson(np.exp(0.03 * (50 - age)) * years)
    frame = pd.DataFrame(
        {
            "age": age,
            "years": years.round(3),
            "claims": claims,
            "amount": (rng.gamma(2.0 * claims) * 500).round(2),
        }
    )
    frame.to_csv(tmp_path / "policies.csv", index=False)
    return tmp_path


def next_of(outcome):
    assert outcome.exit == 0, outcome.err
    return shlex.split(SAID.findall(outcome.out)[-1])


def test_from_look_to_the_report_by_the_commands_that_are_suggested(likely, policies):
    looked = likely("look", "policies.csv", *OPTIONS)
    assert "% of them exactly 0" in looked.out
    command = next_of(looked)
    assert command == ["seal", "policies.csv", *OPTIONS]
    command = next_of(likely(*command))
    compared = likely(*command, "--repeats", "1", "--folds", "2")
    assert next_of(compared)[:2] == ["tune", "policies.seal"]
    tried = {line.split()[0] for line in compared.out.split("\n") if line.startswith("  ")}
    assert {"glm-tweedie", "additive", "constant"} <= tried and "linear" not in tried
    trained = likely("train", "policies.seal", "glm-tweedie")
    scored = likely(*next_of(trained))
    gain = re.search(r"gain over the baseline \(per row, in nats\) +(\S+)", scored.out)
    assert abs(float(gain[1])) < 0.5
    assert likely(*next_of(scored)).exit == 0


def test_what_a_report_and_final_suggest_keeps_the_columns_that_were_dropped(likely, policies):
    assert likely("train", "policies.csv", "glm-tweedie", *OPTIONS).exit == 0
    report, final = likely("report", "@last"), likely("final", "@last")
    wanted = f"likely seal policies.csv {shlex.join(OPTIONS)}"
    assert f"run {wanted})" in " ".join(report.out.split())
    assert final.err.rstrip().endswith(f"Next: {wanted}")


def test_a_table_that_is_sealed_with_another_target_is_to_be_sealed_again(likely, policies):
    assert likely("seal", "policies.csv", "--target", "claims", "--drop", "amount").exit == 0
    refused = likely("train", "policies.csv", "glm-tweedie", "--set", "l2=1", *OPTIONS)
    said = " ".join(refused.err.split())
    assert "policies.seal was sealed to predict 'claims'; seal policies.csv again to pred" in said
    again = SAID.findall(refused.err)[-1]
    assert again == f"seal policies.csv {shlex.join(OPTIONS)} -o amount.seal"
    assert likely(*shlex.split(again)).exit == 0
    same = likely("train", "policies.csv", "glm-poisson", "--target", "claims")
    assert same.err.rstrip().endswith("Next: likely compare policies.seal")
