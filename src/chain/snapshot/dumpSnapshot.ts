/** Writes the chain state at one block as a snapshot, or computes only the hashes of its sections. */
import { formatHeader } from '../../primitives/header.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { hashToHex } from '../../util/bytes.js';
import type { FolderIdentity } from '../open/folderIdentity.js';
import { KIND, SNAPSHOT_FORMAT, type SectionSummary, type SnapshotHead } from './snapshotFormat.js';
import { SnapshotError, SnapshotPacker, writeSnapshotFile } from './snapshotFile.js';
import {
  COINS_SECTION,
  openView,
  type SnapshotSection,
  type SnapshotView,
  type ViewedChain,
} from './snapshotState.js';

/** The network and the rules of a snapshot, as stored in its head. */
export interface SnapshotRules {
  readonly network: string;
  readonly rules: string;
}

/**
 * The part of a folder's identity that a snapshot contains. The window of name proofs is left out, because a snapshot does
 * not depend on it.
 */
export function snapshotRules({
  network,
  supportDelay,
  claimRules,
  scriptForks,
}: FolderIdentity): SnapshotRules {
  return { network, rules: JSON.stringify({ supportDelay, claimRules, scriptForks }) };
}

export interface DumpedSnapshot {
  readonly height: number;
  /** Block id in its printed form (reversed bytes, hex). */
  readonly block: string;
  /** SHA-256 of the snapshot file in hex. */
  readonly hash: string;
  readonly sizeBytes: number;
  readonly parts: readonly SectionSummary[];
}

export function kindOfSection(place: number): number {
  return KIND.firstSection + place;
}

/** Writes a section to the packer. Rejects with `SnapshotError` when `signal` aborts. */
export async function packSection(
  out: SnapshotPacker,
  view: SnapshotView,
  section: SnapshotSection,
  place: number,
  signal: AbortSignal,
): Promise<SectionSummary> {
  const isCoins = section === COINS_SECTION;
  return out.part(section.name, kindOfSection(place), isCoins, async (packer, full) => {
    let rows = 0;
    let since = performance.now();
    for await (const batch of view.rows(section)) {
      for (const [key, value] of batch) {
        const payload = packer.row(key, value);
        if (payload !== null) await full(payload);
      }
      rows += batch.length;
      since = await yieldIfDue(since);
      if (signal.aborted) throw new SnapshotError('The node is stopping.');
    }
    return rows;
  });
}

async function packHeaders(
  out: SnapshotPacker,
  view: SnapshotView,
  signal: AbortSignal,
): Promise<SectionSummary> {
  return out.part('headers', KIND.headers, false, async (packer, full) => {
    let count = 0;
    let since = performance.now();
    for await (const { header, txCount } of view.headers()) {
      const payload = packer.header(formatHeader(header), txCount);
      if (payload !== null) await full(payload);
      count++;
      since = await yieldIfDue(since);
      if (signal.aborted) throw new SnapshotError('The node is stopping.');
    }
    return count;
  });
}

/**
 * Writes a snapshot of the chain state at a height (null: at the tip) to a file that must not exist yet. The same chain
 * gives the same bytes. Throws `SnapshotError` and leaves no file behind.
 */
export async function dumpSnapshot(
  chain: ViewedChain,
  sections: readonly SnapshotSection[],
  { network, rules }: SnapshotRules,
  target: { readonly path: string; readonly height: number | null; readonly signal: AbortSignal },
): Promise<DumpedSnapshot> {
  const { path, signal } = target;
  return writeSnapshotFile(path, async (sink) => {
    const view = await openView(chain, sections, target.height, signal);
    try {
      const block = hashToHex(view.block);
      const head: SnapshotHead = {
        format: SNAPSHOT_FORMAT,
        network,
        rules,
        height: view.height,
        block,
        sections: sections.map(({ name, version }) => ({ name, version })),
      };
      const out = new SnapshotPacker(sink);
      await out.head(head);
      const parts = [await packHeaders(out, view, signal)];
      for (const [place, section] of sections.entries()) {
        parts.push(await packSection(out, view, section, place, signal));
        chain.deps.onPoint('dump:part');
      }
      const hash = await out.finish();
      return { height: view.height, block, hash, sizeBytes: out.sizeBytes, parts };
    } finally {
      await view.close();
    }
  });
}
