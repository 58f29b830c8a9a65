# Answer a question about colour: ASK says which one, PLACE and THING what of.
array, scale = pixels_of(picture, 900)
height, width = array.shape[:2]


def named_shares(pixels):
    """The share of each colour name among pixels, largest first."""
    codes, counts = np.unique(
        (pixels.reshape(-1, 3).astype(np.int32) >> 3) @ np.array([1024, 32, 1]), return_counts=True
    )
    shares = {}
    for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
        name = name_of(np.array([code >> 10, code >> 5 & 31, code & 31]) * 255 / 31)
        shares[name] = shares.get(name, 0) + count / counts.sum()
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def around_place():
    """The pixels around the place that is asked for: (x, y) in pixels, or as shares of width and height."""
    x, y = PLACE
    x, y = (x / scale, y / scale) if ASK == "pixel" else (x * (width - 1), y * (height - 1))
    reach = 0 if ASK == "pixel" else max(1, min(width, height) // 100)
    x, y = round(x), round(y)
    return array[max(0, y - reach) : y + reach + 1, max(0, x - reach) : x + reach + 1], (x, y)


def of_things():
    """The colour names of all things of the wanted shape, each once."""
    things = without_specks(objects_in(array))
    return sorted({thing["name"] for thing in things if THING in ("any", thing["shape"])}), len(things)


mark, why = None, ""
if ASK in ("dominant", "list", "present"):
    shares = named_shares(array)
    palette, parts = palette_of(array)
    solid = list(dict.fromkeys(name_of(colour) for colour in palette))
    names = solid if ASK == "list" else list(shares)
    print(", ".join(f"{name} {share:.1%}" for name, share in shares.items() if share > 0.002))
    if ASK == "dominant" and len(names) > 1 and shares[names[0]] - shares[names[1]] < 0.02:
        why = f"{names[0]} and {names[1]} cover almost the same area"
    names = names[:1] if ASK == "dominant" else names
    if ASK == "list" and len(array[::7, ::7].reshape(-1, 3)) and parts.sum() < 0.6:
        why = "the colours run into one another, as in a photograph"
    if ASK == "present":
        share = (
            max(shares.get(name, 0) for name in (COLOUR, *ALIKE.get(COLOUR, ())[1:]))
            if COLOUR not in solid
            else 1.0
        )
        exact = shares.get(COLOUR, 0)
        names = [COLOUR] if COLOUR in solid or exact > 0.004 else []
        if not names and share > 0.004:
            why = f"there is something close to {COLOUR}, but whether it is called so is a matter of taste"
elif ASK == "background":
    colour = background_of(array)
    border = np.concatenate([array[0], array[-1], array[:, 0], array[:, -1]])
    share = (np.abs(border - colour).max(axis=1) < 40).mean()
    names = [name_of(colour)]
    print(f"{share:.0%} of the border is {names[0]}, RGB {np.round(colour).astype(int).tolist()}")
    why = "" if share > 0.5 else "the border has no colour of its own"
elif ASK == "thing":
    names, n = of_things()
    print(f"{n} things; colours of the wanted ones: {', '.join(names) or 'none'}")
    why = "" if names and n <= 100 else f"no {THING} of one clear form was found"
else:
    pixels, mark = around_place()
    names = [name_of(np.median(pixels.reshape(-1, 3), axis=0))] if pixels.size else []
    why = "" if names else "that place lies outside of the picture"
    print(f"at {mark}: {names}")
axes = show(array, f"{ASK}: {', '.join(names[:6])}")
if mark:
    axes.plot(*mark, "+", color="black", ms=14)
plt.show()
report(colours=names[:10], confident=not why, why=why)
