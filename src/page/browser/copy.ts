/** Adds buttons that copy a text to the clipboard. Called after each update of the page. */
const DONE_MS = 1500;

export function addCopyButtons(): void {
  // Browsers make the clipboard available only on secure pages (HTTPS or localhost).
  if (!navigator.clipboard) return;
  for (const place of document.querySelectorAll<HTMLElement>('[data-copy]')) {
    if (place.childElementCount > 0) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'plain';
    button.textContent = 'Copy';
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(place.dataset['copy'] ?? '').then(() => {
        button.textContent = 'Copied';
        setTimeout(() => (button.textContent = 'Copy'), DONE_MS);
      });
    });
    place.append(button);
  }
}
