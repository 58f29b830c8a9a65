"""Worked programs whose answer is a part of the image."""

# ruff: noqa: F811 - each is a program by itself


# Given an image: Find the second car from the left.
def execute_command(image) -> ImagePatch:
    image_patch = ImagePatch(image)
    car_patches = image_patch.find("car")
    car_patches.sort(key=lambda patch: patch.horizontal_center)
    if len(car_patches) >= 2:
        return car_patches[1]
    return car_patches[0] if car_patches else image_patch


# Given an image: Find the girl in the striped dress.
def execute_command(image) -> ImagePatch:
    image_patch = ImagePatch(image)
    girl_patches = image_patch.find("girl")
    if not girl_patches:
        return image_patch
    return best_image_match(girl_patches, ["girl in a striped dress"])


# Given an image: Find the cup nearest to the laptop.
def execute_command(image) -> ImagePatch:
    image_patch = ImagePatch(image)
    cup_patches = image_patch.find("cup")
    laptop_patches = image_patch.find("laptop")
    if not cup_patches:
        return image_patch
    if not laptop_patches:
        return cup_patches[0]
    return min(cup_patches, key=lambda patch: distance(patch, laptop_patches[0]))


# Given an image: Find the largest pumpkin.
def execute_command(image) -> ImagePatch:
    image_patch = ImagePatch(image)
    pumpkin_patches = image_patch.find("pumpkin")
    if not pumpkin_patches:
        return image_patch
    return max(pumpkin_patches, key=lambda patch: patch.width * patch.height)


# Given an image: Find the person farthest from the camera.
def execute_command(image) -> ImagePatch:
    image_patch = ImagePatch(image)
    person_patches = image_patch.find("person")
    if not person_patches:
        return image_patch
    return max(person_patches, key=lambda patch: patch.compute_depth())


# Given an image: Find the sign above the red truck.
def execute_command(image) -> ImagePatch:
    image_patch = ImagePatch(image)
    truck_patches = image_patch.find("truck")
    red_trucks = [patch for patch in truck_patches if patch.verify_property("truck", "red")]
    sign_patches = image_patch.find("sign")
    for truck_patch in red_trucks:
        for sign_patch in sign_patches:
            if sign_patch.lower > truck_patch.vertical_center:
                return sign_patch
    return sign_patches[0] if sign_patches else image_patch
