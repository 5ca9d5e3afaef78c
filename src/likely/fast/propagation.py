"""Compiled propagation in a junction tree: collect, distribute, read.

    collect      message_k(s) = Σ_own table_k(own, s), and the parent's table is multiplied by it
    distribute   table_k ×= (Σ_rest table_parent)(s) / message_k(s), with 0 / 0 = 0

Every table lies in one array.  An operation goes over a clique's table from end to end, while its
other table (a factor, a message, a vector) moves by strides: axes that one stride serves are
merged, so the innermost loop is long and has stride 1 or 0.

Arithmetic is linear.  Factors and messages are scaled to a maximum of 1 and the logs of the scales
add up to log Z.  ``span``, the largest over the smallest positive number, is multiplied along: while
the product for a clique stays below SPAN nothing can underflow.  Otherwise the table itself is looked
at, and if it is too wide the caller is told to work in logs.

All integers are int64, all numbers float64, C order.  The caller checks; nothing is checked here.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

SPAN = 1e260
DONE, IMPOSSIBLE, TOO_WIDE = 0, 1, 2


class Tables(NamedTuple):
    """The factors of a graph: scopes end to end, tables end to end."""

    n_states: Any  # (n_variables,)
    state_starts: Any  # (n_variables + 1,)
    scope_starts: Any  # (n_factors + 1,)
    scope_axes: Any
    table_starts: Any  # (n_factors + 1,)
    values: Any  # scaled to a maximum of 1 each; in logs for max-sum
    spans: Any  # (n_factors,)


class Layout(NamedTuple):
    """Where the tables of a junction tree lie, and the merged axes of every operation.

    Operation o goes over the axes dims[o] to dims[o + 1] of ``sizes`` and ``strides``.  Factors
    come first, then the vectors of variables in a clique, then reading them, then the separators
    of groups in their parent, then the separators in their own clique.
    """

    sliced: Any  # (n_variables,) 1 where a variable is in no clique
    constants: Any  # factors without a variable in the tree
    clique_at: Any  # (n_cliques + 1,)
    message_at: Any  # (n_cliques + 1,)
    parent: Any  # (n_cliques,)
    own_last: Any  # (n_cliques,) 1 where the separator's axes come first in a clique
    hosted_starts: Any  # factors of each clique
    hosted: Any
    homed_starts: Any  # variables of each clique whose evidence it takes
    homed: Any
    group_starts: Any  # groups of children with one separator, by parent
    member_starts: Any  # children of each group
    members: Any
    read_clique: Any  # (n_variables,) the clique to be read, or whose separator is; −1 for none
    read_message: Any  # (n_variables,) 1 where it is the separator
    dims: Any
    sizes: Any
    strides: Any
    starts: Any  # of the five kinds of operations, and the length of the longest message


@njit(cache=True, nogil=True)
def merged_axes(op_table, op_starts, op_axes, table_starts, table_axes, n_states):
    """The merged axes of operations: of table ``op_table[o]`` with a C-ordered one over ``op_axes``.

    Axes of the second that the first does not have are left out: they are observed.
    """
    most = 0
    for o in range(op_table.size):
        most += table_starts[op_table[o] + 1] - table_starts[op_table[o]]
    dims = np.zeros(op_table.size + 1, dtype=np.int64)
    sizes, strides = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    stride, end = np.zeros(n_states.size, dtype=np.int64), 0
    for o in range(op_table.size):
        step = 1
        for p in range(op_starts[o + 1] - 1, op_starts[o] - 1, -1):
            stride[op_axes[p]] = step
            step *= n_states[op_axes[p]]
        for p in range(table_starts[op_table[o]], table_starts[op_table[o] + 1]):
            v = table_axes[p]
            if end > dims[o] and strides[end - 1] == stride[v] * n_states[v]:
                sizes[end - 1] *= n_states[v]
                strides[end - 1] = stride[v]
            else:
                sizes[end], strides[end] = n_states[v], stride[v]
                end += 1
        dims[o + 1] = end
        for p in range(op_starts[o], op_starts[o + 1]):
            stride[op_axes[p]] = 0
    return dims, sizes[:end].copy(), strides[:end].copy()


# ── operations ───────────────────────────────────────────────────────────────────────────────


@njit(cache=True, nogil=True, inline="always")
def _next(base, outer, count, layout, first):
    """The start of the other table after one round of the two inner axes; −1 at the end."""
    k = outer - 1
    while k >= 0:
        count[k] += 1
        base += layout.strides[first + k]
        if count[k] < layout.sizes[first + k]:
            return base
        base -= layout.strides[first + k] * layout.sizes[first + k]
        count[k] = 0
        k -= 1
    return -1


@njit(cache=True, nogil=True, inline="always")
def _inner(layout, o):
    """The first axis, the number of outer axes, and sizes and strides of the two inner ones."""
    first, last = layout.dims[o], layout.dims[o + 1]
    n0, t0 = layout.sizes[last - 1], layout.strides[last - 1]
    if last - first == 1:
        return first, 0, 1, 0, n0, t0
    return first, last - first - 2, layout.sizes[last - 2], layout.strides[last - 2], n0, t0


@njit(cache=True, nogil=True)
def multiply(table, other, start, layout, o, count, fresh):
    """table ×= other from ``start`` on, or table = other if ``fresh``."""
    first, outer, n1, t1, n0, t0 = _inner(layout, o)
    count[:outer] = 0
    p, base = 0, start
    while base >= 0:
        s = base
        for _ in range(n1):
            if fresh:
                for j in range(n0):
                    table[p + j] = other[s + j * t0]
            elif t0 == 1:
                for j in range(n0):
                    table[p + j] *= other[s + j]
            elif t0 == 0:
                x = other[s]
                for j in range(n0):
                    table[p + j] *= x
            else:
                for j in range(n0):
                    table[p + j] *= other[s + j * t0]
            p += n0
            s += t1
        base = _next(base, outer, count, layout, first)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def sum_onto(other, start, table, layout, o, count):
    """other += Σ table over the axes that ``other`` does not have."""
    first, outer, n1, t1, n0, t0 = _inner(layout, o)
    count[:outer] = 0
    p, base = 0, start
    while base >= 0:
        s = base
        for _ in range(n1):
            if t0 == 1:
                for j in range(n0):
                    other[s + j] += table[p + j]
            elif t0 == 0:
                x = 0.0
                for j in range(n0):
                    x += table[p + j]
                other[s] += x
            else:
                for j in range(n0):
                    other[s + j * t0] += table[p + j]
            p += n0
            s += t1
        base = _next(base, outer, count, layout, first)


# ── sum-product ──────────────────────────────────────────────────────────────────────────────


@njit(cache=True, nogil=True)
def sliced_start(tables, layout, f, codes):
    """Where the part of a factor's table begins that agrees with the sliced variables."""
    start, step = tables.table_starts[f], 1
    for p in range(tables.scope_starts[f + 1] - 1, tables.scope_starts[f] - 1, -1):
        v = tables.scope_axes[p]
        if layout.sliced[v]:
            start += step * max(codes[v], 0)
        step *= tables.n_states[v]
    return start


@njit(cache=True, nogil=True, error_model="numpy")
def _span(numbers):
    """The largest number, and the largest over the smallest positive one (1 if there is none)."""
    top, low = 0.0, np.inf
    for x in numbers:
        top = max(top, x)
        if x > 0.0 and x < low:
            low = x
    return top, (top / low if top > 0.0 else 1.0)


@njit(cache=True, nogil=True)
def _with_room(table, span, more):
    """The span after a product with something of span ``more``, and the log of a rescaling.

    Where the bound is too large, the table itself is looked at, and divided by its maximum.
    A span that is infinite stays so: something may be lost already.
    """
    if span * more <= SPAN or span == np.inf:
        return span * more, 0.0
    top, span = _span(table)
    if top == 0.0:
        return 1.0, 0.0
    for i in range(table.size):
        table[i] /= top
    return (span * more if span * more <= SPAN else np.inf), np.log(top)


@njit(cache=True, nogil=True)
def collect(codes, likelihood, has_likelihood, tables, layout, cliques, messages, scale):
    """Fill the cliques' tables and the messages to their parents; the outcome and log Z.

    ``codes`` (n_variables,) of the sliced variables.  ``likelihood`` of the states of the others,
    scaled to a maximum of 1 each, where ``has_likelihood`` is set.  A message is scaled to a
    maximum of 1; ``scale`` is what it was divided by.  Roots are scaled to a sum of 1.
    """
    log_z = 0.0
    count, spans = np.zeros(layout.sizes.size, dtype=np.int64), np.ones(layout.parent.size)
    product = np.empty(layout.starts[5])
    for f in layout.constants:
        x = tables.values[sliced_start(tables, layout, f, codes)]
        if x == 0.0:
            return IMPOSSIBLE, -np.inf
        log_z += np.log(x)
    for k in range(layout.parent.size):
        table = cliques[layout.clique_at[k] : layout.clique_at[k + 1]]
        span, log_scale = _take_factors(codes, tables, layout, k, table, count)
        log_z += log_scale
        for v in layout.homed[layout.homed_starts[k] : layout.homed_starts[k + 1]]:
            if has_likelihood[v]:
                start, stop = tables.state_starts[v], tables.state_starts[v + 1]
                _, more = _span(likelihood[start:stop])
                span, log_scale = _with_room(table, span, more)
                log_z += log_scale
                multiply(table, likelihood, start, layout, layout.starts[1] + v, count, False)
        span, log_scale = _take_messages(layout, k, table, span, messages, spans, product, count)
        log_z += log_scale
        if span > SPAN:
            return TOO_WIDE, 0.0
        if layout.parent[k] < 0:
            sent, top = table, table.sum()
        else:
            sent = messages[layout.message_at[k] : layout.message_at[k + 1]]
            sent[:] = 0.0
            sum_onto(sent, 0, table, layout, layout.starts[4] + k, count)
            top, spans[k] = _span(sent)
        if top == 0.0:
            return IMPOSSIBLE, -np.inf
        log_z += np.log(top)
        scale[k] = top
        for i in range(sent.size):
            sent[i] /= top
    return DONE, log_z


@njit(cache=True, nogil=True)
def _take_factors(codes, tables, layout, k, table, count):
    """table = the product of the clique's factors; its span, and the log of its rescaling."""
    span, total, fresh = 1.0, 0.0, True
    for f in layout.hosted[layout.hosted_starts[k] : layout.hosted_starts[k + 1]]:
        if fresh:
            span = tables.spans[f]
        else:
            span, log_scale = _with_room(table, span, tables.spans[f])
            total += log_scale
        start = sliced_start(tables, layout, f, codes)
        multiply(table, tables.values, start, layout, f, count, fresh)
        fresh = False
    if fresh:
        table[:] = 1.0
    return span, total


@njit(cache=True, nogil=True)
def _take_messages(layout, k, table, span, messages, spans, product, count):
    """table ×= the messages of the clique's children; its span, and the log of its rescaling.

    Messages over one separator are multiplied with each other first.
    """
    total = 0.0
    for g in range(layout.group_starts[k], layout.group_starts[k + 1]):
        members = layout.members[layout.member_starts[g] : layout.member_starts[g + 1]]
        o, at = layout.starts[3] + g, layout.message_at[members[0]]
        if members.size == 1:
            span, log_scale = _with_room(table, span, spans[members[0]])
            multiply(table, messages, at, layout, o, count, False)
            total += log_scale
            continue
        n, own = layout.message_at[members[0] + 1] - at, 1.0
        product[:n] = 1.0
        for c in members:
            own, log_scale = _with_room(product[:n], own, spans[c])
            total += log_scale
            for i in range(n):
                product[i] *= messages[layout.message_at[c] + i]
        span, log_scale = _with_room(table, span, own)
        total += log_scale
        multiply(table, product, 0, layout, o, count, False)
    return span, total


@njit(cache=True, nogil=True)
def distribute(tables, layout, cliques, messages, scale, needed):
    """Bring the ``needed`` cliques' tables to P(clique | e), and their messages to P(separator | e).

    The parent of a needed clique is needed.
    """
    count = np.zeros(layout.sizes.size, dtype=np.int64)
    total, ratio = np.empty(layout.starts[5]), np.empty(layout.starts[5])
    for k in range(layout.parent.size - 1, -1, -1):
        table = cliques[layout.clique_at[k] : layout.clique_at[k + 1]]
        for g in range(layout.group_starts[k], layout.group_starts[k + 1]):
            fresh = True
            for c in layout.members[layout.member_starts[g] : layout.member_starts[g + 1]]:
                if not needed[c]:
                    continue
                message = messages[layout.message_at[c] : layout.message_at[c + 1]]
                if fresh:
                    total[: message.size] = 0.0
                    sum_onto(total, 0, table, layout, layout.starts[3] + g, count)
                    fresh = False
                for i in range(message.size):
                    x = message[i]
                    ratio[i] = total[i] / (x * scale[c]) if x > 0.0 else 0.0
                    message[i] = total[i]
                below = cliques[layout.clique_at[c] : layout.clique_at[c + 1]]
                multiply(below, ratio, 0, layout, layout.starts[4] + c, count, False)


@njit(cache=True, nogil=True)
def marginals(
    codes, likelihood, has_likelihood, wanted, needed, tables, layout, cliques, messages, out
):
    """Collect, distribute where it is needed, and read the ``wanted`` variables into ``out``.

    ``needed`` (n_cliques,) are cliques that the caller will read; those above and those that have
    a wanted variable join them.  ``out`` has the states of all variables end to end.
    Returns the outcome and log Z.
    """
    n_cliques = layout.parent.size
    scale = np.ones(n_cliques)
    outcome, log_z = collect(
        codes, likelihood, has_likelihood, tables, layout, cliques, messages, scale
    )
    if outcome != DONE:
        return outcome, log_z
    for v in range(wanted.size):
        if wanted[v] and layout.read_clique[v] >= 0:
            needed[layout.read_clique[v]] = True
    for k in range(n_cliques):
        if needed[k] and layout.parent[k] >= 0:
            needed[layout.parent[k]] = True
    distribute(tables, layout, cliques, messages, scale, needed)
    count = np.zeros(layout.sizes.size, dtype=np.int64)
    for v in range(wanted.size):
        if not wanted[v]:
            continue
        states = out[tables.state_starts[v] : tables.state_starts[v + 1]]
        states[:] = 0.0
        k = layout.read_clique[v]
        if k < 0:
            states[max(codes[v], 0)] = 1.0
            continue
        if layout.read_message[v]:
            source = messages[layout.message_at[k] : layout.message_at[k + 1]]
        else:
            source = cliques[layout.clique_at[k] : layout.clique_at[k + 1]]
        sum_onto(states, 0, source, layout, layout.starts[2] + v, count)
        states /= states.sum()
    return outcome, log_z


# ── samples ──────────────────────────────────────────────────────────────────────────────────


@njit(cache=True, nogil=True)
def draw(uniform, tables, layout, axes, axis_starts, n_own, cliques, codes):
    """Draw the free variables from the root down, from the tables that ``collect`` left.

    ``axes`` of clique k: its own first, then the separator.  ``codes`` (n_variables, n_samples) is
    overwritten; ``uniform`` (n_samples, n_variables).  The cliques' tables become cumulative.
    """
    for k in range(n_own.size - 1, -1, -1):
        first, middle, last = axis_starts[k], axis_starts[k] + n_own[k], axis_starts[k + 1]
        table = cliques[layout.clique_at[k] : layout.clique_at[k + 1]]
        n_separator = layout.message_at[k + 1] - layout.message_at[k]
        n = table.size // n_separator
        along, across = (1, n) if layout.own_last[k] else (n_separator, 1)
        for s in range(n_separator):
            for r in range(1, n):
                table[s * across + r * along] += table[s * across + (r - 1) * along]
        for i in range(uniform.shape[0]):
            s = 0
            for p in range(middle, last):
                s = s * tables.n_states[axes[p]] + codes[axes[p], i]
            top = table[s * across + (n - 1) * along]
            x = uniform[i, axes[first]] * top
            low, high = 0, n - 1  # the first cell above x; the last that has mass, if rounding
            while low < high:
                r = (low + high) // 2
                y = table[s * across + r * along]
                if y > x or y == top:
                    high = r
                else:
                    low = r + 1
            for p in range(middle - 1, first - 1, -1):
                m = tables.n_states[axes[p]]
                codes[axes[p], i] = low % m
                low //= m
