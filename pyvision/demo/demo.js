// Every update draws the talk anew: what the reader has opened or closed stays so, and the end stays in view.
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
    for (const large of document.querySelectorAll('#talk .zoom[open]')) {
      chosen.delete(key(large));
      large.open = false;
    }
  });
  const restore = () => {
    for (const details of document.querySelectorAll('#talk .exchange details')) {
      const open = chosen.get(key(details));
      if (open !== undefined && open !== details.open) details.open = open;
    }
  };
  const watch = () => {
    const talk = document.getElementById('talk');
    if (!talk) return setTimeout(watch, 100);
    new MutationObserver(restore).observe(talk, { childList: true, subtree: true });
  };
  watch();
})();
