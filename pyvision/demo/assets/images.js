// An image shown large, and a region of it marked by dragging or by typing pixels.
let onMarked = null; // gets the box: left, top, right, bottom, in pixels of the image
let from = null; // where a drag began

function showLarge(url, name, call) {
  onMarked = call;
  Object.assign($('large-image'), { src: url, alt: name });
  $('large-name').textContent = name;
  $('mark').hidden = !call;
  setMarking(false);
  $('large').showModal();
}

function setMarking(isOn) {
  $('mark').setAttribute('aria-pressed', String(isOn));
  $('region').hidden = !isOn;
  $('large').classList.toggle('marking', isOn);
  $('region').reset();
  drawMark();
  if (!isOn) return;
  const image = $('large-image');
  const limits = { left: image.naturalWidth - 1, top: image.naturalHeight - 1, right: image.naturalWidth, bottom: image.naturalHeight };
  for (const [key, most] of Object.entries(limits)) $('region').elements[key].max = most;
}

const typed = () => ['left', 'top', 'right', 'bottom'].map((key) => $('region').elements[key].value);

function drawMark() {
  const box = typed();
  const image = $('large-image');
  const isWhole = box.every((value) => value !== '');
  $('marked').hidden = !isWhole;
  if (!isWhole) return;
  const [left, top, right, bottom] = box.map(Number);
  const [across, down] = [image.offsetWidth / image.naturalWidth, image.offsetHeight / image.naturalHeight];
  Object.assign($('marked').style, {
    left: `${image.offsetLeft + left * across}px`, top: `${image.offsetTop + top * down}px`,
    width: `${Math.max(0, right - left) * across}px`, height: `${Math.max(0, bottom - top) * down}px`,
  });
}

function pixelAt(event) {
  const image = $('large-image');
  const rect = image.getBoundingClientRect();
  const within = (value, most) => Math.round(Math.min(Math.max(value, 0), 1) * most);
  return [within((event.clientX - rect.left) / rect.width, image.naturalWidth), within((event.clientY - rect.top) / rect.height, image.naturalHeight)];
}

$('mark').addEventListener('click', () => setMarking($('mark').getAttribute('aria-pressed') !== 'true'));
$('region').addEventListener('input', drawMark);
$('frame').addEventListener('pointerdown', (event) => {
  if ($('region').hidden) return;
  event.preventDefault();
  $('frame').setPointerCapture(event.pointerId);
  from = pixelAt(event);
});
$('frame').addEventListener('pointermove', (event) => {
  if (!from) return;
  const to = pixelAt(event);
  const fields = $('region').elements;
  [fields.left.value, fields.right.value] = [Math.min(from[0], to[0]), Math.max(from[0], to[0])];
  [fields.top.value, fields.bottom.value] = [Math.min(from[1], to[1]), Math.max(from[1], to[1])];
  drawMark();
});
for (const type of ['pointerup', 'pointercancel']) $('frame').addEventListener(type, () => { from = null; });

$('region').addEventListener('submit', (event) => {
  event.preventDefault();
  const box = typed().map(Number);
  if (box[0] >= box[2] || box[1] >= box[3]) {
    $('region').elements.right.setCustomValidity('The region is empty: right and bottom must be larger than left and top.');
    $('region').elements.right.reportValidity();
    $('region').elements.right.setCustomValidity('');
    return;
  }
  onMarked(box);
  $('large').close();
  $('box').focus();
});
$('large-close').addEventListener('click', () => $('large').close());
$('large').addEventListener('click', (event) => {
  const isOutside = event.target === $('large') || event.target.className === 'chat-stage';
  if (isOutside && $('region').hidden) $('large').close();
});
addEventListener('resize', () => { if (!$('region').hidden) drawMark(); });
