# Count separate things by colour and shape.
array, scale = pixels_of(picture, 1600)
things = without_specks(objects_in(array))
if COLOUR:
    names = [thing["name"] for thing in things]
    things = [things[index] for index in called(COLOUR, names)]
crossing = [thing for thing in things if thing["style"] == "outline" and thing["holes"] > 1]
merged = [thing for thing in things if SHAPE and may_be_merged(thing, SHAPE)]
wanted = [thing for thing in things if SHAPE in (None, thing["shape"])]

axes = show(array, f"{len(wanted)} counted of {len(things)} things")
for number, thing in enumerate(wanted, 1):
    left, top, right, bottom = thing["box"]
    if number <= 60:
        centre = ((left + right) * scale / 2, (top + bottom) * scale / 2)
        kind = f"{thing['name']} {thing['shape']} ({thing['style']})"
        area = f"area {thing['area'] * scale**2:.0f} px"
        print(f"{number}: {kind} around ({centre[0]:.0f}, {centre[1]:.0f}), {area}")
    axes.add_patch(plt.Rectangle((left, top), right - left, bottom - top, fill=False, color="red", lw=1))
    axes.text(left, top, str(number), color="red", fontsize=7)
plt.show()
why = "some things overlap or have no simple form" if crossing or merged else ""
if not is_drawing(array) or len(things) > 300:
    why = "this is no simple drawing, so things cannot be told apart by rules"
print(f"{len(things)} things in all, {len(crossing)} of them cross others, {len(merged)} may be several")
report(count=len(wanted) if is_drawing(array) else None, confident=not why, why=why)
