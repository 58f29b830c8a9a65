"""Which call is which kind of tool: tables of names from PIL, numpy, cv2, skimage, scipy and matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "crop",
    "rotate",
    "enhance",
    "segmentation",
    "detection",
    "ocr",
    "marks",
    "lines",
    "histogram",
    "numeric",
    "other",
]
ToolClass: TypeAlias = Literal["basic", "advanced", "prompting", "numerical", "other"]

CLASS_OF: Mapping[Kind, ToolClass] = {
    "crop": "basic",
    "rotate": "basic",
    "enhance": "basic",
    "segmentation": "advanced",
    "detection": "advanced",
    "ocr": "advanced",
    "marks": "prompting",
    "lines": "prompting",
    "histogram": "numerical",
    "numeric": "numerical",
    "other": "other",
}
"""The classes are those of the PyVision paper (arXiv 2507.07998, Figure 9); the rules are ours."""

TITLES: Mapping[ToolClass, str] = {
    "basic": "basic image processing",
    "advanced": "advanced image processing",
    "prompting": "visual prompting and sketching",
    "numerical": "numerical and statistical",
    "other": "other",
}

_ALWAYS: Mapping[Kind, str] = {  # these show what a cell does wherever they occur
    "crop": "crop",
    "rotate": """rotate rot90 flip fliplr flipud mirror warpAffine warpPerspective getRotationMatrix2D
        exif_transpose deskew""",
    "enhance": """enhance autocontrast equalize equalizeHist createCLAHE equalize_hist equalize_adapthist
        rescale_intensity adjust_gamma adjust_log adjust_sigmoid convertScaleAbs addWeighted filter2D LUT
        detailEnhance unsharp_mask fastNlMeansDenoising fastNlMeansDenoisingColored denoise_tv_chambolle
        denoise_bilateral solarize posterize point""",
    "segmentation": """slic felzenszwalb quickshift watershed grabCut floodFill flood_fill label
        connectedComponents connectedComponentsWithStats KMeans MiniBatchKMeans kmeans chan_vese
        random_walker clear_border remove_small_objects quantize""",
    "detection": """Canny canny HoughCircles HoughLines HoughLinesP hough_line hough_circle
        probabilistic_hough_line findContours find_contours boundingRect minAreaRect matchTemplate
        match_template detectMultiScale goodFeaturesToTrack cornerHarris corner_harris corner_peaks
        corner_fast SimpleBlobDetector_create blob_log blob_dog blob_doh regionprops find_objects ORB_create
        SIFT_create YOLO Sobel sobel Laplacian Scharr prewitt QRCodeDetector HOGDescriptor""",
    "ocr": """image_to_string image_to_data image_to_boxes readtext RapidOCR PaddleOCR TesseractOCR""",
    "marks": """rectangle rounded_rectangle circle ellipse putText drawMarker drawContours add_patch polygon
        fillPoly add_artist draw_bounding_boxes mark_boundaries""",
    "lines": """line arrowedLine polylines axhline axvline axline hlines vlines""",
    "histogram": """histogram hist calcHist bincount getcolors most_common""",
    "numeric": """mean average std var median sum cumsum prod dot solve solveset nsolve lstsq polyfit curve_fit
        integrate diff simplify factor norm hypot sqrt cos sin tan acos atan atan2 radians degrees exp log
        log10 log2 comb perm factorial gcd lcm permutations combinations countNonZero count_nonzero corrcoef
        linregress argmin argmax arctan2 cdist pdist Fraction Rational distance euclidean contourArea""",
}
_UNLESS_MORE: Mapping[Kind, str] = {  # these often only prepare another tool
    "enhance": """resize thumbnail GaussianBlur medianBlur bilateralFilter blur gaussian gaussian_filter
        median_filter invert grayscale pyrUp""",
    "segmentation": """threshold adaptiveThreshold inRange threshold_otsu threshold_local masked_where
        logical_and logical_or""",
}
PREPARES: Mapping[Kind, frozenset[Kind]] = {
    "enhance": frozenset({"crop", "rotate", "enhance", "segmentation", "detection", "ocr", "histogram"}),
    "segmentation": frozenset({"detection", "segmentation", "ocr"}),
}
"""Kind -> the kinds beside which its weaker signs do not count: a blur before an edge filter is not a tool."""

ON_AN_IMAGE: Mapping[str, Kind] = {
    "text": "marks",
    "annotate": "marks",
    "scatter": "marks",
    "arrow": "lines",
}
"""Calls that draw on an image if one is displayed or drawn on, and make a chart otherwise."""

FILTERS: Mapping[str, Kind] = {"FIND_EDGES": "detection", "CONTOUR": "detection"}
"""Constants of PIL.ImageFilter that do not enhance."""

TURNS = frozenset(
    {"ROTATE_90", "ROTATE_180", "ROTATE_270", "FLIP_LEFT_RIGHT", "FLIP_TOP_BOTTOM", "TRANSPOSE"}
)
_PIXEL_KEEPING = """array asarray copy astype convert cvtColor resize crop rotate transpose float32 float64 uint8
    rgb2gray rgb2hsv img_as_float split fromarray reshape ravel flatten medianBlur GaussianBlur imread open
    filter autocontrast abs absdiff clip float int16 int32 invert squeeze"""
PIXEL_KEEPING = frozenset(_PIXEL_KEEPING.split())
"""Calls that return pixels when they get pixels."""


def _table(names: Mapping[Kind, str]) -> Mapping[str, Kind]:
    return {name: kind for kind, listed in names.items() for name in listed.split()}


SURE = _table(_ALWAYS)
WEAK = _table(_UNLESS_MORE)
