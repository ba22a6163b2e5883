/** The file of a snapshot: a written file is read back, and a changed file is refused with a reason. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLAIM_INDEX_VERSION } from '../../../../src/index/claims/claimIndex.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import {
  KIND,
  packAmount,
  PIECE_HEAD_BYTES,
  PiecePacker,
  pieceHead,
  SNAPSHOT_MAGIC,
  unpackAmount,
} from '../../../../src/chain/snapshot/snapshotFormat.js';
import { SnapshotError, writeSnapshotFile } from '../../../../src/chain/snapshot/snapshotFile.js';
import { txidAt } from '../../../../src/primitives/blockView.js';
import { buildClaimPrefix } from '../../../../src/script/claimScript.js';
import { formatCoinRow } from '../../../../src/store/cache/coinRow.js';
import { dumpOf, rowsOfPayload, verify } from '../../../support/snapshots.js';
import { OPEN_SCRIPT, spend, TestChain } from '../../../support/testChain.js';

describe('packing', () => {
  it('keeps amounts', () => {
    for (const amount of [0n, 1n, 9n, 10n, 123_000n, 100_000_000n, 2_100_000_000_000_001n, 10n ** 17n])
      expect(unpackAmount(packAmount(amount))).toBe(amount);
    expect(packAmount(100_000_000n)).toBe(9n);
  });

  it('keeps coins, whatever their script', () => {
    const hash = 'aa'.repeat(20);
    const scripts = [
      `76a914${hash}88ac`,
      `a914${hash}87`,
      `0014${hash}`,
      `0020${hash}${'bb'.repeat(12)}`,
      '',
      '51',
      `76a914${hash}88ad`,
    ];
    const packer = new PiecePacker(KIND.firstSection, true);
    const rows = scripts.map((script, n): [string, Buffer] => [
      `Ctxid${n}`,
      formatCoinRow({ heightCode: 7 * n, amount: BigInt(n) * 1000n, script: Buffer.from(script, 'hex') }),
    ]);
    for (const [key, value] of rows) expect(packer.row(key, value)).toBeNull();
    const payload = packer.take()!;
    expect(rowsOfPayload(payload, true)).toEqual(rows);
    expect(payload.length).toBeLessThan(
      rows.reduce((sum, [key, value]) => sum + key.length + value.length, 0),
    );
    expect(packer.take()).toBeNull();
  });
});

describe('a file', () => {
  let chain: TestChain;
  let path: string;
  let whole: Buffer;
  let copies = 0;

  beforeAll(async () => {
    chain = await TestChain.open({ claimIndex: true });
    await chain.mine(101);
    const { parsed } = await chain.blockAt(1);
    const script = Buffer.concat([buildClaimPrefix(Buffer.from('name'), Buffer.from('value')), OPEN_SCRIPT]);
    chain.pending.push(spend([{ txid: Buffer.from(txidAt(parsed, 0)), n: 0 }], [{ value: 10n, script }]));
    await chain.mine(1);
    const { hash } = await dumpOf(chain, 'whole');
    path = join(chain.folder, 'whole');
    whole = readFileSync(path);
    expect(sha256(whole).toString('hex')).toBe(hash);
  });
  afterAll(() => chain.close());

  /** Positions at which chunks begin. */
  function pieces(): number[] {
    const starts: number[] = [];
    for (let at = SNAPSHOT_MAGIC.length; at < whole.length;) {
      starts.push(at);
      at += PIECE_HEAD_BYTES + whole.readUInt32LE(at);
    }
    return starts;
  }

  function copyOf(bytes: Buffer): string {
    const copy = join(chain.folder, `copy${copies++}`);
    writeFileSync(copy, bytes);
    return copy;
  }

  /** Replaces a text in one of the chunks by another one of the same length, and corrects the checksums. */
  function withText(from: string, to: string): string {
    const at = whole.indexOf(from, 0, 'latin1');
    const start = pieces().findLast((begin) => begin < at)!;
    const changed = Buffer.from(whole);
    changed.write(to, at, 'latin1');
    const length = changed.readUInt32LE(start);
    const payload = changed.subarray(start + PIECE_HEAD_BYTES, start + PIECE_HEAD_BYTES + length);
    pieceHead(payload).copy(changed, start);
    return copyOf(changed);
  }

  const refusal = async (copy: string, change = {}): Promise<string> => {
    const error: unknown = await verify(chain, copy, change).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(SnapshotError);
    expect((error as Error).message).toContain(copy);
    return (error as Error).message;
  };

  it('is read back completely, and its claims have the claim root', async () => {
    const read = await verify(chain, path);
    expect(read.head.height).toBe(102);
    expect(read.sizeBytes).toBe(whole.length);
    expect(read.parts.map(({ rows }) => rows > 0)).toEqual([true, true, true, true]);
  });

  it('is refused if truncated at any position', async () => {
    for (const start of pieces()) {
      for (const end of [start, start + 5, start + PIECE_HEAD_BYTES + 1])
        expect(await refusal(copyOf(whole.subarray(0, end)))).toContain('the file is truncated');
    }
    expect(await refusal(copyOf(whole.subarray(0, whole.length - 1)))).toContain('the file is truncated');
    expect(await refusal(copyOf(Buffer.alloc(0)))).toContain('the file is truncated');
  });

  it('is refused with a flipped bit at any position', async () => {
    for (let at = 3; at < whole.length; at += Math.ceil(whole.length / 60)) {
      const flipped = Buffer.from(whole);
      flipped[at]! ^= 1 << (at % 8);
      expect(await refusal(copyOf(flipped))).toMatch(/is corrupt near byte|is not a snapshot/);
    }
  });

  it('is refused with data after its end', async () => {
    expect(await refusal(copyOf(Buffer.concat([whole, Buffer.of(0)])))).toContain('data after its end');
  });

  it('is refused with missing or reordered chunks', async () => {
    const starts = [...pieces(), whole.length];
    const parts = starts.slice(0, -1).map((start, i) => whole.subarray(start, starts[i + 1]));
    const [head, headers, coins, claims, ...rest] = parts;
    const join_ = (list: readonly (Buffer | undefined)[]): Buffer =>
      Buffer.concat([SNAPSHOT_MAGIC, ...list.map((part) => part!)]);
    expect(await refusal(copyOf(join_([head, headers, claims, coins, ...rest])))).toContain('corrupt');
    expect(await refusal(copyOf(join_([head, headers, claims, ...rest])))).toContain(
      'does not match its contents',
    );
    expect(await refusal(copyOf(join_([head, coins, claims, ...rest])))).toContain(
      'last header is not that of its block',
    );
    expect(await refusal(copyOf(join_([headers, coins, claims, ...rest])))).toContain('not a header');
  });

  it('is refused with an end record of another form', async () => {
    const start = pieces().at(-1)!;
    for (const text of [
      'null',
      '5',
      '"parts"',
      '{"parts":null}',
      `{"parts":${'['.repeat(1e5)}${']'.repeat(1e5)}}`,
    ]) {
      const payload = Buffer.concat([Buffer.of(KIND.end), Buffer.from(text)]);
      const copy = copyOf(Buffer.concat([whole.subarray(0, start), pieceHead(payload), payload]));
      expect(await refusal(copy), text.slice(0, 20)).toContain('end record does not match its contents');
    }
  });

  it('is refused for another network, other rules, a newer format and other versions of rows', async () => {
    expect(await refusal(path, { network: 'main' })).toContain('of the network regtest, not main');
    expect(await refusal(path, { rules: 'others' })).toContain('with other fork heights');
    expect(await refusal(withText('"format":1', '"format":2'))).toContain('has format 2');
    expect(await refusal(withText(`"version":${CLAIM_INDEX_VERSION}`, '"version":9'))).toContain(
      'another version of lbcnode',
    );
  });

  it('is refused if its claims or headers are not those of the chain', async () => {
    const claims = await refusal(withText('nname', 'nmane'));
    expect(claims).toMatch(/have the root [0-9a-f]{64}, but the header of block/);
    const { merkleRoot } = (await chain.blockAt(50)).header;
    const root = Buffer.from(merkleRoot).toString('latin1');
    const header = await refusal(
      withText(root, `${String.fromCharCode(root.charCodeAt(0) ^ 1)}${root.slice(1)}`),
    );
    expect(header).toMatch(/The header at height 5\d of .* is invalid|last header is not that of its block/);
    expect(await refusal(path, { minimumChainWork: 1n << 60n })).toContain('less work');
  });

  it('is refused if it is a folder or missing', async () => {
    const folder = join(chain.folder, 'folder');
    mkdirSync(folder);
    // The advice must not be to move the folder away: the path is wrong.
    expect(await refusal(folder)).toBe(
      `The snapshot ${folder} cannot be read: it is a folder where a file should be (EISDIR). Check the path.`,
    );
    const missing = join(chain.folder, 'missing');
    expect(await refusal(missing)).toBe(
      `The snapshot ${missing} cannot be read: it is missing (ENOENT). Check the path.`,
    );
  });

  it('is never overwritten, and leaves nothing if it cannot be written', async () => {
    await expect(dumpOf(chain, 'whole')).rejects.toThrow('already exists');
    const failing = join(chain.folder, 'failing');
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    await expect(writeSnapshotFile(failing, () => Promise.reject(full))).rejects.toThrow(
      'no space is left on its disk (ENOSPC)',
    );
    await expect(dumpOf(chain, 'missing/name')).rejects.toThrow(
      `The folder ${join(chain.folder, 'missing')} is missing (ENOENT). Create it or choose another path.`,
    );
    expect([existsSync(failing), existsSync(`${failing}.incomplete`)]).toEqual([false, false]);
    writeFileSync(join(chain.folder, 'again.incomplete'), 'left by a kill');
    expect((await dumpOf(chain, 'again')).sizeBytes).toBe(whole.length);
  });

  it('is of a block of the active chain', async () => {
    await expect(dumpOf(chain, 'high', 103)).rejects.toThrow('no block at height 103');
    expect((await dumpOf(chain, 'low', 40)).height).toBe(40);
    const bare = await TestChain.open();
    await expect(dumpOf(bare, 'bare')).rejects.toThrow('Start the node with -claimindex');
    await bare.close();
  });
});
