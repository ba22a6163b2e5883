/** What cleaning spares: single files, and all files of channels. The pins themselves are rows of `lbcnet.sqlite`. */
import type { Clock } from '../base/clock.js';
import { badValue } from '../base/daemonError.js';
import type { ContentDatabase } from '../content/contentDatabase.js';
import type { PinKind } from '../content/rows.js';
import type { ManagedFile } from './managedFile.js';

const CLAIM_ID = /^[0-9a-f]{40}$/;

export interface PinsDeps {
  readonly database: Pick<ContentDatabase, 'pins' | 'pin' | 'unpin'>;
  readonly clock: Pick<Clock, 'nowSec'>;
}

/** Files that are pinned or unpinned in one step. */
export interface PinChoice {
  /** Stream hashes of files. */
  readonly streams: readonly string[];
  /** Claim ids as printed. Files that they publish later are pinned too. */
  readonly channels: readonly string[];
}

export class Pins {
  readonly #deps: PinsDeps;
  readonly #ids: Readonly<Record<PinKind, Set<string>>> = { stream: new Set(), channel: new Set() };

  constructor(deps: PinsDeps) {
    this.#deps = deps;
  }

  async load(): Promise<void> {
    for (const { kind, id } of await this.#deps.database.pins()) this.#ids[kind].add(id);
  }

  /** Whether the file or its channel is pinned. */
  has({ row }: ManagedFile): boolean {
    return this.#ids.stream.has(row.streamHash) || this.#ids.channel.has(row.claim?.channelClaimId ?? '');
  }

  /** Stream hashes of the files that are pinned themselves. */
  get streams(): readonly string[] {
    return [...this.#ids.stream];
  }

  /** Claim ids of the pinned channels. */
  get channels(): readonly string[] {
    return [...this.#ids.channel];
  }

  /** Throws `ValueError` for a claim id that is none; nothing is changed then. */
  async add(choice: PinChoice): Promise<void> {
    const nowSec = this.#deps.clock.nowSec();
    for (const [kind, id] of idsOf(choice)) {
      await this.#deps.database.pin(kind, id, nowSec);
      this.#ids[kind].add(id);
    }
  }

  /** A file whose channel is pinned stays spared. Throws as `add`. */
  async remove(choice: PinChoice): Promise<void> {
    for (const [kind, id] of idsOf(choice)) {
      await this.#deps.database.unpin(kind, id);
      this.#ids[kind].delete(id);
    }
  }

  /** The stream was deleted, and its pin with it. */
  forget(streamHash: string): void {
    this.#ids.stream.delete(streamHash);
  }
}

function idsOf({ streams, channels }: PinChoice): (readonly [PinKind, string])[] {
  const wrong = channels.find((id) => !CLAIM_ID.test(id));
  if (wrong !== undefined) throw badValue(`'${wrong}' is not the claim id of a channel`);
  return [
    ...streams.map((streamHash) => ['stream', streamHash] as const),
    ...channels.map((id) => ['channel', id] as const),
  ];
}
