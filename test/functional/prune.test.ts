/** Pruning: old block files are deleted, everything else works, and queries about past claims are still answered. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ADDRESS, shared, startRegtest } from './support/node.js';

const source = shared('bench/bench-40x1000.dat.gz');

/** The first blocks of a block file. Before each block are a magic number and its size. */
function firstBlocks(file: Buffer, count: number): Buffer {
  let end = 0;
  for (let i = 0; i < count; i++) end += 8 + file.readUInt32LE(end + 4);
  return file.subarray(0, end);
}

interface Claim {
  value: string | null;
  address?: string;
  txid: string;
}

interface Named {
  normalized_name: string;
  claims: { txid: string; n: number }[];
}

describe.runIf(source)('a pruned node', () => {
  it('prunes old files by a call, continues, and reports pruned blocks', async () => {
    const work = mkdtempSync(join(tmpdir(), 'prune-'));
    const file = join(work, 'bootstrap.dat');
    writeFileSync(file, firstBlocks(gunzipSync(readFileSync(source!)), 438));
    const args = ['-supportdelay=proportional', '-prune=1', '-maxblockfilesize=500000'];
    let node = await startRegtest({
      dataDir: work,
      args: [...args, `-loadblock=${file}`],
    });
    try {
      const blkFiles = (): string[] =>
        readdirSync(join(work, 'regtest', 'blocks')).filter((name) => name.startsWith('blk'));
      const before = blkFiles().length;
      expect(before).toBeGreaterThan(10);
      // A claim of a past block whose output is spent now. Its value is only in the block file.
      const then = await node.rpc<string>('getblockhash', [430]);
      const names = await node.rpc<Named[]>('getclaimsintrie', [then]);
      let spent: { name: string; txid: string } | null = null;
      for (const { normalized_name: name, claims } of names) {
        for (const { txid, n } of claims) {
          if (!spent && (await node.rpc('gettxout', [txid, n])) === null) spent = { name, txid };
        }
        if (spent) break;
      }
      expect(spent).not.toBeNull();
      const claimThen = async (): Promise<Claim> => {
        const { claims } = await node.rpc<{ claims: Claim[] }>('getclaimsforname', [spent!.name, then]);
        return claims.find(({ txid }) => txid === spent!.txid)!;
      };
      const fresh = await claimThen();
      expect(typeof fresh.value).toBe('string');
      // Only long chains are pruned, and never the last 288 blocks.
      await expect(node.rpc('pruneblockchain', [435])).rejects.toThrow(
        'Blockchain is too short for pruning.',
      );
      await node.rpc('generatetoaddress', [700, ADDRESS]);

      const height = await node.rpc<number>('pruneblockchain', [435]);
      expect(height).toBeGreaterThan(300);
      expect(blkFiles().length).toBeLessThan(before);
      const info = await node.rpc<{ pruned: boolean; pruneheight: number; automatic_pruning: boolean }>(
        'getblockchaininfo',
      );
      expect(info).toMatchObject({ pruned: true, pruneheight: height + 1, automatic_pruning: false });
      const gone = await node.rpc<string>('getblockhash', [height]);
      await expect(node.rpc('getblock', [gone])).rejects.toThrow('Block not available (pruned data)');

      const { value: _value, address: _address, ...rest } = fresh;
      expect(await claimThen()).toEqual({ ...rest, value: null, pruned: true });
      const proof = await node.rpc<{ pairs?: unknown[]; nodes?: unknown[] }>('getnameproof', [
        spent!.name,
        then,
      ]);
      expect((proof.pairs ?? proof.nodes)!.length).toBeGreaterThan(0);

      await expect(node.rpc('invalidateblock', [gone])).rejects.toThrow(
        /Blocks below height \d+ cannot be disconnected/,
      );
      await node.rpc('generatetoaddress', [5, ADDRESS]);
      await node.kill();
      await expect(startRegtest({ dataDir: work, args: [args[0]!] })).rejects.toThrow(
        'using -reindex to go back to unpruned mode',
      );
      await expect(startRegtest({ dataDir: work, args: [...args, '-reindex-chainstate'] })).rejects.toThrow(
        'cannot be rebuilt from them',
      );
      node = await startRegtest({ dataDir: work, args });
      expect(await node.rpc('getblockcount')).toBe(1143);
      expect((await node.rpc<{ pruneheight: number }>('getblockchaininfo')).pruneheight).toBe(height + 1);
    } finally {
      await node.stop();
      rmSync(work, { recursive: true, force: true });
    }
  });
});
