// What the page holds besides the conversation: header, list, settings, keys, examples. Then it begins.
function fill(list, entries, wanted) {
  const options = entries.map(([value, text]) => Object.assign(document.createElement('option'), { value, textContent: text }));
  list.replaceChildren(...options);
  if (entries.some(([value]) => value === wanted)) list.value = wanted;
}

let drawnModels = '';
function drawModels() {
  const entries = overview.models.map((each) => [each.name, each.name === 'offline' ? 'offline (no model)' : each.name || 'default']);
  if (drawnModels !== (drawnModels = JSON.stringify(entries))) fill($('model'), entries, $('model').value || remembered('model'));
  $('offline').hidden = $('model').value !== 'offline';
}

$('model').addEventListener('change', () => { remember('model', $('model').value); drawModels(); });
$('strategy').addEventListener('change', () => remember('strategy', $('strategy').value));

function showSidebar(isShown) {
  element.querySelector('#chat').classList.toggle('with-list', isShown);
  $('menu').setAttribute('aria-expanded', String(isShown));
  if (isShown) $('new').focus();
}
$('menu').addEventListener('click', () => showSidebar(!element.querySelector('#chat').classList.contains('with-list')));
$('side-close').addEventListener('click', () => { showSidebar(false); $('menu').focus(); });
$('new').addEventListener('click', () => { if (isNarrow()) showSidebar(false); showError(''); start(); });
const isNarrow = () => matchMedia('(max-width: 60rem)').matches;
$('sidebar').addEventListener('keydown', (event) => { if (event.key === 'Escape') { showSidebar(false); $('menu').focus(); } });

$('settings-open').addEventListener('click', () => $('settings').showModal());
$('connect-open').addEventListener('click', () => { $('connect-error').textContent = ''; $('connect').showModal(); });
$('connect-close').addEventListener('click', () => $('connect').close());
$('provider').addEventListener('change', suggestModel);
function suggestModel() {
  $('provider-model').value = offer.providers.find((each) => each.name === $('provider').value)?.model || '';
}
$('connect-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const found = await act('connect', { model: `${$('provider').value}:${$('provider-model').value.trim()}`, key: $('key').value });
  if (!found) { $('connect-error').textContent = $('error').textContent; return; }
  $('key').value = '';
  $('model').value = remember('model', found.model);
  drawModels();
  $('connect').close();
});

for (const [index, example] of offer.examples.entries()) {
  const card = button('', async () => {
    if (await act('ask', { chat: null, example: index }) && !isNarrow()) $('box').focus(); // the card is gone
  });
  for (const file of example.files) card.append(Object.assign(new Image(), { src: `${props.prefix}/chat-files/examples/${file}`, alt: '' }));
  card.append(Object.assign(document.createElement('span'), { textContent: example.text }));
  const item = document.createElement('li');
  item.append(card);
  $('examples').append(item);
}

fill($('strategy'), offer.strategies.map((name) => [name, name]), remembered('strategy'));
fill($('provider'), offer.providers.map((each) => [each.name, each.name]), '');
suggestModel();
if (!isNarrow()) { element.querySelector('#chat').classList.add('with-list'); $('menu').setAttribute('aria-expanded', 'true'); }
draw();
follow();
replaceEarly();

// What was asked in another tab is seen when the reader comes back to this one.
const catchUp = () => { if (!document.hidden && current && !chat?.running) follow(); };
document.addEventListener('visibilitychange', catchUp);
addEventListener('focus', catchUp);

// The frame that was shown until now hands over its text, the place of the cursor, and whether Enter was pressed.
function replaceEarly() {
  const early = document.getElementById('chat-early');
  const box = early?.querySelector('#chat-box');
  const wasTyping = box && document.activeElement === box;
  if (box) $('box').value = box.value;
  const place = box ? [box.selectionStart, box.selectionEnd] : [0, 0];
  early?.remove();
  $('send').disabled = false;
  fitBox();
  if (wasTyping || !isNarrow()) {
    $('box').focus();
    $('box').setSelectionRange(...place);
  }
  if (box?.dataset.sent && box.value.trim()) send();
}
