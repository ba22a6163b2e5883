/** Shows the progress of the daemon's transfers in one terminal line, which is overwritten until the transfers end. */

/** A transfer as an element of the result of `status`. */
export interface ShownTransfer {
  readonly kind: string;
  readonly sd_hash: string | null;
  readonly path: string | null;
  readonly reflector: string | null;
  readonly bytes_done: number;
  readonly bytes_total: number | null;
  readonly bytes_per_second: number;
  readonly seconds_left: number | null;
  readonly peers: number | null;
}

/** The part of a terminal stream that this module uses, for example `process.stderr`. */
export interface BarStream {
  readonly columns?: number;
  write(text: string): unknown;
}

const BAR_WIDTH = 24;
const DEFAULT_COLUMNS = 80;
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Formats a number of bytes, for example `12.3 MB`; a kB has 1,000 bytes. */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}

/** `0:07`, `1:02:03`. */
export function durationText(seconds: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** Combines several transfers into one by adding their numbers; null if no transfers exist. */
export function sumOf(transfers: readonly ShownTransfer[]): ShownTransfer | null {
  const [first] = transfers;
  if (first === undefined || transfers.length === 1) return first ?? null;
  const sum = (field: 'bytes_done' | 'bytes_per_second'): number =>
    transfers.reduce((total, one) => total + one[field], 0);
  const isKnown = transfers.every(({ bytes_total: total }) => total !== null);
  const total = isKnown ? transfers.reduce((all, one) => all + one.bytes_total!, 0) : null;
  const [done, rate] = [sum('bytes_done'), sum('bytes_per_second')];
  return {
    ...first,
    bytes_done: done,
    bytes_total: total,
    bytes_per_second: rate,
    seconds_left: total === null || rate === 0 ? null : Math.ceil(Math.max(0, total - done) / rate),
  };
}

/** Text of the progress line, truncated to the width of the terminal. */
export function barLine(transfer: ShownTransfer, columns = DEFAULT_COLUMNS): string {
  const {
    bytes_done: done,
    bytes_total: total,
    bytes_per_second: rate,
    seconds_left: left,
    peers,
  } = transfer;
  const share = total === null || total === 0 ? null : Math.min(1, done / total);
  const filled = Math.floor((share ?? 0) * BAR_WIDTH);
  const parts = [
    `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}]`,
    share === null ? '  ?%' : `${String(Math.floor(share * 100)).padStart(3)}%`,
    total === null ? bytesText(done) : `${bytesText(Math.min(done, total))} of ${bytesText(total)}`,
    `${bytesText(rate)}/s`,
    ...(peers === null ? [] : [`${peers} ${peers === 1 ? 'peer' : 'peers'}`]),
    ...(left === null ? [] : [`${durationText(left)} left`]),
  ];
  return parts.join('  ').slice(0, Math.max(1, columns - 1));
}

export class TransferBar {
  readonly #stream: BarStream;
  #isShown = false;

  constructor(stream: BarStream) {
    this.#stream = stream;
  }

  show(transfer: ShownTransfer): void {
    this.#write(barLine(transfer, this.#stream.columns));
  }

  /** Shows a text as long as no transfer has known progress. */
  wait(text: string): void {
    this.#write(text.slice(0, Math.max(1, (this.#stream.columns ?? DEFAULT_COLUMNS) - 1)));
  }

  #write(line: string): void {
    this.#isShown = true;
    this.#stream.write(`\r\x1b[K${line}`);
  }

  clear(): void {
    if (this.#isShown) this.#stream.write('\r\x1b[K');
    this.#isShown = false;
  }
}
