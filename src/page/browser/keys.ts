/**
 * Makes the key `/` focus the search field. It has no effect while the visitor types or after the visitor has turned it off
 * (WCAG 2.1.4).
 */

const STORED = 'slash-key';

function isOn(): boolean {
  try {
    return localStorage.getItem(STORED) !== 'off';
  } catch {
    return true;
  }
}

/** Whether the key is enabled. Without browser storage the choice applies to this page only. */
let isFollowed = isOn();

/** Adds a button to the footer that turns the key `/` on and off. Called after each update of the page. */
export function addKeySwitch(): void {
  const place = document.querySelector('#switches');
  if (place === null || place.childElementCount > 0) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain';
  const label = (): void => {
    button.textContent = `Key “/” goes to the search: ${isFollowed ? 'on' : 'off'}`;
  };
  label();
  button.addEventListener('click', () => {
    isFollowed = !isFollowed;
    label();
    try {
      localStorage.setItem(STORED, isFollowed ? 'on' : 'off');
    } catch {
      // The error is ignored: without browser storage the choice is not stored.
    }
  });
  place.append(button);
}

export function followKeys(): void {
  document.addEventListener('keydown', (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const active = document.activeElement;
    const isTyping =
      active instanceof HTMLElement &&
      (/^(INPUT|TEXTAREA|SELECT)$/.test(active.tagName) || active.isContentEditable);
    if (event.key !== '/' || !isFollowed || !isPlain || isTyping) return;
    event.preventDefault();
    document.querySelector<HTMLInputElement>('#q')?.focus();
  });
}
