"""Worked programs for questions about one image."""

# ruff: noqa: F811 - each is a program by itself


# Given an image: How many umbrellas are open?
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    umbrella_patches = image_patch.find("umbrella")
    open_umbrellas = [patch for patch in umbrella_patches if patch.verify_property("umbrella", "open")]
    return str(len(open_umbrellas))


# Given an image: What colour is the kettle on the stove?
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    kettle_patches = image_patch.find("kettle")
    stove_patches = image_patch.find("stove")
    if not kettle_patches or not stove_patches:
        return image_patch.simple_query("What colour is the kettle on the stove?")
    nearest = min(kettle_patches, key=lambda patch: distance(patch, stove_patches[0]))
    return nearest.simple_query("What colour is the kettle?")


# Given an image: Is there a ladder to the left of the door?
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    ladder_patches = image_patch.find("ladder")
    door_patches = image_patch.find("door")
    for ladder_patch in ladder_patches:
        for door_patch in door_patches:
            if ladder_patch.horizontal_center < door_patch.horizontal_center:
                return "yes"
    return "no"


# Given an image: Are there more spoons than forks?
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    spoons = len(image_patch.find("spoon"))
    forks = len(image_patch.find("fork"))
    return bool_to_yesno(spoons > forks)


# Given an image: Is the suitcase made of leather or of metal?
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    suitcase_patches = image_patch.find("suitcase")
    if not suitcase_patches:
        suitcase_patches = [image_patch]
    return suitcase_patches[0].best_text_match(["leather", "metal"])


# Given an image: What hangs above the fireplace?
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    fireplace_patches = image_patch.find("fireplace")
    if not fireplace_patches:
        return image_patch.simple_query("What hangs on the wall?")
    fireplace_patch = fireplace_patches[0]
    above_patch = image_patch.crop(
        fireplace_patch.left, fireplace_patch.upper, fireplace_patch.right, image_patch.height
    )
    return above_patch.simple_query("What hangs here?")


# Given an image: Which is nearer to the camera, the tractor or the barn?
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    tractor_patches = image_patch.find("tractor")
    barn_patches = image_patch.find("barn")
    if not tractor_patches:
        return "barn"
    if not barn_patches:
        return "tractor"
    tractor_depth = tractor_patches[0].compute_depth()
    barn_depth = barn_patches[0].compute_depth()
    return "tractor" if tractor_depth < barn_depth else "barn"


# Given an image: Do all of the plates have food on them?
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    plate_patches = image_patch.find("plate")
    for plate_patch in plate_patches:
        if "no" in plate_patch.simple_query("Is there food on this plate?").lower():
            return "no"
    return "yes"


# Given an image: How many wheels do the carts have in total?
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    total = 0
    for cart_patch in image_patch.find("cart"):
        answer = cart_patch.simple_query("How many wheels does this cart have?")
        total += coerce_to_numeric(answer)
    return str(total)


# Given an image: Is the boat at the top larger than the boat at the bottom?
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    boat_patches = image_patch.find("boat")
    if len(boat_patches) < 2:
        return "no"
    boat_patches.sort(key=lambda patch: patch.vertical_center)
    lowest, highest = boat_patches[0], boat_patches[-1]
    return bool_to_yesno(highest.width * highest.height > lowest.width * lowest.height)


# Given an image: Does the bus show the number 42?
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    for bus_patch in image_patch.find("bus"):
        if bus_patch.exists("number 42"):
            return "yes"
    return "no"


# Given an image: In which country was the landmark in the picture built?
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    name = image_patch.simple_query("What is the name of this landmark?")
    return llm_query(f"In which country is {name}? Answer with the country.", long_answer=False)


# Given an image: Which animal touches the fence?
def execute_command(image) -> str:
    image_patch = ImagePatch(image)
    fence_patches = image_patch.find("fence")
    for animal_patch in image_patch.find("animal"):
        for fence_patch in fence_patches:
            if animal_patch.overlaps_with(
                fence_patch.left, fence_patch.lower, fence_patch.right, fence_patch.upper
            ):
                return animal_patch.simple_query("What animal is this?")
    return image_patch.simple_query("Which animal touches the fence?")
