"""Model files as older versions wrote them: format 1, all items of a sequence, order C."""

import json

import numpy as np
from safetensors.numpy import save_file

import likely
from likely.storage.encoding import Encoder
from likely.storage.model_file import PACKAGES
from likely.storage.tensors import checksum_of


def save_in_format_1(model, path):
    encoder = Encoder(type(model).__name__, in_runs=False)
    header = {
        **encoder.model(model),
        "format": 1,
        "feature_names": None,
        "versions": dict.fromkeys(("likely", *PACKAGES), likely.__version__),
        "tensors": {name: declared(array) for name, array in encoder.tensors.items()},
    }
    plain = {name: np.ascontiguousarray(array) for name, array in encoder.tensors.items()}
    contents = (plain[name].tobytes() for name in sorted(plain))
    whole = {**header, "checksum": checksum_of(header, contents)}
    save_file(plain, path, metadata={"likely": json.dumps(whole, sort_keys=True)})


def declared(array):
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    return [array.dtype.name, list(array.shape), "F" if fortran else "C"]
