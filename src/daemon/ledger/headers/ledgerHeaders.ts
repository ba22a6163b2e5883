/**
 * The header chain with the most work that any hub has sent. The predecessor, target and proof of work of each header are
 * checked. On regtest only the predecessor is checked, as in the reference, whose test hubs create headers without work.
 * Source: lbry-sdk lbry/wallet/header.py `Headers`, `UnvalidatedHeaders`.
 */
import { join } from 'node:path';
import { headerHash, HEADER_SIZE_BYTES, powHash } from '../../../primitives/header.js';
import { endsKnownChunk, HEADERS_PER_CHUNK, isKnownChunk } from '../../../primitives/headerChunks.js';
import { blockWork } from '../../../primitives/compactTarget.js';
import { satisfiesProofOfWork } from '../../../primitives/pow.js';
import { nextWorkRequired } from '../../../primitives/retarget.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { hashToHex } from '../../../util/bytes.js';
import { estimatedTimeSec } from '../../base/blockTimes.js';
import type { LedgerParams } from '../../base/ledgerParams.js';
import type { HeaderView } from '../ledger.js';
import { HeaderFile } from './headerFile.js';

const AT = { prevHash: 4, merkleRoot: 36, claimRoot: 68, time: 100, bits: 104 } as const;

const HEADERS_FILE = 'headers.dat';

/** Headers on top of a header of the chain. */
export interface HeaderBranch {
  /** Height of the last common header, which precedes the first header of the branch. */
  readonly forkHeight: number;
  readonly headers: Buffer;
}

/** Error: a header does not link to the chain or breaks its rules. */
export class BadHeader extends Error {}

export interface LedgerHeadersOptions {
  readonly path: string;
  readonly params: LedgerParams;
  readonly checksWork: boolean;
}

/** Opens the headers of a chain in its folder. By default proof of work is checked on all chains except regtest. */
export function openHeaders(
  folder: string,
  params: LedgerParams,
  checksWork = params.id !== 'lbc_regtest',
): LedgerHeaders {
  return new LedgerHeaders({ path: join(folder, HEADERS_FILE), params, checksWork });
}

export class LedgerHeaders implements HeaderView {
  readonly path: string;
  /** Height from which corrupt headers were removed when the file was opened; null if none were. */
  readonly cutAt: number | null;
  readonly #file: HeaderFile;
  readonly #params: LedgerParams;
  readonly #checksWork: boolean;

  constructor({ path, params, checksWork }: LedgerHeadersOptions) {
    this.path = path;
    this.#params = params;
    this.#checksWork = checksWork;
    this.#file = new HeaderFile(
      path,
      Buffer.from(params.network.genesis.block.subarray(0, HEADER_SIZE_BYTES)),
    );
    const { cutAt } = this.#file;
    const first = this.#firstUnsound(cutAt);
    this.cutAt = cutAt === null && first > this.height ? null : first;
    if (first <= this.height) this.#file.cutFrom(first);
  }

  /**
   * Returns the height from which stored headers must be removed. If the header at `broken` does not link to its
   * predecessor, either of the two headers may be corrupt. Corruption of the last header can only be detected by its proof of
   * work.
   */
  #firstUnsound(broken: number | null): number {
    let first = broken === null ? this.#file.count : Math.max(1, Math.min(broken, this.#file.count) - 1);
    if (this.#checksWork) while (first > 1 && !this.#isSound(first - 1)) first--;
    return first;
  }

  #isSound(height: number): boolean {
    const header = this.#file.at(height);
    try {
      this.#checkWork(
        header,
        header.readUInt32LE(AT.bits),
        height,
        this.#treeOf((at) => this.#file.at(at)),
      );
      return true;
    } catch (error) {
      if (error instanceof BadHeader) return false;
      throw error;
    }
  }

  /** Scans all headers in the file in slices. Returns the height of the first corrupt one, or null. */
  async firstCorruption(): Promise<number | null> {
    const broken = await this.#file.firstBreak();
    const first = this.#firstUnsound(broken);
    return first > this.height ? null : first;
  }

  /** Removes the header at a height and all headers above it. */
  cutFrom(height: number): void {
    this.#file.cutFrom(height);
  }

  get height(): number {
    return this.#file.count - 1;
  }

  /** The 112 bytes of a header; null for an unknown height. */
  headerAt(height: number): Buffer | null {
    return Number.isSafeInteger(height) && height >= 0 && height <= this.height
      ? this.#file.at(height)
      : null;
  }

  hashAt(height: number): Buffer | null {
    const header = this.headerAt(height);
    return header && headerHash(header);
  }

  merkleRootAt(height: number): Buffer | null {
    return this.headerAt(height)?.subarray(AT.merkleRoot, AT.claimRoot) ?? null;
  }

  timeSecAt(height: number): number | null {
    if (height <= 0) return null;
    return this.headerAt(height)?.readUInt32LE(AT.time) ?? estimatedTimeSec(height);
  }

  /** Expected number of hashes for the headers above a height. */
  workAbove(height: number): bigint {
    let work = 0n;
    for (let at = height + 1; at <= this.height; at++)
      work += blockWork(this.#file.at(at).readUInt32LE(AT.bits));
    return work;
  }

  /**
   * Checks that the headers `more` continue the branch, or the fork header if the branch is empty. Returns the work of
   * `more`. Throws `BadHeader`.
   */
  async check(branch: HeaderBranch, more: Buffer): Promise<bigint> {
    const known = branch.headers.length / HEADER_SIZE_BYTES;
    const first = branch.forkHeight + 1;
    const at = (height: number): Buffer => {
      if (height < first) return this.#file.at(height);
      const n = height - first;
      const [bytes, place] = n < known ? [branch.headers, n] : [more, n - known];
      return bytes.subarray(place * HEADER_SIZE_BYTES, (place + 1) * HEADER_SIZE_BYTES);
    };
    const tree = this.#treeOf(at);
    let work = 0n;
    let since = performance.now();
    let height = first + known;
    let prevHash = headerHash(at(height - 1));
    for (const end = height + more.length / HEADER_SIZE_BYTES; height < end; height++) {
      const header = at(height);
      const hash = headerHash(header);
      if (!header.subarray(AT.prevHash, AT.merkleRoot).equals(prevHash))
        throw new BadHeader(`the header at height ${height} does not follow its predecessor`);
      this.#checkPlace(height, hash);
      this.#checkChunk(height, at);
      const bits = header.readUInt32LE(AT.bits);
      if (this.#checksWork) this.#checkWork(header, bits, height, tree);
      work += blockWork(bits);
      prevHash = hash;
      since = await yieldIfDue(since);
    }
    return work;
  }

  #treeOf(at: (height: number) => Buffer): Parameters<typeof nextWorkRequired>[0] {
    return {
      heightOf: (id: number) => id,
      ancestorOf: (_id: number, height: number) => height,
      timeOf: (id: number) => at(id).readUInt32LE(AT.time),
      bitsOf: (id: number) => at(id).readUInt32LE(AT.bits),
    };
  }

  #checkPlace(height: number, hash: Buffer): void {
    const checkpoint = this.#params.network.checkpoints.find((one) => one.height === height);
    if (checkpoint && !hash.equals(checkpoint.hash))
      throw new BadHeader(`the header at height ${height} is not ${hashToHex(checkpoint.hash)}`);
  }

  /**
   * Throws `BadHeader` if the headers of a complete chunk do not match the known hash of the chunk. Source: lbry-sdk
   * lbry/wallet/header.py `Headers.fetch_chunk`.
   */
  #checkChunk(height: number, at: (height: number) => Buffer): void {
    const chunks = this.#params.network.headerChunks();
    if (!endsKnownChunk(chunks, height)) return;
    const first = height + 1 - HEADERS_PER_CHUNK;
    const headers = Array.from({ length: HEADERS_PER_CHUNK }, (_, index) => at(first + index));
    if (!isKnownChunk(chunks, height, headers))
      throw new BadHeader(`the headers from height ${first} to ${height} do not belong to the chain`);
  }

  #checkWork(
    header: Buffer,
    bits: number,
    height: number,
    tree: Parameters<typeof nextWorkRequired>[0],
  ): void {
    const { network } = this.#params;
    if (bits !== nextWorkRequired(tree, height - 1, header.readUInt32LE(AT.time), network))
      throw new BadHeader(`the header at height ${height} has a wrong target`);
    if (!satisfiesProofOfWork(powHash(header), bits, network.powLimit))
      throw new BadHeader(`the header at height ${height} has no proof of work`);
  }

  /** Stores checked headers above the fork. Existing headers above the fork are replaced. */
  accept({ forkHeight, headers }: HeaderBranch): void {
    this.#file.replaceFrom(forkHeight + 1, headers);
  }

  close(): void {
    this.#file.close();
  }
}
