// The conversation: its state comes from the server, and only what changed of it is drawn again.
'use strict';
const $ = (id) => element.querySelector(`#chat-${id}`);
const offer = props.offer;
const visitor = remembered('visitor') || remember('visitor', newSecret());
let current = remembered('chat') || null; // the id of the conversation that is shown
let chat = null; // its state
let overview = { chats: [], models: [] };
let isPinned = true; // the page follows what is new, until the reader scrolls away

function newSecret() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function remembered(name) {
  try { return localStorage.getItem(`pyvision-${name}`); } catch { return null; } // storage may be blocked
}

function remember(name, value) {
  try { value === null ? localStorage.removeItem(`pyvision-${name}`) : localStorage.setItem(`pyvision-${name}`, value); } catch { /* then only this page knows it */ }
  return value;
}

// Ask the server to do something; what it answers is shown. Resolves to null if it failed.
async function act(name, fields = {}) {
  let found;
  try {
    found = await server.act({ act: name, visitor, chat: current, choice: choice(), ...fields });
  } catch {
    found = null;
  }
  if (!found || found.error) {
    showError(found?.error || 'The server cannot be reached. Is it still running?');
    return null;
  }
  showError('');
  receiveOverview(found);
  if (found.chat) {
    select(found.chat.id);
    receive(found.chat);
    if (found.chat.running) follow();
  }
  return found;
}

function follow() {
  trigger('follow', { visitor, chat: current || '' });
}

watch('value', () => {
  const found = props.value;
  if (!found || !found.chats) return;
  receiveOverview(found);
  if (found.asked !== (current || '')) return; // about a conversation that was left meanwhile
  if (found.chat) return receive(found.chat);
  if (current) showError('The earlier conversation is gone. A new one begins.');
  start();
});

function receiveOverview(found) {
  overview = { chats: found.chats, models: found.models };
  drawList();
  drawModels();
}

function receive(state) {
  if (state.id !== current || (chat && chat.id === state.id && state.revision <= chat.revision)) return;
  const hasEnded = chat?.id === state.id && chat.running && !state.running;
  const isNew = chat?.id !== state.id || state.exchanges.length > chat.exchanges.length;
  chat = state;
  if (isNew) isPinned = true;
  draw();
  if (hasEnded) showEnd();
}

function select(id) {
  if (current !== id) {
    chat = null;
    announce('');
  }
  current = remember('chat', id);
}

function start() {
  select(null);
  draw();
  drawList();
  $('box').focus();
}

function draw() {
  const exchanges = chat ? chat.exchanges : [];
  $('welcome').hidden = exchanges.length > 0 || (current && !chat);
  const list = $('exchanges');
  while (list.children.length > exchanges.length) list.lastChild.remove();
  exchanges.forEach((exchange, index) => drawExchange(list.children[index] || list.appendChild(newExchange()), exchange));
  const isRunning = Boolean(chat && chat.running);
  element.querySelector('#chat').dataset.running = isRunning;
  $('send').textContent = isRunning ? 'Stop' : 'Send';
  if (chat) announce(chat.status);
  for (const live of list.querySelectorAll('.live')) live.scrollTop = live.scrollHeight;
  keepEnd();
}

function newExchange() {
  const node = document.createElement('article');
  node.className = 'chat-exchange';
  node.innerHTML =
    '<div class="chat-asked"><div class="chat-head"></div><div class="chat-actions">' +
    '<button type="button" data-act="edit-question">Edit</button></div></div>' +
    '<div class="chat-reply"><div class="chat-steps"></div><div class="chat-tail"></div></div>';
  return node;
}

function drawExchange(node, exchange) {
  node.id = `question-${exchange.number}`;
  node.dataset.question = exchange.number;
  node.setAttribute('aria-label', `Question ${exchange.number}`);
  if (!node.querySelector('.chat-editor')) patch(node.querySelector('.chat-head'), exchange.head);
  const steps = node.querySelector('.chat-steps');
  while (steps.children.length > exchange.steps.length) steps.lastChild.remove();
  exchange.steps.forEach((html, index) => patch(steps.children[index] || steps.appendChild(document.createElement('section')), html));
  patch(node.querySelector('.chat-tail'), exchange.tail);
}

// Replace the content of a node if it changed; what the reader opened stays open.
function patch(node, html) {
  if (node.drawn === html) return;
  const open = [...node.querySelectorAll('details')].map((details) => details.open);
  node.innerHTML = node.drawn = html;
  node.querySelectorAll('details').forEach((details, index) => { if (open[index]) details.open = true; });
}

// The answer is brought into view, unless the reader has scrolled away: then a button leads to it.
function showEnd() {
  const outcome = $('exchanges').lastElementChild?.querySelector('.chat-outcome');
  if (!isPinned) { $('jump').textContent = '↓ Answer'; return; }
  if (outcome && outcome.offsetHeight > $('scroll').clientHeight) {
    isPinned = false;
    outcome.scrollIntoView({ block: 'start' });
  } else {
    scrollToEnd();
  }
}

function keepEnd() {
  if (isPinned && chat?.exchanges.length) scrollToEnd();
}

function scrollToEnd() {
  isPinned = true;
  $('scroll').scrollTop = $('scroll').scrollHeight;
  $('jump').hidden = true;
}

let lastTop = 0;
$('scroll').addEventListener('scroll', () => {
  const scroll = $('scroll');
  const isAtEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 60;
  isPinned = isAtEnd || (isPinned && scroll.scrollTop >= lastTop - 2); // only scrolling up leaves the end
  lastTop = scroll.scrollTop;
  $('jump').hidden = isPinned;
  if (isPinned) $('jump').textContent = '↓ Latest';
}, { passive: true });
for (const each of [$('content'), $('scroll')]) new ResizeObserver(keepEnd).observe(each);
$('jump').addEventListener('click', scrollToEnd);

function announce(text) {
  if ($('status').textContent !== text) $('status').textContent = text;
}

function showError(text) {
  $('error').textContent = text;
}

function drawList() {
  const list = $('list');
  list.replaceChildren(...overview.chats.map((each) => {
    const item = document.createElement('li');
    const open = button(each.title, () => openChat(each.id));
    if (each.running) open.append(' …');
    if (each.id === current) open.setAttribute('aria-current', 'true');
    const drop = button('✕', () => dropChat(each.id), `Delete “${each.title}”`);
    drop.className = 'chat-icon';
    item.append(open, drop);
    return item;
  }));
}

function button(text, call, label) {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  if (label) made.setAttribute('aria-label', label);
  made.addEventListener('click', call);
  return made;
}

function openChat(id) {
  select(id);
  draw();
  drawList();
  showSidebar(false);
  showError('');
  follow();
}

async function dropChat(id) {
  if (id === current) start();
  await act('delete', { chat: id });
}
