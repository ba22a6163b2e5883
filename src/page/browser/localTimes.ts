import { agoText } from '../age.js';

/** Created on first use, because it takes longer than all uses together. */
let format: Intl.DateTimeFormat | null = null;

/** Time in ms between two updates of the ages. They are shown in minutes, once they are longer than a minute. */
const AGES_MS = 30_000;

/** Adds the time in the visitor's time zone to the tooltips of all times. */
export function showLocalTimes(): void {
  format ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  for (const element of document.querySelectorAll('time[datetime]')) {
    const moment = new Date(element.getAttribute('datetime')!);
    const utc = element.getAttribute('title') ?? '';
    if (Number.isNaN(moment.getTime()) || utc.includes('\n')) continue;
    element.setAttribute('title', `${utc}\n${format.format(moment)}`);
  }
}

/** Writes the age of each time that is shown as an age, such as "2 minutes ago". */
function showAges(): void {
  // The page of a hidden tab changes when it is seen.
  if (document.hidden) return;
  for (const element of document.querySelectorAll('time[data-age]')) {
    const shown = agoText(Date.parse(element.getAttribute('datetime')!) / 1000, Date.now() / 1000);
    if (element.textContent !== shown) element.textContent = shown;
  }
}

/** Keeps the ages on an open page right while no block or transaction changes it. */
export function keepAges(): void {
  setInterval(showAges, AGES_MS);
  document.addEventListener('visibilitychange', showAges);
}
