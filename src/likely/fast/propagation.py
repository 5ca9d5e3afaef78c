"""Compiled propagation in a junction tree: collect, distribute, read; of numbers, or in logs.

    collect      message_k(s) = ⊕_own table_k(own, s), and the parent's table ⊗= it
    distribute   table_k ⊗= (⊕_rest table_parent)(s) ⊘ message_k(s), with 0 / 0 = 0

All tables lie in one array ``work``: the cliques, the messages to their parents, then room for two
messages.  All integers of a plan lie in one array, in sections: section s is
plan[plan[s] : plan[s + 1]].  Every array that a function takes costs compiling and calling.

Linear arithmetic comes first: factors and messages are scaled to a maximum of 1 and the logs of the
scales add up to log Z.  ``span``, the largest over the smallest positive number, is multiplied
along: while the product for a clique stays below SPAN nothing can underflow.  Otherwise the table
itself is looked at, and if it is too wide the caller is told to work in logs.  There ⊕ is
log Σ exp, or max for the most probable states; −inf is 0, and −inf − (−inf) counts as −inf.

Integers are int64, numbers float64.  The caller checks; nothing is checked here.
"""

import numpy as np
from numba import njit, uint64

from likely.fast.strided import (
    SIZES,
    STRIDES,
    add,
    assign,
    exp_sum_onto,
    loop_named,
    max_onto,
    multiply,
    sum_onto,
)

SPAN = 1e260
DONE, IMPOSSIBLE, TOO_WIDE = 0, 1, 2

(
    OP_TABLE,  # of each operation, a clique, or n_cliques and a message; sections 0 to 2 have axes
    OP_STARTS,  # of the axes of what each operation moves, end to end
    OP_AXES,
    TABLE_STARTS,  # of the axes of all cliques and messages, as their tables have them, end to end
    TABLE_AXES,
    N_STATES,  # of each variable
    STATE_STARTS,  # of the states of all variables end to end
    SCOPE_STARTS,  # of the scopes of all factors end to end
    SCOPES,
    FACTOR_AT,  # where the tables of all factors end to end begin
    SLICED,  # 1 for a variable that no clique has
    CONSTANTS,  # factors without a variable in the tree
    CLIQUE_AT,  # in ``work``, and at the end where the messages begin
    MESSAGE_AT,  # in ``work``, and at the end where the free room begins
    PARENT,  # of each clique, −1 for a root
    OWN_LAST,  # 1 for a clique whose separator's axes come first
    HOST,  # of each factor, the clique that takes it; −1 for a constant
    HOSTED_STARTS,  # of the factors of all cliques end to end
    HOSTED,
    HOMED_STARTS,  # of the variables of all cliques end to end, whose evidence they take
    HOMED,
    GROUP_STARTS,  # of the groups of children that have one separator, by parent
    MEMBER_STARTS,  # of the children of all groups end to end
    MEMBERS,
    READ_AT,  # in ``work``, where a variable is read; −1 for a sliced one
    READ_CLIQUE,  # that must be right for it
    AXIS_STARTS,  # of the axes of all cliques end to end, their own first, then the separator's
    AXES,
    N_OWN,  # axes of each clique
    KINDS,  # the first operation of each kind
) = range(3, 33)

EVIDENCE, READING, GROUPS, SEPARATORS = range(1, 5)  # kinds of operations; factors come first


@njit(cache=True, nogil=True)
def require(plan, wanted, needed):
    """Mark the cliques that the ``wanted`` variables are read from, and all above marked ones."""
    for v in range(wanted.size):
        if wanted[v] and plan[plan[READ_AT] + v] >= 0:
            needed[plan[plan[READ_CLIQUE] + v]] = True
    for k in range(needed.size):
        above = plan[plan[PARENT] + k]
        if needed[k] and above >= 0:
            needed[above] = True


@njit(cache=True, nogil=True)
def own_cells(plan, k):
    """The cells of a clique's own variables, and the steps along them and across separators."""
    n_separator = plan[plan[MESSAGE_AT] + k + 1] - plan[plan[MESSAGE_AT] + k]
    n = (plan[plan[CLIQUE_AT] + k + 1] - plan[plan[CLIQUE_AT] + k]) // n_separator
    if plan[plan[OWN_LAST] + k]:
        return n, 1, n
    return n, n_separator, 1


@njit(cache=True, nogil=True)
def sliced_start(plan, f, codes):
    """Where the part of a factor's table begins that agrees with the sliced variables."""
    start, step = plan[plan[FACTOR_AT] + f], 1
    first, last = plan[plan[SCOPE_STARTS] + f], plan[plan[SCOPE_STARTS] + f + 1]
    for p in range(last - 1, first - 1, -1):
        v = plan[plan[SCOPES] + p]
        if plan[plan[SLICED] + v]:
            start += step * max(codes[v], 0)
        step *= plan[plan[N_STATES] + v]
    return start


@njit(cache=True, nogil=True)
def fill(work, start, stop, x):
    for i in range(uint64(start), uint64(stop)):
        work[i] = x


@njit(cache=True, nogil=True)
def _divide(work, start, stop, x):
    for i in range(uint64(start), uint64(stop)):
        work[i] /= x


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _total(work, start, stop):
    total = 0.0
    for i in range(uint64(start), uint64(stop)):
        total += work[i]
    return total


@njit(cache=True, nogil=True)
def _span(work, start, stop):
    """The largest number, and the largest over the smallest positive one (1 if there is none)."""
    top, low = 0.0, np.inf
    for i in range(uint64(start), uint64(stop)):
        x = work[i]
        if x > top:
            top = x
        if x > 0.0 and x < low:
            low = x
    return top, (top / low if top > 0.0 else 1.0)


@njit(cache=True, nogil=True)
def _with_room(work, start, stop, span, more):
    """The span after a product with something of span ``more``, and the log of a rescaling.

    Where the bound is too large, the table itself is looked at, and divided by its maximum.
    A span that is infinite stays so: something may be lost already.
    """
    if span * more <= SPAN or span == np.inf:
        return span * more, 0.0
    top, span = _span(work, start, stop)
    if top == 0.0:
        return 1.0, 0.0
    _divide(work, start, stop, top)
    return (span * more if span * more <= SPAN else np.inf), np.log(top)


@njit(cache=True, nogil=True)
def _take(codes, likelihood, has_likelihood, values, spans, from_below, plan, k, work, count):
    """The clique's table = its factors × likelihoods × messages; its span, and a rescaling's log.

    ``from_below`` are the spans of messages.  Those over one separator are multiplied with each
    other first, in the free room.
    """
    at, stop = plan[plan[CLIQUE_AT] + k], plan[plan[CLIQUE_AT] + k + 1]
    message_at, room = plan[MESSAGE_AT], plan[plan[MESSAGE_AT + 1] - 1]
    first, last = plan[plan[HOSTED_STARTS] + k], plan[plan[HOSTED_STARTS] + k + 1]
    span, total = 1.0, 0.0
    if first == last:
        fill(work, at, stop, 1.0)
    for p in range(first, last):
        f = plan[plan[HOSTED] + p]
        start = sliced_start(plan, f, codes)
        if p == first:
            span = spans[f]
            assign(work, at, values, start, plan, f, count)
        else:
            span, log_scale = _with_room(work, at, stop, span, spans[f])
            total += log_scale
            multiply(work, at, values, start, plan, f, count)
    for p in range(plan[plan[HOMED_STARTS] + k], plan[plan[HOMED_STARTS] + k + 1]):
        v = plan[plan[HOMED] + p]
        if has_likelihood[v]:
            start, end = plan[plan[STATE_STARTS] + v], plan[plan[STATE_STARTS] + v + 1]
            _, more = _span(likelihood, start, end)
            span, log_scale = _with_room(work, at, stop, span, more)
            total += log_scale
            o = plan[plan[KINDS] + EVIDENCE] + v
            multiply(work, at, likelihood, start, plan, o, count)
    for g in range(plan[plan[GROUP_STARTS] + k], plan[plan[GROUP_STARTS] + k + 1]):
        first, last = plan[plan[MEMBER_STARTS] + g], plan[plan[MEMBER_STARTS] + g + 1]
        c = plan[plan[MEMBERS] + first]
        source, more = plan[message_at + c], from_below[c]
        if last - first > 1:
            size = plan[message_at + c + 1] - source
            fill(work, room, room + size, 1.0)
            more = 1.0
            for p in range(first, last):
                c = plan[plan[MEMBERS] + p]
                more, log_scale = _with_room(work, room, room + size, more, from_below[c])
                total += log_scale
                to, source = uint64(room), uint64(plan[message_at + c])
                for i in range(uint64(size)):
                    work[to + i] *= work[source + i]
            source = room
        span, log_scale = _with_room(work, at, stop, span, more)
        total += log_scale
        multiply(work, at, work, source, plan, plan[plan[KINDS] + GROUPS] + g, count)
    return span, total


@njit(cache=True, nogil=True)
def collect(codes, likelihood, has_likelihood, values, spans, plan, work, scale):
    """Fill the cliques' tables and the messages to their parents; the outcome and log Z.

    ``codes`` (n_variables,) of the sliced variables.  ``likelihood`` of the states of the others,
    scaled to a maximum of 1 each, where ``has_likelihood`` is set.  ``values`` are the factors'
    tables, scaled to a maximum of 1 each, and ``spans`` (n_factors,) theirs; only a 0 is 0.  A
    message is scaled to a maximum of 1; ``scale`` (n_cliques,) is what it was divided by.  Roots
    are scaled to a sum of 1.
    """
    log_z = 0.0
    count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
    from_below = np.empty(scale.size)
    for p in range(plan[CONSTANTS], plan[CONSTANTS + 1]):
        x = values[sliced_start(plan, plan[p], codes)]
        if x == 0.0:
            return IMPOSSIBLE, -np.inf
        if x * SPAN < 1.0:
            return TOO_WIDE, 0.0
        log_z += np.log(x)
    for k in range(scale.size):
        at, stop = plan[plan[CLIQUE_AT] + k], plan[plan[CLIQUE_AT] + k + 1]
        span, log_scale = _take(
            codes, likelihood, has_likelihood, values, spans, from_below, plan, k, work, count
        )
        if span > SPAN:
            return TOO_WIDE, 0.0
        if plan[plan[PARENT] + k] < 0:
            top = _total(work, at, stop)
        else:
            sent, o = plan[plan[MESSAGE_AT] + k], plan[plan[KINDS] + SEPARATORS] + k
            stop = plan[plan[MESSAGE_AT] + k + 1]
            fill(work, sent, stop, 0.0)
            sum_onto(work, sent, work, at, plan, o, count)
            top, from_below[k] = _span(work, sent, stop)
            at = sent
        if top == 0.0:
            return IMPOSSIBLE, -np.inf
        _divide(work, at, stop, top)
        log_z += log_scale + np.log(top)
        scale[k] = top
    return DONE, log_z


@njit(cache=True, nogil=True)
def _log_sum_onto(other, start, size, room, table, at, plan, o, count):
    """other = log Σ exp table over the axes that it does not have; ``room`` is in ``table``."""
    fill(other, start, start + size, -np.inf)
    max_onto(other, start, table, at, plan, o, count)
    fill(table, room, room + size, 0.0)
    exp_sum_onto(table, room, other, start, table, at, plan, o, count)
    for i in range(size):
        if other[start + i] > -np.inf:
            other[start + i] += np.log(table[room + i])


@njit(cache=True, nogil=True)
def _take_logs(codes, log_likelihood, has_likelihood, log_values, plan, k, work, count):
    """The clique's table = its log factors + log likelihoods + messages of its children."""
    at, kinds = plan[plan[CLIQUE_AT] + k], plan[KINDS]
    fill(work, at, plan[plan[CLIQUE_AT] + k + 1], 0.0)
    for p in range(plan[plan[HOSTED_STARTS] + k], plan[plan[HOSTED_STARTS] + k + 1]):
        f = plan[plan[HOSTED] + p]
        add(work, at, log_values, sliced_start(plan, f, codes), plan, f, count)
    for p in range(plan[plan[HOMED_STARTS] + k], plan[plan[HOMED_STARTS] + k + 1]):
        v = plan[plan[HOMED] + p]
        if has_likelihood[v]:
            start, o = plan[plan[STATE_STARTS] + v], plan[kinds + EVIDENCE] + v
            add(work, at, log_likelihood, start, plan, o, count)
    for g in range(plan[plan[GROUP_STARTS] + k], plan[plan[GROUP_STARTS] + k + 1]):
        for p in range(plan[plan[MEMBER_STARTS] + g], plan[plan[MEMBER_STARTS] + g + 1]):
            start = plan[plan[MESSAGE_AT] + plan[plan[MEMBERS] + p]]
            add(work, at, work, start, plan, plan[kinds + GROUPS] + g, count)


@njit(cache=True, nogil=True)
def collect_logs(codes, log_likelihood, has_likelihood, log_values, plan, work, best):
    """Fill the cliques' tables and the messages to their parents; returns log ⊕ of all.

    ⊕ is max where the ``best`` score is wanted.
    """
    count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
    total, room = 0.0, plan[plan[MESSAGE_AT + 1] - 1]
    for p in range(plan[CONSTANTS], plan[CONSTANTS + 1]):  # factors without a variable in the tree
        total += log_values[sliced_start(plan, plan[p], codes)]
    for k in range(plan[PARENT + 1] - plan[PARENT]):
        _take_logs(codes, log_likelihood, has_likelihood, log_values, plan, k, work, count)
        at, message = plan[plan[CLIQUE_AT] + k], plan[plan[MESSAGE_AT] + k]
        size, o = plan[plan[MESSAGE_AT] + k + 1] - message, plan[plan[KINDS] + SEPARATORS] + k
        if best:
            fill(work, message, message + size, -np.inf)
            max_onto(work, message, work, at, plan, o, count)
        else:
            _log_sum_onto(work, message, size, room, work, at, plan, o, count)
        if plan[plan[PARENT] + k] < 0:
            total += work[message]
    return total


def _distributor(name, in_logs):
    """Bring the needed cliques' tables to P(clique | e), their messages to P(separator | e).

    In logs to log P(clique, e) and log P(separator, e).  ``needed`` (n_cliques,) has the parent of
    each needed clique.  ``scale`` is what ``collect`` divided the messages by; logs have none.
    """

    @loop_named(name, error_model="numpy")
    def distribute(plan, work, scale, needed, count):
        ratio = plan[plan[MESSAGE_AT + 1] - 1]  # the free room, behind it the total
        for k in range(needed.size - 1, -1, -1):
            at = plan[plan[CLIQUE_AT] + k]
            for g in range(plan[plan[GROUP_STARTS] + k], plan[plan[GROUP_STARTS] + k + 1]):
                fresh = True
                for p in range(plan[plan[MEMBER_STARTS] + g], plan[plan[MEMBER_STARTS] + g + 1]):
                    c = plan[plan[MEMBERS] + p]
                    if not needed[c]:
                        continue
                    message = plan[plan[MESSAGE_AT] + c]
                    size = plan[plan[MESSAGE_AT] + c + 1] - message
                    total, o = ratio + size, plan[plan[KINDS] + GROUPS] + g
                    if fresh and in_logs:
                        _log_sum_onto(work, total, size, ratio, work, at, plan, o, count)
                    elif fresh:
                        fill(work, total, total + size, 0.0)
                        sum_onto(work, total, work, at, plan, o, count)
                    fresh = False
                    a, b, c_at = uint64(ratio), uint64(total), uint64(message)
                    for i in range(uint64(size)):
                        old, new = work[c_at + i], work[b + i]
                        if in_logs:
                            work[a + i] = new - old if old > -np.inf else -np.inf
                        else:
                            work[a + i] = new / (old * scale[c]) if old > 0.0 else 0.0
                        work[c_at + i] = new
                    o = plan[plan[KINDS] + SEPARATORS] + c
                    if in_logs:
                        add(work, plan[plan[CLIQUE_AT] + c], work, ratio, plan, o, count)
                    else:
                        multiply(work, plan[plan[CLIQUE_AT] + c], work, ratio, plan, o, count)

    return distribute


distribute = _distributor("distribute", False)
_distribute_logs = _distributor("_distribute_logs", True)


def _reader(name, in_logs):
    """After a pass up the tree: pass down where it is needed, and read the wanted variables.

    ``needed`` (n_cliques,) are cliques that the caller will read; those above and those that have
    a wanted variable join them.  ``out`` has the states of all variables end to end.
    """

    @loop_named(name)
    def read(codes, wanted, needed, plan, work, scale, out):
        require(plan, wanted, needed)
        count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
        room = plan[plan[MESSAGE_AT + 1] - 1]
        if in_logs:
            _distribute_logs(plan, work, scale, needed, count)
        else:
            distribute(plan, work, scale, needed, count)
        for v in range(wanted.size):
            if wanted[v]:
                start, stop = plan[plan[STATE_STARTS] + v], plan[plan[STATE_STARTS] + v + 1]
                at, o = plan[plan[READ_AT] + v], plan[plan[KINDS] + READING] + v
                fill(out, start, stop, 0.0)
                if at < 0:
                    out[start + max(codes[v], 0)] = 1.0
                    continue
                if in_logs:
                    _log_sum_onto(out, start, stop - start, room, work, at, plan, o, count)
                    top = out[start:stop].max()
                    for i in range(start, stop):
                        out[i] = np.exp(out[i] - top)
                else:
                    sum_onto(out, start, work, at, plan, o, count)
                _divide(out, start, stop, _total(out, start, stop))

    return read


_read = _reader("_read", False)
_read_logs = _reader("_read_logs", True)


@njit(cache=True, nogil=True)
def marginals(codes, likelihood, has_likelihood, wanted, needed, values, spans, plan, work, out):
    """Collect, distribute and read; returns the outcome and log Z."""
    scale = np.empty(needed.size)
    outcome, log_z = collect(codes, likelihood, has_likelihood, values, spans, plan, work, scale)
    if outcome == DONE:
        _read(codes, wanted, needed, plan, work, scale, out)
    return outcome, log_z


@njit(cache=True, nogil=True)
def log_marginals(
    codes, log_likelihood, has_likelihood, wanted, needed, log_values, plan, work, out
):
    """The same in logs, which ``work`` keeps; returns log Z, perhaps −inf."""
    log_z = collect_logs(codes, log_likelihood, has_likelihood, log_values, plan, work, False)
    if log_z > -np.inf:
        _read_logs(codes, wanted, needed, plan, work, work, out)
    return log_z


@njit(cache=True, nogil=True)
def draw(uniform, plan, work, codes):
    """Draw the free variables from the root down, from the tables that ``collect`` left.

    ``codes`` (n_variables, n_samples) is overwritten; ``uniform`` (n_samples, n_variables).  The
    cliques' tables become cumulative over their own variables, which are drawn together.
    """
    n_states, axes = plan[N_STATES], plan[AXES]
    for k in range(plan[N_OWN + 1] - plan[N_OWN] - 1, -1, -1):
        first, last = axes + plan[plan[AXIS_STARTS] + k], axes + plan[plan[AXIS_STARTS] + k + 1]
        middle = first + plan[plan[N_OWN] + k]
        at, (n, along, across) = plan[plan[CLIQUE_AT] + k], own_cells(plan, k)
        for r in range(1, n):
            for s in range(plan[plan[MESSAGE_AT] + k + 1] - plan[plan[MESSAGE_AT] + k]):
                cell = at + s * across + r * along
                work[cell] += work[cell - along]
        for i in range(uniform.shape[0]):
            s = 0
            for p in range(middle, last):
                s = s * plan[n_states + plan[p]] + codes[plan[p], i]
            start = at + s * across
            top = work[start + (n - 1) * along]
            x = uniform[i, plan[first]] * top
            low, high = 0, n - 1  # the first sum above x, or the first that is whole
            while low < high:
                r = (low + high) // 2
                y = work[start + r * along]
                if y > x or y == top:
                    high = r
                else:
                    low = r + 1
            for p in range(middle - 1, first - 1, -1):
                m = plan[n_states + plan[p]]
                codes[plan[p], i] = low % m
                low //= m


@njit(cache=True, nogil=True)
def conditionals(plan, work):
    """From what ``collect_logs`` left, the cliques' tables become P(own | separator, e)."""
    count = np.empty(plan[STRIDES] - plan[SIZES], dtype=np.int64)
    for k in range(plan[PARENT + 1] - plan[PARENT]):
        at, stop = plan[plan[CLIQUE_AT] + k], plan[plan[CLIQUE_AT] + k + 1]
        message = plan[plan[MESSAGE_AT] + k]
        for i in range(message, plan[plan[MESSAGE_AT] + k + 1]):
            work[i] = -work[i] if work[i] > -np.inf else 0.0
        o = plan[plan[KINDS] + SEPARATORS] + k
        add(work, at, work, message, plan, o, count)
        for i in range(uint64(at), uint64(stop)):
            work[i] = np.exp(work[i])


@njit(cache=True, nogil=True)
def backtrack(plan, work, slack, codes):
    """The best states of the free variables from the root down; whether no other is as good.

    Scores within ``slack`` are equal.
    """
    n_states, axes, unique = plan[N_STATES], plan[AXES], True
    for k in range(plan[N_OWN + 1] - plan[N_OWN] - 1, -1, -1):
        first, last = axes + plan[plan[AXIS_STARTS] + k], axes + plan[plan[AXIS_STARTS] + k + 1]
        middle = first + plan[plan[N_OWN] + k]
        n, stride, across = own_cells(plan, k)
        s = 0
        for p in range(middle, last):
            if not plan[plan[SLICED] + plan[p]]:
                s = s * plan[n_states + plan[p]] + codes[plan[p]]
        start, best = plan[plan[CLIQUE_AT] + k] + s * across, 0
        for r in range(1, n):
            if work[start + r * stride] > work[start + best * stride]:
                best = r
        top = work[start + best * stride] - slack
        for r in range(n):
            if r != best and work[start + r * stride] >= top:
                unique = False
        for p in range(middle - 1, first - 1, -1):
            m = plan[n_states + plan[p]]
            if not plan[plan[SLICED] + plan[p]]:
                codes[plan[p]] = best % m
                best //= m
    return unique
