"""The messages that were sent on a tree, and what they give: marginals or the best states.

``message_passing.py`` has the equations, and sends them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.errors import ImpossibleEvidence, InvalidInput, UnknownName
from likely.graphical.exact.enumeration import with_observed
from likely.graphical.exact.message_passing import Passing, pass_messages
from likely.graphical.exact.semiring import Semiring, semiring_of
from likely.graphical.model.beliefs import Beliefs, Configuration
from likely.graphical.model.graph_evidence import GraphEvidence
from likely.graphical.model.variable import Variable
from likely.output.formatting import short_number, text_table
from likely.special import softmax

if TYPE_CHECKING:
    from pathlib import Path

    from likely.graphical.drawing.diagram import Diagram
    from likely.graphical.model.factor_graph import FactorGraph

LARGEST_LOG = 600.0  # beyond e^600, or below e^−600, a message is printed with its scale


@final
@dataclass(frozen=True, eq=False)
class Message:
    """What one node tells a neighbour about a variable, and where it stands in the order.

    log μ is ``log_table`` + ``log_scale``; the largest entry of the log table is 0, except for
    plain numbers, whose scale is 0.
    """

    source: str
    target: str
    variable: Variable
    label: str  # step and letter, such as "4a"
    log_table: Array
    log_scale: float
    semiring: Semiring
    pointers: Mapping[str, Array] | None = None  # for each state, the best codes of the others

    @property
    def log_values(self) -> Array:
        """log μ for each state of the variable."""
        return self.log_table + self.log_scale

    @property
    def values(self) -> Array:
        """μ for each state of the variable, or log μ with max-sum; not normalised."""
        return self.semiring.written_values(self.log_values)

    def __str__(self) -> str:
        return f"{self.source} → {self.target}: {self._values_text()}"

    def _values_text(self) -> str:
        far = self.semiring.written == "linear" and abs(self.log_scale) > LARGEST_LOG
        shown = self.semiring.written_values(self.log_table) if far else self.values
        cells = [
            f"{state}: {short_number(value)}"
            for state, value in zip(self.variable.states, shown.tolist(), strict=True)
        ]
        return ", ".join(cells) + (f"  × e^{self.log_scale:.6g}" if far else "")

    def _pointers_text(self, variables: Mapping[str, Variable]) -> str:
        cells = []
        for code, state in enumerate(self.variable.states):
            best = [
                f"{name}={variables[name].states[codes[code]]}"
                for name, codes in (self.pointers or {}).items()
            ]
            cells += [f"{state}: {', '.join(best)}"] if best else []
        return "; ".join(cells)


@final
@dataclass(frozen=True, eq=False)
class Messages:
    """The messages of a tree in the order in which they were sent.

    Without a root, every edge has carried one message each way.  With a root, only the messages
    towards it were sent; where the graph falls into several trees, each of the others sends to
    its first variable, so that log Z(e) is known.  A message has the same label with any root and
    without one.

    ``messages["4a"]`` is the message with that label, ``messages.edge("f", "x")`` the one from f
    to x.
    """

    graph: "FactorGraph"
    evidence: GraphEvidence
    root: str | None
    semiring: Semiring
    mode: str  # the numbers that were used: "scaled", "log" or "plain"
    passing: Passing

    @cached_property
    def sent(self) -> tuple[Message, ...]:
        """All messages in order."""
        names, arithmetic = self.passing.names, self.passing.arithmetic
        found = []
        for edge, label in self.passing.forest.labelled(self.passing.sent):
            numbers, choice = self.passing.sent[edge], self.passing.choices.get(edge)
            found.append(
                Message(
                    names[edge[0]],
                    names[edge[1]],
                    self.passing.variable_of(edge),
                    label,
                    arithmetic.log(numbers.table),
                    numbers.log_scale,
                    self.semiring,
                    None if choice is None else choice.codes,
                )
            )
        return tuple(found)

    def __len__(self) -> int:
        return len(self.passing.sent)

    def __iter__(self) -> Iterator[Message]:
        return iter(self.sent)

    def __getitem__(self, label: int | str) -> Message:
        if isinstance(label, int):
            return self.sent[label]
        found = {message.label: message for message in self.sent}
        if label not in found:
            raise UnknownName("message", label, found)
        return found[label]

    def edge(self, source: str, target: str) -> Message:
        """The message from one node to a neighbour."""
        for name in (source, target):
            self._node(name)
        if (source, target) not in self._by_edge:
            raise InvalidInput(
                f"No message went from {source!r} to {target!r}; two neighbours were expected, in "
                "the direction of the messages. Without a root, messages go both ways."
            )
        return self._by_edge[source, target]

    @cached_property
    def _by_edge(self) -> Mapping[tuple[str, str], Message]:
        return {(message.source, message.target): message for message in self.sent}

    # ── what they give ───────────────────────────────────────────────────────────────────────

    @property
    def log_partition(self) -> float:
        """log ⊕_x F(x, e): log Z(e), or with a maximum the log score of the best configuration."""
        return self.passing.log_total

    def log_partition_at(self, name: str) -> float:
        """``log_partition`` as one node, a variable or a factor, knows it; the same at all."""
        log_belief = self.log_belief(name)
        return float(self.semiring.plus_of_logs(log_belief, tuple(range(log_belief.ndim))))

    def log_belief(self, name: str) -> Array:
        """log of P(x, e) Z for the states of a node's variables: all its messages together.

        With a maximum, the log score of the best configuration with each state.
        """
        node = self._node(name)
        if not self.passing.has_heard(node):
            raise InvalidInput(
                f"Not all messages to {name!r} were sent, because they go towards a root; a root "
                f"was expected. Leave root out, or use root={name!r}."
            )
        return self.passing.log_belief(node) + self.passing.log_total_beside(node)

    def factor_marginal(self, name: str) -> Array:
        """P(X_f | e) of the variables of a factor that were not observed, in its order."""
        self._refuse_maxima()
        return softmax(self.log_belief(name), axis=None)

    def beliefs(self) -> Beliefs:
        """The marginals of all variables, or of the root; observed ones are point masses."""
        self._refuse_maxima()
        nodes, marginals = self.passing.nodes, {}
        codes = {name: code for name, code in self.evidence.codes.items() if name not in nodes}
        for name in self.graph.names if self.root is None else (self.root,):
            if name in codes:
                marginals[name] = with_observed(self.graph, np.array(1.0), (name,), codes)
            else:
                marginals[name] = softmax(self.passing.log_belief(nodes[name]), axis=None)
        return Beliefs(
            self.graph.by_name,
            marginals,
            {},
            self.log_partition,
            "messages",
            log_prior_partition=self.graph.log_partition,
        )

    def most_probable(self) -> Configuration:
        """One configuration of the highest score, by the pointers from one root of each tree."""
        if not self.semiring.chooses:
            raise InvalidInput(
                "Messages of sums hold no best states; messages of maxima were expected. Use "
                "semiring='max-sum'."
            )
        if self.log_partition == -np.inf:
            raise ImpossibleEvidence()
        codes, unique = self.passing.best_states()
        codes |= self.evidence.codes
        return Configuration(
            {name: self.graph.by_name[name].values[codes[name]] for name in self.graph.names},
            self.log_partition,
            unique,
            "messages",
            log_partition=lambda: tree_messages(self.graph, None, self.evidence).log_partition,
        )

    def _refuse_maxima(self) -> None:
        if self.semiring.chooses:
            raise InvalidInput(
                f"Messages of the semiring {self.semiring.name!r} hold maxima, which give no "
                "marginals. Use semiring='sum-product', or log_belief for the largest scores."
            )
        if self.log_partition == -np.inf:
            raise ImpossibleEvidence()

    def _node(self, name: str) -> int:
        if name in self.evidence.codes and name not in self.passing.nodes:
            raise InvalidInput(
                f"{name!r} is observed, so that no message is about it; a node of the tree was "
                "expected. Use observed='indicator' to keep it as a node."
            )
        if name not in self.passing.nodes:
            raise UnknownName("node", name, self.passing.nodes)
        return self.passing.nodes[name]

    def draw(self, path: "str | Path | None" = None) -> "Diagram":
        """The factor graph with the messages beside its edges; see ``FactorGraph.draw``."""
        return self.graph.draw(path, given=self.evidence.codes, messages=self)

    def __str__(self) -> str:
        rows = [
            [
                message.label,
                f"{message.source} → {message.target}",
                message.variable.name,
                message._values_text(),
                *([message._pointers_text(self.graph.by_name)] if self.semiring.chooses else []),
            ]
            for message in self.sent
        ]
        head = ["step", "message", "over", "values", *(["best"] if self.semiring.chooses else [])]
        return "\n".join(text_table(head, rows, words=range(len(head))))


def tree_messages(
    graph: "FactorGraph",
    root: str | None,
    evidence: GraphEvidence,
    *,
    semiring: str = "sum-product",
    mode: str | None = None,
    observed: str = "slice",
) -> Messages:
    """The messages of a graph without cycles; see ``FactorGraph.messages``."""
    ring = semiring_of(semiring)
    name = None if root is None else graph.variable(root).name
    used, passing = pass_messages(graph, name, evidence, ring, mode, observed)
    return Messages(graph, evidence, name, ring, used, passing)
