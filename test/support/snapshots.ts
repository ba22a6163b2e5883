/** Snapshots of the chains of unit tests. */
import { join } from 'node:path';
import {
  dumpSnapshot,
  kindOfSection,
  type DumpedSnapshot,
  type SnapshotRules,
} from '../../src/chain/snapshot/dumpSnapshot.js';
import { freshIndex, readSnapshot, type ReadSnapshot } from '../../src/chain/snapshot/readSnapshot.js';
import { SnapshotPacker } from '../../src/chain/snapshot/snapshotFile.js';
import {
  KIND,
  PIECE_HEAD_BYTES,
  SNAPSHOT_MAGIC,
  unpackHeaders,
  unpackRows,
  type SnapshotHead,
} from '../../src/chain/snapshot/snapshotFormat.js';
import { viewedChain, type SnapshotSection } from '../../src/chain/snapshot/snapshotState.js';
import { snapshotSections } from '../../src/node/services/snapshotService.js';
import type { TestChain } from './testChain.js';

export const SNAPSHOT_RULES: SnapshotRules = { network: 'regtest', rules: 'of the test' };

const signal = new AbortController().signal;

export const sectionsOf = (chain: TestChain): readonly SnapshotSection[] =>
  snapshotSections(() => chain.fill.statuses());

/** Writes a snapshot into the chain's folder. */
export function dumpOf(
  chain: TestChain,
  name: string,
  height: number | null = null,
  rules: SnapshotRules = SNAPSHOT_RULES,
): Promise<DumpedSnapshot> {
  const { opened, folder } = chain;
  const path = join(folder, name);
  return dumpSnapshot(viewedChain(opened.chain, opened.flusher), sectionsOf(chain), rules, {
    path,
    height,
    signal,
  });
}

/** Reads a file as a node of the chain's network does. `change` replaces what the node expects. */
export function verify(
  chain: TestChain,
  path: string,
  change: Partial<SnapshotRules & { minimumChainWork: bigint }> = {},
): Promise<ReadSnapshot> {
  const { params } = chain.services;
  return readSnapshot(
    {
      path,
      ...SNAPSHOT_RULES,
      sections: sectionsOf(chain),
      claimRules: chain.opened.claims.rules,
      minimumChainWork: 0n,
      index: freshIndex({ params, checkpoints: true, adjustedTimeSec: () => chain.timeSec }),
      signal,
      ...change,
    },
    {
      put: () => undefined,
      del: () => undefined,
      putRecords: () => Promise.resolve(),
      relieve: () => Promise.resolve(),
    },
  );
}

/** Changes that a copy of a snapshot has. */
export interface SnapshotChanges {
  /** Id of the block in its printed form. */
  readonly block?: string;
  /** Changes the header at a height (112 bytes without the hash of its parent). */
  readonly header?: (bytes: Buffer, height: number) => void;
  /** Changes the value of the `n`th row of a section. */
  readonly row?: (section: string, value: Buffer, n: number) => void;
}

/** Copies a snapshot with changes and correct checksums. */
export async function changedSnapshot(
  bytes: Buffer,
  { block, header, row }: SnapshotChanges,
): Promise<{ bytes: Buffer; hash: string }> {
  const out: Buffer[] = [];
  const packer = new SnapshotPacker({ write: async (piece) => void out.push(Buffer.from(piece)) });
  const payloads = new Map<number, Buffer[]>();
  for (let at = SNAPSHOT_MAGIC.length; at < bytes.length;) {
    const length = bytes.readUInt32LE(at);
    const payload = bytes.subarray(at + PIECE_HEAD_BYTES, at + PIECE_HEAD_BYTES + length);
    payloads.set(payload[0]!, [...(payloads.get(payload[0]!) ?? []), payload]);
    at += PIECE_HEAD_BYTES + length;
  }
  const head = JSON.parse(payloads.get(KIND.head)![0]!.toString('utf8', 1)) as SnapshotHead;
  await packer.head({ ...head, block: block ?? head.block });
  await packer.part('headers', KIND.headers, false, async (piece, full) => {
    let height = 0;
    for (const payload of payloads.get(KIND.headers) ?? [])
      for (const { start, rest, txCount } of unpackHeaders(payload)) {
        const whole = Buffer.concat([start, Buffer.alloc(32), rest]);
        height++;
        header?.(whole, height);
        await full(piece.header(whole, txCount));
      }
    return height;
  });
  for (const [place, { name }] of head.sections.entries()) {
    const isCoins = name === 'coins';
    await packer.part(name, kindOfSection(place), isCoins, async (piece, full) => {
      let rows = 0;
      for (const payload of payloads.get(kindOfSection(place)) ?? [])
        for (const [key, value] of rowsOfPayload(payload, isCoins)) {
          row?.(name, value, rows);
          rows++;
          await full(piece.row(key, value));
        }
      return rows;
    });
  }
  const hash = await packer.finish();
  return { bytes: Buffer.concat(out), hash };
}

/** The rows of a payload. */
export function rowsOfPayload(payload: Buffer, isCoins: boolean): [key: string, value: Buffer][] {
  const rows: [string, Buffer][] = [];
  unpackRows(payload, isCoins, (key, value) => rows.push([key, value]));
  return rows;
}
