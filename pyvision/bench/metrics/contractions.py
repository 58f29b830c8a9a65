"""The contractions that VQA normalisation puts an apostrophe into, as its evaluation lists them.

Left out: the few entries of that list that go the other way (`somebody'd` loses its apostrophe), which look like slips.
The rest follows the published list from memory; it was not compared entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

_WHOLE = """
ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't haven't he'd he'd've he's
how'd how'll how's I'd've I'm I've isn't it'd it'd've it'll let's ma'am mightn't mightn't've might've mustn't must've
needn't not've o'clock oughtn't 'ow's'at shan't she'd've should've shouldn't shouldn't've somebody'd've somebody'll
somebody's someone'd someone'd've someone'll someone's something'd something'd've something'll that's there'd
there'd've there're there's they'd they'd've they'll they're they've 'twas wasn't we'd've we've weren't what'll
what're what's what've when's where'd where's where've who'd who'd've who'll who's who've why'll why're why's won't
would've wouldn't wouldn't've y'all y'all'll y'all'd've you'd you'd've you'll you're you've
"""


@cache
def contractions() -> Mapping[str, str]:
    """From each spelling that lacks one of its apostrophes, or all of them, to the right one."""
    return {wrong: right for right in _WHOLE.split() for wrong in _misspelt(right)}


def _misspelt(word: str) -> Iterator[str]:
    places = [place for place, character in enumerate(word) if character == "'"]
    yield word.replace("'", "")
    if len(places) > 1:
        yield from (word[:place] + word[place + 1 :] for place in places)
