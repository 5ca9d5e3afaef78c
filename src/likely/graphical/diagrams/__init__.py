"""Pictures of graphs and of plates, as SVG, DOT and text."""
