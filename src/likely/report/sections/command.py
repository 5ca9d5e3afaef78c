"""The exact command, so that anyone can do it again."""

import re

from likely.report.section import Code, LeftOut, Section, Text
from likely.runs.folder import RunFacts


def command(facts: RunFacts) -> Section | LeftOut:
    given = facts.run.get("command")
    if not given:
        return LeftOut("The command", "the run does not say which command made it")
    said = str(given)
    seeded = re.search(r"(^|\s)--seed[\s=]", said) is not None
    if not seeded and facts.run.get("seed") is not None:
        said = f"{said} --seed {facts.run['seed']}"
    text = "The same command on the same data, with the same versions, gives the same model."
    return Section("command", "The command", (Text(text), Code(said)))
