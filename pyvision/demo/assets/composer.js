// The question box: text, attached images, marked regions; sending, stopping, and editing what was sent.
let attached = []; // {file, url, path (a promise), region}
let marked = []; // regions of images of the conversation: {image, box}

function choice() {
  return {
    model: $('model').value, strategy: $('strategy').value,
    options: $('options').value, turns: Number($('turns').value) || 20,
  };
}

$('composer').addEventListener('submit', (event) => {
  event.preventDefault();
  if (chat?.running) act('stop');
  else send();
});

$('box').addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!chat?.running) send();
});
$('box').addEventListener('input', fitBox);

function fitBox() {
  $('box').style.height = 'auto';
  $('box').style.height = `${Math.min($('box').scrollHeight + 2, 200)}px`;
}

let isSending = false;
async function send() {
  const text = $('box').value.trim();
  if (isSending) return;
  if (!text) { showError('Type a question.'); return; }
  isSending = true;
  $('send').setAttribute('aria-busy', 'true');
  try {
    const sent = [...attached];
    const paths = await Promise.all(sent.map((each) => each.path));
    if (paths.includes(null)) return; // an upload failed, and said why
    const own = sent.flatMap((each, image) => (each.region ? [{ image, box: each.region }] : []));
    if (await act('ask', { text, files: paths, regions: [...own, ...marked] })) clearComposer();
  } finally {
    isSending = false;
    $('send').removeAttribute('aria-busy');
  }
}

function clearComposer() {
  for (const each of attached) URL.revokeObjectURL(each.url);
  [attached, marked] = [[], []];
  $('box').value = '';
  fitBox();
  drawAttached();
}

function attach(files) {
  for (const file of files) {
    if (!file.type.startsWith('image/')) showError(`${file.name} is not an image; attach images only.`);
    else if (file.size > offer.limits.bytes) showError(`${file.name} is too large; the limit is ${offer.limits.bytes / 2 ** 20} MB.`);
    else if (attached.length >= offer.limits.images) showError(`At most ${offer.limits.images} images can be attached to a question.`);
    else attachOne(file);
  }
  drawAttached();
  $('box').focus();
}

function attachOne(file) {
  const each = { file, url: URL.createObjectURL(file), region: null };
  each.path = upload(file).then((found) => {
    announce(`${file.name} is attached`);
    return found.path;
  }, () => {
    showError(`${file.name} could not be uploaded; try again.`);
    remove(each);
    return null;
  });
  attached.push(each);
}

function remove(each) {
  attached = attached.filter((other) => other !== each);
  drawAttached();
}

function drawAttached() {
  const images = attached.map((each) => {
    const item = document.createElement('li');
    const image = document.createElement('img');
    Object.assign(image, { src: each.url, alt: each.file.name });
    const open = button('', () => showLarge(each.url, each.file.name, (box) => { each.region = box; drawAttached(); }), `Enlarge ${each.file.name}, or mark a region`);
    open.append(image);
    const drop = button('✕', () => remove(each), `Remove ${each.file.name}`);
    drop.className = 'chat-icon';
    item.append(open, ...(each.region ? [chip(each.region, () => { each.region = null; drawAttached(); })] : []), drop);
    return item;
  });
  const regions = marked.map((region) => {
    const item = document.createElement('li');
    item.append(chip(region.box, () => { marked = marked.filter((other) => other !== region); drawAttached(); }, region.image));
    return item;
  });
  $('attached').replaceChildren(...images, ...regions);
  $('attached').hidden = !$('attached').childElementCount;
}

function chip(box, call, name) {
  const text = `${name ? `${name} ` : ''}(${box[0]}, ${box[1]}) – (${box[2]}, ${box[3]}) ✕`;
  const made = button(text, call, `Remove the region ${text}`);
  made.className = 'chat-chip';
  return made;
}

$('attach').addEventListener('click', () => $('file').click());
$('file').addEventListener('change', () => { attach([...$('file').files]); $('file').value = ''; });
document.addEventListener('paste', (event) => {
  const files = [...(event.clipboardData?.files || [])];
  if (!files.length) return;
  event.preventDefault();
  attach(files);
});

let depth = 0; // of nested elements that the dragged files are over
const holdsFiles = (event) => [...(event.dataTransfer?.types || [])].includes('Files');
const drag = (type, call) => document.addEventListener(type, (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  call(event);
  $('drop').hidden = depth <= 0;
});
drag('dragenter', () => { depth += 1; });
drag('dragleave', () => { depth -= 1; });
drag('dragover', () => {});
drag('drop', (event) => { depth = 0; attach([...event.dataTransfer.files]); });

// Buttons inside the conversation.
$('exchanges').addEventListener('click', (event) => {
  const image = event.target.closest('.chat-image');
  if (image) {
    const name = image.dataset.name;
    return showLarge(image.querySelector('img').src, name, /^image_clue_\d+$/.test(name) ? (box) => { marked.push({ image: name, box }); drawAttached(); } : null);
  }
  const pressed = event.target.closest('[data-act]');
  if (pressed) CALLS[pressed.dataset.act]?.(pressed);
});

const CALLS = {
  copy: (pressed) => copy(pressed, pressed.closest('.chat-outcome').querySelector('.chat-answer').dataset.copy),
  'copy-code': (pressed) => copy(pressed, pressed.closest('.chat-cell').querySelector('.code').textContent),
  retry: (pressed) => { if (!chat.running) act('retry', { question: Number(pressed.dataset.question) }); },
  'edit-question': (pressed) => editQuestion(pressed.closest('.chat-exchange')),
  'edit-cell': (pressed) => editCell(pressed),
};

async function copy(pressed, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // without HTTPS there is no clipboard
    const area = document.createElement('textarea');
    area.value = text;
    pressed.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  pressed.textContent = 'Copied';
  announce('Copied');
  setTimeout(() => { pressed.textContent = 'Copy'; }, 1500);
}

function editQuestion(node) {
  if (chat.running || node.querySelector('.chat-editor')) return;
  const number = Number(node.dataset.question);
  const text = node.querySelector('.chat-question');
  const close = edit(text, 'Question', chat.exchanges[number - 1].text, 'Send', async (value) => {
    if (value.trim() && await act('ask', { text: value, question: number })) close();
  });
}

async function editCell(pressed) {
  const cell = Number(pressed.dataset.cell);
  const details = pressed.closest('.chat-cell');
  if (chat.running || details.querySelector('.chat-editor')) return;
  const found = await act('cell', { cell });
  if (!found) return;
  const close = edit(details.querySelector('.code'), 'Code of the cell', found.code, 'Run and continue', async (code) => {
    if (await act('resume', { cell, code })) close();
  });
}

// Show an editor in place of a node. Returns what closes it.
function edit(node, label, text, verb, done) {
  const form = document.createElement('form');
  form.className = 'chat-editor';
  const area = document.createElement('textarea');
  area.value = text;
  area.rows = Math.min(20, text.split('\n').length + 1);
  area.setAttribute('aria-label', label);
  const close = () => { form.remove(); node.hidden = false; };
  const run = button(verb, () => {});
  run.type = 'submit';
  const bar = document.createElement('div');
  bar.className = 'chat-actions';
  bar.append(run, button('Cancel', close));
  form.append(area, bar);
  form.addEventListener('submit', (event) => { event.preventDefault(); done(area.value); });
  area.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close();
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); done(area.value); }
  });
  node.hidden = true;
  node.after(form);
  area.focus();
  form.scrollIntoView({ block: 'nearest' });
  return close;
}
