"""Worked programs for questions about two images, one on the left and one on the right."""

# ruff: noqa: F811 - each is a program by itself


# Given two images, one on the left and one on the right: Is the statement true? Both images show a bicycle.
def execute_command(image_dict) -> str:
    left_patch = ImagePatch(image_dict["left"])
    right_patch = ImagePatch(image_dict["right"])
    return bool_to_yesno(left_patch.exists("bicycle") and right_patch.exists("bicycle"))


# Given two images, one on the left and one on the right: Is the statement true? There are exactly three apples in all.
def execute_command(image_dict) -> str:
    total = 0
    for image in image_dict.values():
        total += len(ImagePatch(image).find("apple"))
    return bool_to_yesno(total == 3)


# Given two images, one on the left and one on the right: Is the statement true? The left image has more chairs.
def execute_command(image_dict) -> str:
    left_chairs = ImagePatch(image_dict["left"]).find("chair")
    right_chairs = ImagePatch(image_dict["right"]).find("chair")
    return bool_to_yesno(len(left_chairs) > len(right_chairs))


# Given two images, one on the left and one on the right: Is the statement true? One image shows a wet umbrella.
def execute_command(image_dict) -> str:
    count = 0
    for image in (image_dict["left"], image_dict["right"]):
        image_patch = ImagePatch(image)
        umbrella_patches = image_patch.find("umbrella")
        if any(patch.verify_property("umbrella", "wet") for patch in umbrella_patches):
            count += 1
    return bool_to_yesno(count == 1)


# Given two images, one on the left and one on the right: In which image is the lamp nearer to the bed?
def execute_command(image_dict) -> str:
    gaps = {}
    for side, image in image_dict.items():
        image_patch = ImagePatch(image)
        lamp_patches = image_patch.find("lamp")
        bed_patches = image_patch.find("bed")
        if lamp_patches and bed_patches:
            gaps[side] = min(distance(lamp, bed) for lamp in lamp_patches for bed in bed_patches)
    if not gaps:
        return "neither"
    return min(gaps, key=gaps.get)
