"""Learning of networks and fields: tables from counts and by EM, edges, log-linear potentials."""
