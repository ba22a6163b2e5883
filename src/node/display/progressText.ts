/** Formats progress: in full for the log, shortened to the terminal width for the status line. */
import type { Progress } from '../../chain/progress.js';
import { mostColumns } from './textWidth.js';

export interface ProgressFigures {
  readonly progress: Progress;
  readonly txPerSec: number | null;
  readonly leftSec: number | null;
}

/** Formats a progress line for the log. `cache` describes the cache usage. */
export function progressLine(figures: ProgressFigures, cache: string): string {
  const { activity } = figures.progress;
  const parts = partsOf(figures);
  return `${activity}: ${[parts.height, parts.date, parts.percent, parts.speed, cache, parts.left].filter(Boolean).join(', ')}`;
}

/** Number of characters of a date such as 2026-05-20, without the time. */
const DAY_DIGITS = 10;

/** Formats progress for a terminal of the given width. Less important fields are omitted first. */
export function progressStatus(figures: ProgressFigures, columns: number): string {
  const { activity } = figures.progress;
  const parts = partsOf(figures);
  const wanted = ['percent', 'height', 'date', 'speed', 'left'] as const;
  const shown: Record<string, string> = { activity, ...parts };
  const text = (): string =>
    ['activity', ...wanted]
      .map((name) => shown[name])
      .filter(Boolean)
      .join('  ');
  // Steps by which the status line is shortened, in order: the date without its time, the activity without the file name,
  // then rounded figures.
  const shorter: readonly (readonly [name: string, text: string])[] = [
    ['date', parts.date.slice(0, DAY_DIGITS)],
    ['activity', activity.split(' ')[0]!],
    ['speed', ''],
    ['left', ''],
    ['date', ''],
    ['height', ''],
  ];
  for (const [name, short] of shorter) if (mostColumns(text()) > columns) shown[name] = short;
  return text();
}

function partsOf({ progress, txPerSec, leftSec }: ProgressFigures) {
  const { done, total, height, timeSec } = progress;
  return {
    percent: total > 0 ? `${Math.min(100, (100 * done) / total).toFixed(1)} %` : '',
    height: height < 0 ? '' : `height ${height}`,
    date: height < 0 ? '' : new Date(timeSec * 1000).toISOString().slice(0, 16).replace('T', ' '),
    speed: txPerSec === null ? '' : `${Math.round(txPerSec)} tx/s`,
    left: leftSec === null ? '' : `${formatDuration(leftSec)} left`,
  };
}

export function formatDuration(seconds: number): string {
  const rounded = Math.round(seconds);
  if (rounded < 120) return `${rounded} s`;
  if (rounded < 7200) return `${Math.round(rounded / 60)} min`;
  if (rounded < 172_800) return `${(rounded / 3600).toFixed(1)} h`;
  return `${Math.round(rounded / 86_400)} days`;
}
