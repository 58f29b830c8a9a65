// Each update renders the conversation again. Keep open what the reader opened, and closed what they closed.
(() => {
  const chosen = new Map();
  const key = (details) => {
    const exchange = details.closest('.exchange');
    return exchange && `${exchange.id}/${[...exchange.querySelectorAll('details')].indexOf(details)}`;
  };
  document.addEventListener('click', (event) => {
    const details = event.target.closest && event.target.closest('summary')?.parentElement;
    if (details && key(details)) chosen.set(key(details), !details.open);
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    for (const large of document.querySelectorAll('#conversation .zoom[open]')) {
      chosen.delete(key(large));
      large.open = false;
    }
  });
  const restore = () => {
    for (const details of document.querySelectorAll('#conversation .exchange details')) {
      const open = chosen.get(key(details));
      if (open !== undefined && open !== details.open) details.open = open;
    }
  };
  const watch = () => {
    const conversation = document.getElementById('conversation');
    if (!conversation) return setTimeout(watch, 100);
    new MutationObserver(restore).observe(conversation, { childList: true, subtree: true });
  };
  watch();
})();
