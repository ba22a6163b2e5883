/** Runs a command-line call and shows the progress of its transfer on the terminal. */
import { basename } from 'node:path';
import type { JsonObject } from '../../util/json/json.js';
import type { Clock } from '../base/clock.js';
import { sumOf, TransferBar, type BarStream, type ShownTransfer } from './transferBar.js';

/** Milliseconds between queries of the daemon's status during the call. */
const LOOK_MS = 500;
/** Milliseconds before the progress is shown. Calls that take less time show none. */
const PATIENCE_MS = 1000;

/** Kind of the transfer that a method starts, by method name. */
const KINDS: Readonly<Record<string, string>> = {
  get: 'download',
  publish: 'publish',
  stream_create: 'publish',
  stream_update: 'publish',
  file_reflect: 'reflect',
};

export const isWatched = (method: string): boolean => Object.hasOwn(KINDS, method);

export interface WatchDeps {
  /** Sends a call. Resolves to the text of the response; null if the daemon does not respond. */
  readonly send: (method: string, params: Readonly<Record<string, string>>) => Promise<string | null>;
  readonly terminal: BarStream;
  readonly clock: Pick<Clock, 'after' | 'nowMs'>;
}

const pause = (clock: WatchDeps['clock']): Promise<void> =>
  new Promise((resolve) => {
    clock.after(LOOK_MS, resolve);
  });

type Result = Readonly<Record<string, unknown>>;

/** Returns the result in a response text; null if the result is not an object. */
function resultOf(text: string | null): Result | null {
  try {
    const { result } = JSON.parse(text ?? 'null') as { result?: unknown };
    return typeof result === 'object' && result !== null ? (result as Result) : null;
  } catch {
    return null;
  }
}

const isTransfer = (value: unknown): value is ShownTransfer =>
  typeof value === 'object' && value !== null && 'kind' in value && 'bytes_done' in value;

export class WatchedCall {
  readonly #deps: WatchDeps;
  readonly #bar: TransferBar;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
    this.#bar = new TransferBar(deps.terminal);
  }

  /**
   * Returns the combined transfers for which `fits` is true. Null if the daemon has no list of transfers, as in lbrynet.
   */
  async #transfers(fits: (transfer: ShownTransfer) => boolean): Promise<ShownTransfer | null> {
    const found = resultOf(await this.#deps.send('status', {}))?.['transfers'];
    return sumOf((Array.isArray(found) ? found : []).filter(isTransfer).filter(fits));
  }

  /** Shows the transfer of a call until the call ends. Resolves to the response of the call. */
  async until(method: string, params: JsonObject, call: Promise<string | null>): Promise<string | null> {
    const { clock } = this.#deps;
    const beganMs = clock.nowMs();
    const text = (name: string): string | null => {
      const value = params.get(name);
      return typeof value === 'string' ? value : null;
    };
    const [path, sdHash] = [text('file_path'), text('sd_hash')];
    const fits = (transfer: ShownTransfer): boolean =>
      transfer.kind === KINDS[method] &&
      (path === null || transfer.path === null || basename(transfer.path) === basename(path)) &&
      (sdHash === null || transfer.sd_hash === sdHash);
    let isAnswered = false;
    const answered = call.finally(() => (isAnswered = true));
    answered.catch(() => undefined);
    for (;;) {
      await Promise.race([answered, pause(clock)]);
      if (isAnswered) break;
      // The download of `get` cannot be identified before the response, so no progress is shown until the response
      // arrives.
      const transfer = method === 'get' ? null : await this.#transfers(fits);
      if (isAnswered) break;
      const seconds = Math.floor((clock.nowMs() - beganMs) / 1000);
      if (transfer !== null) this.#bar.show(transfer);
      else if (clock.nowMs() - beganMs >= PATIENCE_MS) this.#bar.wait(`Waiting for the daemon: ${seconds} s`);
    }
    this.#bar.clear();
    return answered;
  }

  /** Shows the remaining part of a download that `get` started. Resolves when the download ends. */
  async afterGet(answer: string | null): Promise<void> {
    const { clock, send, terminal } = this.#deps;
    const sdHash = resultOf(answer)?.['sd_hash'];
    if (typeof sdHash !== 'string') return;
    let isSeen = false;
    for (;;) {
      const transfer = await this.#transfers(
        ({ kind, sd_hash }) => kind === 'download' && sd_hash === sdHash,
      );
      if (transfer === null) break;
      isSeen = true;
      this.#bar.show(transfer);
      await pause(clock);
    }
    this.#bar.clear();
    if (!isSeen) return;
    const page = resultOf(await send('file_list', { sd_hash: sdHash }));
    const [file] = (page?.['items'] ?? []) as (Result | undefined)[];
    const [path, status] = [file?.['download_path'], file?.['status']];
    if (status === 'finished' && typeof path === 'string') terminal.write(`Saved: ${path}\n`);
    else
      terminal.write(
        'The download ended before the file was complete; the log of the daemon contains the reason.\n',
      );
  }
}
