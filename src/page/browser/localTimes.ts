/** Created on first use, because it takes longer than all uses together. */
let format: Intl.DateTimeFormat | null = null;

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
