"""
Networks, messages and plates
=============================

``draw`` arranges a graph so that no labels overlap, and gives it as SVG, DOT and text. Its shapes,
lines and labels have places in pixels (``drawing``), which are painted here with Matplotlib: a
network whose observed variable is shaded, the factor graph of another network with the messages
towards x3, and a mixture as a plate.
"""

import matplotlib.pyplot as plt
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path

import likely as lk


def paint(axes, diagram):
    """Every shape, line and label of the diagram, in its place."""
    drawing = diagram.drawing
    for lines, colour in ((drawing.lines, "0.2"), (drawing.arrows, "C0")):
        for line in lines:
            path = Path(line.curve, [Path.MOVETO] + [Path.CURVE4] * (len(line.curve) - 1))
            head = "-|>,head_length=4,head_width=2" if line.directed else "-"
            axes.add_patch(FancyArrowPatch(path=path, arrowstyle=head, color=colour))
    for box in drawing.plates:
        corner = (box.left, box.top)
        axes.add_patch(Rectangle(corner, box.width, box.height, fill=False, edgecolor="0.5"))
    for node in drawing.shapes:
        box, paper = node.shape, "0.8" if node.shaded else "white"
        if node.kind == "circle" and box.width == box.height:
            place = Circle(box.centre, box.width / 2, zorder=3)
        else:
            style = f"round,pad=0,rounding_size={box.height / 2 if node.kind == 'circle' else 1}"
            place = FancyBboxPatch((box.left, box.top), box.width, box.height, style, zorder=3)
        place.set(facecolor=paper, edgecolor="0.2")
        axes.add_patch(place)
        axes.text(*node.text.centre, node.text.label, ha="center", va="center", size=9, zorder=4)
    for box in drawing.labels:
        colour = "C0" if box.part == "message" else "0.4"
        axes.text(*box.centre, box.label, ha="center", va="center", size=8, color=colour, zorder=4)
    axes.set(xlim=(0, drawing.width), ylim=(drawing.height, 0), aspect="equal")
    axes.axis("off")


garden = lk.BayesianNetwork.from_edges(
    [("cloudy", "sprinkler"), ("cloudy", "rain"), ("sprinkler", "grass"), ("rain", "grass")],
    {"cloudy": 2, "sprinkler": 2, "rain": 2, "grass": 2},
)
five = lk.examples.five_variables()
mixture = lk.graphical.PlateModel(
    {"c": 2, "x": 2},
    {"c": [0.5, 0.5], "x": [[0.9, 0.1], [0.2, 0.8]]},
    {"x": ["c"]},
    {"N": ["c", "x"]},
    observed=["x"],
)
diagrams = {
    "grass is observed": garden.draw(given=["grass"]),
    "messages towards x3, given x4 = 1": five.draw(
        given=["x4"], messages=five.messages("x3", {"x4": 1})
    ),
    "a mixture": mixture.draw(),
}
widths = [diagram.drawing.width for diagram in diagrams.values()]
figure, axes = plt.subplots(1, 3, figsize=(13, 5), width_ratios=widths, layout="constrained")
for (title, diagram), place in zip(diagrams.items(), axes, strict=True):
    paint(place, diagram)
    place.set_title(title, size=10)

plt.show()
