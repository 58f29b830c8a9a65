# Count filled discs that run into each other, from the arcs of their borders.
array, scale = pixels_of(picture, 1600)
background = background_of(array)
things = without_specks(objects_in(array)) if is_drawing(array) else []
if COLOUR:
    things = [things[index] for index in called(COLOUR, [thing["name"] for thing in things])]
discs, doubtful = discs_in(array, things, background)

axes = show(array, f"{len(discs)} discs")
for number, (x, y, radius, name) in enumerate(discs, 1):
    print(f"{number}: {name} disc, centre ({x * scale:.1f}, {y * scale:.1f}), radius {radius * scale:.1f} px")
    axes.add_patch(plt.Circle((x, y), radius, fill=False, color="black", lw=1))
plt.show()
print(f"{doubtful} things are only partly made of arcs")
why = "parts of the borders are no arcs of circles" if doubtful else ""
if not is_drawing(array):
    why = "this is no simple drawing, so things cannot be told apart by rules"
report(count=len(discs) if is_drawing(array) else None, confident=not why, why=why)
