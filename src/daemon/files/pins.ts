/** Pins, which exempt single files and all files of channels from cleaning. The pins are rows of `lbcnet.sqlite`. */
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

/** Files and channels to pin or unpin in one step. */
export interface PinChoice {
  /** Stream hashes of the files. */
  readonly streams: readonly string[];
  /** Claim ids of pinned channels, as printed. Files of these channels that are added later are pinned too. */
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

  /** Whether the file or the channel of its claim is pinned. */
  has({ row }: ManagedFile): boolean {
    return this.#ids.stream.has(row.streamHash) || this.#ids.channel.has(row.claim?.channelClaimId ?? '');
  }

  /** Stream hashes of the individually pinned files. */
  get streams(): readonly string[] {
    return [...this.#ids.stream];
  }

  /** Claim ids of the pinned channels. */
  get channels(): readonly string[] {
    return [...this.#ids.channel];
  }

  /** Adds pins. Throws `ValueError` for an invalid claim id; in that case no pin is added. */
  async add(choice: PinChoice): Promise<void> {
    const nowSec = this.#deps.clock.nowSec();
    for (const [kind, id] of idsOf(choice)) {
      await this.#deps.database.pin(kind, id, nowSec);
      this.#ids[kind].add(id);
    }
  }

  /** Removes pins. A file whose channel is still pinned stays exempt from the cleaning. Throws the same errors as `add`. */
  async remove(choice: PinChoice): Promise<void> {
    for (const [kind, id] of idsOf(choice)) {
      await this.#deps.database.unpin(kind, id);
      this.#ids[kind].delete(id);
    }
  }

  /** Removes the pin of a deleted stream from memory. Its row in the database is already deleted. */
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
