"""Where sums over blocks are computed."""
