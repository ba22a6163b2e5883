/** Sums of supports as the hub answers them; the sums themselves are compared with a model in `claimIndex.test.ts`. */
import { describe, expect, it } from 'vitest';
import { supportSums } from '../../../../src/hub/claims/supportSums.js';
import { keyTag, signedKey, supportSumKey } from '../../../../src/index/claims/claimIndexKeys.js';
import type { ClaimRecord } from '../../../../src/index/claims/claimReader.js';
import { formatSupportSumRow, type ClaimRow } from '../../../../src/index/claims/claimRow.js';
import type { ResolveScope } from '../../../../src/index/claims/resolveUrl.js';
import { hashToHex, toLatin1, type Bytes } from '../../../../src/util/bytes.js';
import { MemoryRows } from '../../../support/memoryRows.js';

const id = (n: number): Buffer => Buffer.alloc(20, n);
const key = (n: number): Buffer => Buffer.alloc(33, n);
const [CHANNEL, OTHER, STREAM] = [id(1), id(2), id(3)];
const turn = { yieldIfDue: () => Promise.resolve() };

/** An index of two channels and a stream, which the first channel signed. */
class Index {
  readonly rows = new MemoryRows();
  readonly claims = new Map<string, ClaimRow>();

  constructor() {
    this.add(CHANNEL, '@lab', key(7));
    this.add(OTHER, '@other', key(8));
    this.add(STREAM, 'note', null);
    this.sign(STREAM, 'note', 1);
  }

  add(claimId: Buffer, rawName: string, publicKey: Buffer | null): void {
    this.claims.set(toLatin1(claimId), { rawName, publicKey } as unknown as ClaimRow);
  }

  sign(claimId: Buffer, name: string, position: number): void {
    const filed = signedKey(toLatin1(CHANNEL), keyTag(key(7)), name, 10, position, 0);
    this.rows.rows.set(filed, claimId);
  }

  give(to: Buffer, name: string, channel: Buffer, publicKey: Buffer, amountSat: bigint, count: number): void {
    const row = formatSupportSumRow({ count, amountSat })!;
    this.rows.rows.set(supportSumKey(toLatin1(to), name, toLatin1(channel), keyTag(publicKey)), row);
  }

  read<T>(task: (scope: ResolveScope) => Promise<T>): Promise<T> {
    const records = {
      rowsOf: (ids: readonly string[]) => Promise.resolve(ids.map((one) => this.claims.get(one) ?? null)),
      load: (ids: readonly string[]) =>
        Promise.resolve(
          ids.map((one) => {
            const name = Buffer.from(this.claims.get(one)!.rawName);
            return { claimId: Buffer.from(one, 'latin1'), name } as unknown as ClaimRecord;
          }),
        ),
    };
    return task({ rows: this.rows, records } as unknown as ResolveScope);
  }

  async sums(claimId: Bytes, withContent = false): Promise<unknown[]> {
    const sums = await supportSums(this, claimId, withContent, turn);
    return sums.map(({ channel, amountSat, count }) => [
      Buffer.from(channel.name).toString(),
      amountSat,
      count,
    ]);
  }
}

describe('sums of supports by channel', () => {
  it('use the current key, largest first and equals by id', async () => {
    const index = new Index();
    index.give(STREAM, 'note', CHANNEL, key(7), 5n, 2);
    index.give(STREAM, 'note', CHANNEL, key(9), 100n, 1);
    index.give(STREAM, 'note', OTHER, key(8), 9n, 1);
    index.give(STREAM, 'other name', OTHER, key(8), 1000n, 1);
    index.give(STREAM, 'note', id(9), key(7), 1000n, 1);
    expect(await index.sums(STREAM)).toEqual([
      ['@other', 9n, 1],
      ['@lab', 5n, 2],
    ]);
    index.give(STREAM, 'note', CHANNEL, key(7), 9n, 2);
    expect(await index.sums(STREAM)).toEqual([
      ['@lab', 9n, 2],
      ['@other', 9n, 1],
    ]);
    expect(await index.sums(CHANNEL)).toEqual([]);
  });

  it('of a channel include those of its claims on request', async () => {
    const index = new Index();
    index.give(STREAM, 'note', OTHER, key(8), 9n, 1);
    index.give(CHANNEL, '@lab', OTHER, key(8), 1n, 1);
    expect(await index.sums(CHANNEL)).toEqual([['@other', 1n, 1]]);
    expect(await index.sums(CHANNEL, true)).toEqual([['@other', 10n, 2]]);
    expect(await index.sums(STREAM, true)).toEqual([['@other', 9n, 1]]);
  });

  it('refuse an ended claim, and a channel with too many claims', async () => {
    const index = new Index();
    await expect(index.sums(id(4))).rejects.toThrow(`Could not find claim at ${hashToHex(id(4))}`);
    for (let n = 2; n <= 10_001; n++) index.sign(STREAM, 'note', n);
    await expect(index.sums(CHANNEL, true)).rejects.toThrow('The channel has more than 10000 claims');
    expect(await index.sums(CHANNEL)).toEqual([]);
  });
});
