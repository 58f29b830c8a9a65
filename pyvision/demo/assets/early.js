// Until gradio's scripts have loaded: the frame of the chat, in the right colours, ready to take the text of a question.
(() => {
  const find = (id) => document.querySelector(`#chat-early #chat${id}`);
  const theme = new URLSearchParams(location.search).get('__theme');
  const isDark = theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.body.classList.toggle('dark', isDark);
  find('-box').addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    event.target.dataset.sent = 'true'; // the chat sends it when it takes this place
  });
  if (matchMedia('(max-width: 60rem)').matches) return;
  find('').classList.add('with-list');
  find('-box').focus();
})();
setTimeout(() => {
  const error = document.querySelector('#chat-early #chat-error');
  if (error) error.textContent = 'The page has not loaded completely. Is the server still running? Reload the page.';
}, 20000);
