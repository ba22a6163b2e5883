import { agoText } from '../age.js';

/** Created on first use, because it takes longer than all uses together. */
let format: Intl.DateTimeFormat | null = null;

/** Time in ms between two updates of the ages. Ages above a minute are shown in minutes or larger units. */
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
  // A hidden tab is updated when it becomes visible.
  if (document.hidden) return;
  for (const element of document.querySelectorAll('time[data-age]')) {
    const shown = agoText(Date.parse(element.getAttribute('datetime')!) / 1000, Date.now() / 1000);
    if (element.textContent !== shown) element.textContent = shown;
  }
}

/** Updates the ages on an open page regularly, also without a new block or transaction. */
export function keepAges(): void {
  setInterval(showAges, AGES_MS);
  document.addEventListener('visibilitychange', showAges);
}
