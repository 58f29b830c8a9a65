# Compare two pictures pixel by pixel.
one, two = pictures
same_size = one.size == two.size
if not same_size:
    print(f"the sizes differ: {one.size[0]} x {one.size[1]} and {two.size[0]} x {two.size[1]} pixels")
    report(same_size=False, changed=0, share=1.0, regions=[], count=0, confident=True)
else:
    a, b = np.asarray(one.convert("RGB")).astype(np.int16), np.asarray(two.convert("RGB")).astype(np.int16)
    apart = np.abs(a - b).max(axis=2)
    changed = apart > 24
    small, factor = coarse_of(changed, 1000)
    labels, n = label(grown(small, max(1, max(small.shape) // 100)))
    found = boxes(np.where(small, labels, 0), n) if n else np.zeros((0, 5), int)
    found = sorted(found.tolist(), key=lambda box: -box[4])
    width, height = one.size
    regions = [
        [x0 * factor, y0 * factor, min(width, (x1 + 1) * factor) - 1, min(height, (y1 + 1) * factor) - 1]
        for x0, y0, x1, y1, _ in found
    ]
    print(f"{changed.sum()} of {changed.size} pixels ({changed.mean():.2%}) differ by more than 24 levels")
    print(f"{(apart > 0).sum()} pixels differ at all")
    axes = show(np.asarray(two.convert("RGB")), f"{len(regions)} regions differ")
    for left, top, right, bottom in regions[:60]:
        axes.add_patch(
            plt.Rectangle((left, top), right - left, bottom - top, fill=False, color="red", lw=1.2)
        )
    plt.show()
    report(
        same_size=True,
        changed=int(changed.sum()),
        any=int((apart > 0).sum()),
        share=round(float(changed.mean()), 6),
        regions=regions[:8],
        count=len(regions),
        confident=True,
    )
