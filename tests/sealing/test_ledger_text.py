"""Lines of the ledger in words."""

from likely.sealing.ledger import allowed_in_words, details_of, event_in_words, used_in_words


def line(event, **own):
    return {"n": 1, "time": "2026-01-01T00:00:00Z", "event": event, "previous": "0" * 64, **own}


def test_settings_have_four_digits_and_room_to_break():
    model = "Prepared(model=LogisticRegression(l1=3.6182758782714144,l2=0.00012345678901234))"
    said = details_of(line("commit", evaluation=1, model=model))
    assert "l1=3.618, l2=0.0001235" in said
    assert said.split()[-1] == "l2=0.0001235))"  # a line can end before it


def test_whole_numbers_and_words_are_left_as_they_are():
    assert details_of(line("sealed", rows=1400)) == "1,400 rows"
    assert "0.25" in details_of(line("commit", evaluation=1, model="Model(alpha=0.25)"))


def test_no_line_ends_with_an_empty_colon():
    accident = line("refused", command="compare", data="churn.csv", rows=240)
    assert details_of(accident) == "likely compare on churn.csv, with 240 sealed rows"
    beyond = details_of(line("refused", command="final", evaluation=2, reason="budget"))
    assert beyond == "likely final, evaluation 2 beyond the budget, no reason given"
    other = line("refused", command="final", reason="other training rows")
    assert details_of(other) == "likely final, other training rows"


def test_a_score_says_the_level_of_its_interval():
    ends = {"value": 0.5, "interval": [0.4, 0.6], "baseline": 0.7, "level": 0.975}
    assert "(97.5 % interval 0.40 to 0.60)" in details_of(
        line("score", evaluation=2, metric="log-loss", of_this_model=True, **ends)
    )


def test_events_and_evaluations_are_in_plain_words():
    events = [event_in_words(line(event)) for event in ("sealed", "commit", "again")]
    assert events == ["sealed", "predictions recorded", "extra evaluation"]
    assert used_in_words(1, 2) == "1 of 2 evaluations used"
    assert used_in_words(3, 2) == "3 evaluations used; 2 allowed"
    assert allowed_in_words(1, "plain") == "1 evaluation allowed"
    assert allowed_in_words(20, "ladder") == "20 evaluations allowed, judge ladder"


def test_a_reason_and_a_prediction_are_recorded_in_words():
    again = details_of(line("again", evaluation=2, reason="a column was wrong"))
    assert again == "evaluation 2 beyond the budget, reason: a column was wrong"
    assert details_of(line("predict", data="new.csv", rows=3)) == "new.csv, with 3 sealed rows"
