# Measure the picture itself.
from math import gcd

width, height = picture.size
step = gcd(width, height)
ratio = f"{width // step}:{height // step}"
print(f"{width} pixels wide, {height} high, {width * height / 1e6:.3f} megapixels, width to height {ratio}")
array, _ = pixels_of(picture, 400)
show(array, f"{width} x {height}")
plt.show()
report(width=width, height=height, confident=True)
