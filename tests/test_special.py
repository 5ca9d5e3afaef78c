"""Elementary functions: identities, extremes, SciPy, other array libraries, refusals."""

import math
import subprocess
import sys
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy import special as scipy_special

from likely import special
from likely.errors import InvalidInput
from likely.special import ACTIVATIONS

EXTREMES = np.array([-np.inf, -1000.0, -1.0, 0.0, 1.0, 1000.0, np.inf])
LOGITS = st.lists(st.floats(-50, 50), min_size=1, max_size=6)


def central(f, a, step=1e-5):
    return (f(a + step) - f(a - step)) / (2 * step)


def some_logits(seed=0, shape=(7, 5)):
    return np.random.default_rng(seed).normal(scale=3, size=shape)


class Foreign(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of another library: NumPy's functions refuse it, its own namespace serves it."""

    def __init__(self, values):
        self.values = np.asarray(values)

    shape = property(lambda self: self.values.shape)
    ndim = property(lambda self: self.values.ndim)

    def __getitem__(self, key):
        return Foreign(self.values[key])

    def __array_ufunc__(self, ufunc, method, *inputs):
        if any(isinstance(x, np.ndarray) for x in inputs):
            return NotImplemented
        return Foreign(ufunc(*map(unwrapped, inputs)))

    def __array_namespace__(self):
        return FOREIGN_LIBRARY


def unwrapped(x):
    return x.values if isinstance(x, Foreign) else x


class ForeignLibrary:
    def __getattr__(self, name):
        if name == "amax":
            raise AttributeError(name)  # as in the array-API standard
        function = getattr(np, name)

        def call(*args, **options):
            args = [list(map(unwrapped, x)) if isinstance(x, list) else unwrapped(x) for x in args]
            return Foreign(function(*args, **options))

        return call


FOREIGN_LIBRARY = ForeignLibrary()


def test_importing_needs_numpy_alone():
    code = "import sys, likely.special; print('scipy' in sys.modules, 'sklearn' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "False"]


def test_sigmoid_and_its_logs_are_finite_at_a_thousand():
    a = np.array([-1000.0, 1000.0])
    assert_array_equal(special.expit(a), [0.0, 1.0])
    assert_array_equal(special.log_expit(a), [-1000.0, 0.0])
    assert_array_equal(special.log_expit_complement(a), [0.0, -1000.0])
    assert special.expit(0) == 0.5
    assert special.expit(-700.0) == pytest.approx(math.exp(-700), rel=1e-14)  # not 0


@given(st.floats(-800, 800))
def test_sigmoid_and_its_mirror_sum_to_one(a):
    assert abs(special.expit(a) + special.expit(-a) - 1) <= 1e-15
    # SciPy has 0 where σ is subnormal
    assert_allclose(special.expit(a), scipy_special.expit(a), rtol=1e-13, atol=1e-300)
    assert_allclose(special.log_expit(a), scipy_special.log_expit(a), rtol=1e-14)


@pytest.mark.parametrize("name", ["expit", "log_expit", "log_expit_complement"])
def test_sigmoid_derivatives_equal_central_differences(name):
    a = np.linspace(-8, 8, 33)
    derivative = getattr(special, f"{name}_derivative")(a)
    assert_allclose(derivative, central(getattr(special, name), a), atol=1e-8)


@pytest.mark.parametrize("name", ["expit", "log_expit", "log_expit_complement", "softmax"])
def test_infinite_logits_do_not_become_nan(name):
    assert not np.isnan(getattr(special, name)(EXTREMES)).any()


@given(st.floats(1e-12, 1 - 1e-12))
def test_logit_undoes_expit(p):
    assert_allclose(special.expit(special.logit(p)), p, rtol=1e-12)


def test_logit_of_certainty_is_infinite():
    assert_array_equal(special.logit([0.0, 0.5, 1.0]), [-np.inf, 0.0, np.inf])


def test_log_of_zero_is_minus_infinity_without_a_warning():
    assert special.log(0) == -np.inf
    assert special.log1p(-1) == -np.inf
    assert special.exp(1000) == np.inf


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp_equals_scipy(axis, keepdims):
    a = some_logits()
    a[2] = -np.inf
    a[:, 3] = -np.inf
    a[0, 0], a[1, 1] = 1000.0, -1000.0
    weights = np.random.default_rng(1).integers(0, 3, a.shape).astype(float)
    ours = special.logsumexp(a, axis, keepdims=keepdims)
    theirs = scipy_special.logsumexp(a, axis, keepdims=keepdims)
    assert ours.shape == np.shape(theirs)
    assert_allclose(ours, theirs, rtol=1e-14, atol=1e-14)
    ours = special.logsumexp(a, axis, weights=weights, keepdims=keepdims)
    theirs = scipy_special.logsumexp(a, axis, b=weights, keepdims=keepdims)
    assert_allclose(ours, theirs, rtol=1e-14, atol=1e-14)


def test_logsumexp_of_nothing_and_of_zero_weights_is_minus_infinity():
    assert special.logsumexp([]) == -np.inf
    assert special.logsumexp([-np.inf, -np.inf]) == -np.inf
    assert special.logsumexp([3.0, np.inf], weights=[0.0, 0.0]) == -np.inf
    assert special.logsumexp([3.0, np.inf]) == np.inf
    assert special.logsumexp(2.0) == 2.0


def test_a_weight_of_two_is_the_term_twice():
    a = [0.3, -2.0, 5.0]
    assert_allclose(special.logsumexp(a, weights=[2, 0, 1]), special.logsumexp([0.3, 0.3, 5.0]))


@given(st.floats(-1000, 1000), st.floats(-1000, 1000))
def test_log_add_exp_is_logsumexp_of_two(a, b):
    assert_allclose(special.log_add_exp(a, b), np.logaddexp(a, b), rtol=1e-14, atol=1e-300)


def test_log_add_exp_of_infinities():
    a = np.array([-np.inf, -np.inf, np.inf, np.inf])
    b = np.array([-np.inf, 2.0, np.inf, -np.inf])
    assert_array_equal(special.log_add_exp(a, b), [-np.inf, 2.0, np.inf, np.inf])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_equals_scipy(axis):
    a = some_logits()
    assert_allclose(special.softmax(a, axis), scipy_special.softmax(a, axis), rtol=1e-14)
    assert_allclose(special.log_softmax(a, axis), scipy_special.log_softmax(a, axis), rtol=1e-13)
    assert_allclose(special.softmax(a, axis).sum(axis), 1, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("shift", [-1e4, 1e4])
def test_softmax_forgets_a_common_shift(shift):
    a = np.array([1.0, -2.0, 0.5])  # whose sums with ±1e4 are exact to 2e-12
    assert_allclose(special.softmax(a + shift), special.softmax(a), rtol=1e-11)


def test_softmax_of_two_is_the_sigmoid_of_the_difference():
    a = some_logits(shape=(9, 2))
    assert_allclose(special.softmax(a)[:, 0], special.expit(a[:, 0] - a[:, 1]), rtol=1e-14)


def test_softmax_of_equal_infinite_logits_shares_equally():
    assert_array_equal(special.softmax([-np.inf, -np.inf]), [0.5, 0.5])
    assert_array_equal(special.softmax([np.inf, 3.0]), [1.0, 0.0])
    assert_array_equal(special.log_softmax([0.0, -np.inf]), [0.0, -np.inf])


@given(LOGITS)
def test_softmax_jacobian_has_zero_sums_and_equals_differences(a):
    a = np.array(a)
    jacobian = special.softmax_jacobian(a)
    steps = [central(lambda t, e=e: special.softmax(a + t * e), 0.0) for e in np.eye(a.size)]
    assert_allclose(jacobian, np.array(steps).T, atol=1e-8)
    assert_allclose(jacobian.sum(axis=0), 0, rtol=1e-10, atol=1e-15)
    assert_allclose(jacobian.sum(axis=1), 0, rtol=1e-10, atol=1e-15)


def test_softmax_jacobian_works_along_any_axis():
    a = some_logits(shape=(3, 4))
    along_rows = special.softmax_jacobian(a, axis=0)
    assert along_rows.shape == (4, 3, 3)
    assert_allclose(along_rows, special.softmax_jacobian(a.T))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_derivatives_equal_central_differences(name):
    activation = ACTIVATIONS[name]
    a = np.linspace(-3, 3, 24)  # does not contain the kink of relu
    assert_allclose(activation.derivative(a), central(activation.value, a), atol=1e-8)
    from_output = activation.derivative_from_output(activation.value(a))
    assert_allclose(from_output, activation.derivative(a), rtol=1e-10, atol=1e-14)


def test_tanh_is_a_sigmoid():
    a = np.linspace(-20, 20, 101)
    assert_allclose(
        ACTIVATIONS["tanh"].value(a), 2 * special.expit(2 * a) - 1, rtol=1e-10, atol=1e-15
    )


@given(st.lists(st.sampled_from(["ant", "bee", "cow"]), min_size=1))
def test_decoding_undoes_encoding(labels):
    classes = ["cow", "ant", "bee"]
    T = special.one_hot(labels, classes)
    assert_array_equal(T.sum(axis=1), 1)
    assert special.from_one_hot(T, classes).tolist() == labels
    sorted_classes = np.unique(labels)
    assert special.from_one_hot(special.one_hot(labels), sorted_classes).tolist() == labels


@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        (["a", "x"], ["a", "b"], "Label 'x' of example 1 .*one of 'a', 'b'.*Add it"),
        ([1, 2], ["1", "2"], "Label 1 of example 0"),
        ([1.0, np.nan], None, "Label nan of example 1"),
        ([1, 2], [1, 2, 2], "found 3 of which 2 differ"),
        ([[1, 2]], None, r"shape \(1, 2\)"),
    ],
)
def test_bad_labels_are_refused(labels, classes, message):
    with pytest.raises(InvalidInput, match=message):
        special.one_hot(labels, classes)


def test_decoding_needs_as_many_classes_as_columns():
    with pytest.raises(InvalidInput, match="2 classes and 3 columns"):
        special.from_one_hot(np.eye(3), ["a", "b"])


@given(st.lists(st.integers(0, 10), min_size=1, max_size=5))
def test_multinomial_coefficients_equal_factorials(counts):
    exact = math.factorial(sum(counts)) // math.prod(map(math.factorial, counts))
    assert special.multinomial_coefficient(counts) == exact
    assert_allclose(
        special.log_multinomial_coefficient(counts), math.log(exact), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
def test_sparse_multinomial_coefficients_equal_dense(layout):
    X = np.random.default_rng(0).poisson(0.7, (6, 8))
    expected = [special.multinomial_coefficient(row) for row in X]
    assert special.multinomial_coefficient(X).tolist() == expected
    assert special.multinomial_coefficient(layout(X)).tolist() == expected
    assert_allclose(
        special.log_multinomial_coefficient(layout(X)), np.log(expected), rtol=1e-10, atol=1e-12
    )
    assert_allclose(
        special.log_multinomial_coefficient(X), np.log(expected), rtol=1e-10, atol=1e-12
    )


def test_a_count_stored_in_two_pieces_is_one_count():
    pieces = sparse.csr_array((np.ones(3), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert_allclose(special.log_multinomial_coefficient(pieces), math.log(3))
    assert pieces.nnz == 3  # the caller's matrix is left alone


@pytest.mark.parametrize("counts", [[1, -2], [0.5, 1.0], sparse.csr_array([[1.0, -1.0]])])
def test_counts_that_are_not_counts_are_refused(counts):
    with pytest.raises(InvalidInput, match="whole numbers"):
        special.multinomial_coefficient(counts)


@pytest.mark.parametrize("counts", [np.array([1.0, -2.0]), sparse.csr_array([[1.0, -1.0]])])
def test_the_logarithm_takes_broken_counts_but_no_negative_ones(counts):
    halves = special.log_multinomial_coefficient(np.array([0.5, 0.5]))
    assert_allclose(halves, -2 * math.lgamma(1.5))
    with pytest.raises(InvalidInput, match="0 or more"):
        special.log_multinomial_coefficient(counts)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_an_appended_constant_is_a_bias(layout):
    rng = np.random.default_rng(0)
    X, w, b = rng.normal(size=(5, 3)), rng.normal(size=3), 0.7
    extended = special.append_constant(layout(X))
    assert extended.shape == (5, 4)
    assert sparse.issparse(extended) == (layout is sparse.csr_array)
    assert_allclose(extended @ np.append(w, b), X @ w + b, rtol=1e-10, atol=1e-12)
    assert_array_equal(special.append_constant(X[0]), np.append(X[0], 1))


@pytest.mark.parametrize(
    "name", ["exp", "expit", "log_expit", "softmax", "log_softmax", "logsumexp", "softmax_jacobian"]
)
def test_arrays_of_other_libraries_give_their_own_kind(name):
    a = some_logits(shape=(3, 4))
    a[0, 0] = -np.inf
    function = getattr(special, name)
    result = function(Foreign(a))
    assert isinstance(result, Foreign)
    assert_allclose(result.values, function(a))


def test_every_activation_takes_arrays_of_other_libraries():
    a = some_logits(shape=(6,))
    for activation in ACTIVATIONS.values():
        for part in (activation.value, activation.derivative):
            result = part(Foreign(a))
            assert isinstance(result, Foreign)
            assert_allclose(result.values, part(a))


def test_functions_of_two_arrays_take_other_libraries():
    a, b = some_logits(0), some_logits(1)
    assert_allclose(special.log_add_exp(Foreign(a), Foreign(b)).values, np.logaddexp(a, b))
    weighted = special.logsumexp(Foreign(a), 1, weights=Foreign(np.abs(b)))
    assert_allclose(weighted.values, scipy_special.logsumexp(a, 1, b=np.abs(b)))
    assert_allclose(special.append_constant(Foreign(a)).values, special.append_constant(a))


def test_float32_stays_float32():
    a = some_logits().astype(np.float32)
    for function in (special.expit, special.log_expit, special.softmax, special.log_softmax):
        assert function(a).dtype == np.float32
        assert_allclose(function(a), function(a.astype(float)), rtol=1e-4, atol=1e-6)


def test_negative_weights_of_logsumexp_are_those_of_scipy():
    """They were read as 0."""
    a = np.array([[2.0, 1.0, -3.0], [0.5, 800.0, 799.0]])
    weights = np.array([[1.0, -2.0, 0.0], [-3.0, 1.0, -0.5]])
    expected = scipy_special.logsumexp(a, axis=1, b=weights)
    assert_allclose(special.logsumexp(a, axis=1, weights=weights), expected, rtol=1e-12)
    assert np.isnan(special.logsumexp([0.0, 1.0], weights=[1.0, -1.0]))  # ln of a negative sum
    assert special.logsumexp([1.0, 1.0], weights=[1.0, -1.0]) == -np.inf


def log_factorial(n):
    """ln n!, in decimal numbers: exact below 2000, from there by Stirling's series to 1e-35."""
    if n < 2000:
        return Decimal(math.factorial(n)).ln()
    z, two_pi = Decimal(n), 2 * Decimal("3.14159265358979323846264338327950288")
    signed = (12, -360, 1260, -1680, 1188)
    series = sum(1 / (a * z ** (2 * i + 1)) for i, a in enumerate(signed))
    return (z + Decimal("0.5")) * z.ln() - z + two_pi.ln() / 2 + series


@pytest.mark.parametrize(
    "counts",
    [
        [1e15, 3.0],
        [3.0, 1e15, 0.0],
        [1e12, 1e6, 7.0],
        [1e9, 1e9],
        [2e13, 5e12, 1.0, 1.0],
        [58.0, 1.0],
        [59.0, 61.0, 2.0],
        [1e300, 2.0],
        [0.0, 0.0],
    ],
)
def test_coefficients_of_unequal_huge_counts_have_all_their_digits(counts):
    """ln Γ(1e15) alone is rounded to 4."""
    with localcontext(prec=350):
        whole = [int(x) for x in counts]
        expected = float(log_factorial(sum(whole)) - sum(map(log_factorial, whole)))
    found = special.log_multinomial_coefficient([counts, counts[::-1]])
    assert_allclose(found, expected, rtol=2e-14, atol=1e-300)
    stored = sparse.csr_array(np.array([counts, [0.0] * len(counts), counts]))
    found = special.log_multinomial_coefficient(stored)
    assert_allclose(found, [expected, 0.0, expected], rtol=2e-14, atol=1e-300)
