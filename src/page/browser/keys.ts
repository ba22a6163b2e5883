/** The key `/` leads to the search field, unless something is typed already. */
export function followKeys(): void {
  document.addEventListener('keydown', (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const active = document.activeElement;
    const isTyping =
      active instanceof HTMLElement &&
      (/^(INPUT|TEXTAREA|SELECT)$/.test(active.tagName) || active.isContentEditable);
    if (event.key !== '/' || !isPlain || isTyping) return;
    event.preventDefault();
    document.querySelector<HTMLInputElement>('#q')?.focus();
  });
}
