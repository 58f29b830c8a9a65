"""Worked programs for questions about a list of images."""

# ruff: noqa: F811 - each is a program by itself


# Given a list of images: How many images show a horse?
def execute_command(image_list) -> str:
    count = 0
    for image in image_list:
        if ImagePatch(image).exists("horse"):
            count += 1
    return str(count)


# Given a list of images: What is the man in the image with the piano wearing?
def execute_command(image_list) -> str:
    for image in image_list:
        image_patch = ImagePatch(image)
        if image_patch.exists("piano"):
            man_patches = image_patch.find("man")
            man_patch = man_patches[0] if man_patches else image_patch
            return man_patch.simple_query("What is the man wearing?")
    return "nothing"


# Given a list of images: Is there an image with two dogs and a ball?
def execute_command(image_list) -> str:
    for image in image_list:
        image_patch = ImagePatch(image)
        dogs = image_patch.find("dog")
        balls = image_patch.find("ball")
        if len(dogs) == 2 and len(balls) >= 1:
            return "yes"
    return "no"


# Given a list of images: Which vegetable is in the image that has the most bowls?
def execute_command(image_list) -> str:
    most_bowls = -1
    chosen_patch = None
    for image in image_list:
        image_patch = ImagePatch(image)
        bowls = len(image_patch.find("bowl"))
        if bowls > most_bowls:
            most_bowls = bowls
            chosen_patch = image_patch
    return chosen_patch.simple_query("Which vegetable is this?")


# Given a list of images: Are there as many images of a beach as images of a forest?
def execute_command(image_list) -> str:
    places = [ImagePatch(image).best_text_match(["beach", "forest", "other place"]) for image in image_list]
    return bool_to_yesno(places.count("beach") == places.count("forest"))
