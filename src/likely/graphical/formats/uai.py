"""UAI models: Markov fields and Bayesian networks without names.

    MARKOV                 or BAYES
    3                      the number of variables
    2 2 3                  their numbers of states
    2                      the number of factors
    2 0 1                  the variables of the first: how many, and which
    2 1 2
    4                      the table of the first: how many numbers, and the numbers,
     0.4 0.6 0.3 0.7       those of the last variable side by side
    6
     …

In BAYES the last variable of a factor is the child.  A BAYES table with a row that does not sum
to 1 is refused: it says that it is a conditional distribution, and read as anything else it would
give wrong answers to ``sample``, ``d_separated`` and ``log_evidence``.  Such a file is a Markov
field once its first word is MARKOV, and the message says so.

References
----------
UAI 2014 Inference Competition, "Model Format".
"""

from math import prod
from pathlib import Path

from likely.errors import InvalidFile, InvalidInput
from likely.formatting import count
from likely.graphical.bayesian_network import BayesianNetwork
from likely.graphical.conditional_table import wrong_row, wrong_sum
from likely.graphical.factor import MOST_VARIABLES, Factor
from likely.graphical.factor_graph import FactorGraph
from likely.graphical.formats.content import decoded
from likely.graphical.formats.linear_tables import factor_names_lost, linear_tables, warn_of_loss
from likely.graphical.formats.words import Words, shortened
from likely.graphical.markov_field import MarkovField
from likely.graphical.variable import Variable

MODELS = {"MARKOV": MarkovField, "BAYES": BayesianNetwork}
MOST_STATES = 10**6  # of all variables together, unless the file itself is longer


def read_uai(path: Path, content: bytes) -> FactorGraph:
    """The model of a UAI file; its variables and states are called "0", "1", …."""
    words = Words(path, decoded(path, content))
    opening = words.word("its first word, MARKOV or BAYES")
    model = MODELS.get(opening.upper())
    if model is None:
        raise words.wrong(
            f"it begins with {shortened(opening)}; MARKOV or BAYES was expected. If it is "
            "another format, name the file .bif, .xmlbif or .json, or pass format='bif'."
        )
    variables = _variables(words)
    factors = _factors(words, variables, conditional=model is BayesianNetwork)
    words.end()
    try:
        return model(factors, variables)
    except InvalidInput as error:  # a cycle, two tables or none
        raise InvalidFile(path, str(error)) from error


def uai_content(graph: FactorGraph, path: Path) -> bytes:
    """A graph as a UAI file; names are left out, with a warning."""
    tables, lost = linear_tables(graph.factors, "UAI")
    warn_of_loss(path, "UAI", _names_lost(graph) + lost)
    place = {name: str(i) for i, name in enumerate(graph.names)}
    lines = [
        "BAYES" if graph.kind == BayesianNetwork.kind else "MARKOV",
        str(len(graph.variables)),
        " ".join(str(variable.n_states) for variable in graph.variables),
        str(len(graph.factors)),
    ]
    for factor in graph.factors:
        lines.append(" ".join([str(len(factor.scope)), *(place[name] for name in factor.scope)]))
    for table in tables:
        lines += ["", str(table.size)]
        rows = table.reshape(-1, table.shape[-1] if table.ndim else 1).tolist()
        lines += [" " + " ".join(map(repr, row)) for row in rows]
    return ("\n".join(lines) + "\n").encode()


def _variables(words: Words) -> list[Variable]:
    n = words.whole("the number of variables", most=words.left)
    sizes = words.wholes(n, "a variable's number of states", least=1)
    most = max(MOST_STATES, len(words))
    if sum(sizes) > most:
        raise words.wrong(
            f"the variables have {sum(sizes)} states together; at most {most} were expected in a "
            "file of this length. Correct the numbers of states."
        )
    return [Variable(i, size) for i, size in enumerate(sizes)]


def _factors(words: Words, variables: list[Variable], *, conditional: bool) -> list[Factor]:
    n = words.whole("the number of factors", most=words.left)
    scopes = [_scope(words, j, len(variables)) for j in range(n)]
    return [
        _factor(words, f"factor {j}", [variables[i] for i in scope], conditional=conditional)
        for j, scope in enumerate(scopes)
    ]


def _scope(words: Words, j: int, n_variables: int) -> list[int]:
    what = f"the number of variables of factor {j}"
    size = words.whole(what, most=min(n_variables, MOST_VARIABLES))
    scope = words.wholes(size, f"a variable of factor {j}", most=n_variables - 1)
    if len(set(scope)) < size:
        raise words.wrong(
            f"factor {j} has the variables {' '.join(map(str, scope))}; each was expected once."
        )
    return scope


def _factor(words: Words, title: str, scope: list[Variable], *, conditional: bool) -> Factor:
    expected = prod(variable.n_states for variable in scope)
    size = words.whole(f"the size of the table of {title}")
    if size != expected:
        sizes = " × ".join(str(variable.n_states) for variable in scope) or "no variables"
        raise words.wrong(
            f"the table of {title} has {count(size, 'number')}; {expected} ({sizes}) "
            f"{'was' if expected == 1 else 'were'} expected."
        )
    factor = Factor(scope, words.numbers(size, f"a number of the table of {title}"))
    row = wrong_row(factor) if conditional and scope else None
    if row is not None:
        raise words.wrong(
            f"{wrong_sum(factor, row)} If the tables are potentials and no conditional "
            "probabilities, write MARKOV for BAYES at the beginning of the file.",
            words.position - size + row * scope[-1].n_states,
        )
    return factor


def _names_lost(graph: FactorGraph) -> list[str]:
    numbers = [str(i) for i in range(len(graph.variables))]
    lost = []
    if list(graph.names) != numbers:
        lost.append("the names of variables")
    if any(v.states != tuple(map(str, range(v.n_states))) for v in graph.variables):
        lost.append("the names of states")
    if graph.name:
        lost.append(f"the title {graph.name!r}")
    return lost + factor_names_lost(graph.factors)
