"""The tolerances of linear fits, in one table: what each is a share of, and why it is not another.

Three places use them.  *The last digits*: how near an optimum is for standard errors.  *The edge*:
means that may not be reached, in ``fitting/edge.py``.  *Closed forms*: which of them keeps enough
digits, in ``linear/regression.py``.
"""

# The last digits: gaps in nats, for weights of mean 1

DECREMENT = 1e-10  # of a fit whose estimates have errors
CHEAP_PASS = 1e7  # multiplications for a Hessian: below, all digits cost next to nothing
FEW = 1e4  # multiplications for a Hessian: less than what surrounds them costs
SMALLEST_SHARE = 1e-6  # of the weight of such a table, in a row that counts
ALL_DIGITS = 1e-19  # for a row per parameter: nine digits are those of any layout
LAST_STEP = 5e-13  # it moves no estimate by 1e-6 of its error, nor the error by 1e-6 of it
LAST_STEP_OF_A_ROW = 5e-17  # predictors then move by 1e-8, in the quadratic mean
MOST_LAST_STEPS = 25  # scoring with a link that is not canonical gains a digit in a step or two

# The edge of the valid predictors

PLAIN_STEPS = 30  # of Newton without a barrier
NEAR_EDGE = 1e-2  # slack, as part of the usual one, below which an optimum may be at an edge
FIRST_BARRIER, LAST_BARRIER, NEXT_BARRIER = 0.1, 1e-10, 0.1  # τ, in nats a row, and how it falls
BARRIER_STEPS = 40  # of Newton at each τ
CENTRED = 1e-3  # of a decrement in units of τ·Σw: close enough to continue
TOUCHING = 1e-12  # of the mean slack: no more digits are left
SHRINKING = 0.5  # of the slack at 100 τ: less shows an edge
EDGE_CURVATURE = 1e-6  # of rows that need not move to become valid
EDGE_DIFFERENCE = 1e-4  # of the distance to an edge: curvature by differences is good to 1e-8
EDGE_RANK = 1e-14  # of the largest singular value of a scaled Hessian

# Closed forms of least squares: conditions of the columns

CONDITION_TO_REFINE = 30.0  # below, the normal equations keep 13 digits
CONDITION_FOR_QR = 1e4  # the normal equations keep half of a double's digits up to here
CONDITION_OF_NORMAL_EQUATIONS = 1e6  # above, refinement leaves fewer than 7 digits
MEAN_TO_DOUBT = 1e6  # standard deviations: rounding of such a mean would be multiplied by a step
MOST_CELLS_TO_EXTEND = 1e5  # beyond, extended precision costs more than it is worth
MOST_FOR_GRAM = 5000  # columns: a Gram matrix of that size costs 200 MB and a few seconds
MOST_FOR_QR = 1e11  # multiplications: a minute; a Gram matrix of categories costs far less
NULL_OF_ROWS = 1e-10  # of a unit: the length that rounding may leave of a sum of dependent columns
