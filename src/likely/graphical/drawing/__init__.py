"""Pictures of graphs: SVG, DOT and text."""
