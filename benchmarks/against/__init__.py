"""Other libraries, one small adapter each, solving the objective that the benchmark states."""
