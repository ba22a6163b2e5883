/** Chains with busy blocks around each fork of claims, mined by lbrycrd and handed to this node; new seeds in each run. */
import { afterEach, describe, expect, it } from 'vitest';
import { ClaimStorm } from './support/claimStorm.js';
import { OPEN_ADDRESS } from './support/network.js';
import { startRegtest } from './support/node.js';
import { referenceBinary, startReference } from './support/reference.js';

const binary = referenceBinary();
const CHAINS = Number(process.env['FORK_CHAINS'] ?? (process.env['LBCNODE_FULL'] === '1' ? 50 : 1));
const FIRST_SEED = Number(process.env['FORK_SEED'] ?? Date.now() % 1_000_000_000);
const NAMES = ['a', 'A', 'ab', 'aB', 'abc', 'aBc', 'b', 'ba', 'bAc', '\u00e9', 'e\u0301', '\u00c9'];
/** Normalization, all claims in the hash, extended expiration, as both programs have them on regtest. */
const FORKS = [250, 349, 800];
const LAST_HEIGHT = 806;
const HANG_MS = 3_600_000;

describe.runIf(binary)('chains that lbrycrd mined over the forks', () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  it.each(Array.from({ length: CHAINS }, (_, n) => FIRST_SEED + n))(
    'are valid, seed %i',
    async (seed) => {
      const us = await startRegtest({ args: ['-compat=lbrycrd', '-supportdelay=proportional'] });
      closers.push(() => us.stop());
      const them = await startReference(binary!, ['-limitancestorcount=1000', '-limitdescendantcount=1000']);
      closers.push(() => them.stop());
      const storm = new ClaimStorm(seed, NAMES);
      let height = 0;
      const mine = async (blocks: number): Promise<void> => {
        const hashes = await them.rpc<string[]>('generatetoaddress', [blocks, OPEN_ADDRESS]);
        for (const hash of hashes) {
          const raw = await them.rpc<string>('getblock', [hash, 0]);
          height++;
          expect(await us.rpc('submitblock', [raw]), `seed ${seed}, block ${height}`).toBeNull();
        }
        expect(await us.rpc('getbestblockhash')).toBe(await them.rpc('getbestblockhash'));
      };
      await mine(130);
      for (let at = 1; at < 20; at++) {
        const { tx } = await them.rpc<{ tx: string[] }>('getblock', [await them.rpc('getblockhash', [at])]);
        const { value } = await them.rpc<{ value: number }>('gettxout', [tx[0], 0]);
        storm.addCoin(tx[0]!, BigInt(Math.round(value * 1e8)));
      }
      while (height < LAST_HEIGHT) {
        const next = height + 1;
        const wait = Math.min(...FORKS.map((fork) => fork - 4 - next).filter((blocks) => blocks > 0), 40);
        const isNear = FORKS.some((fork) => Math.abs(fork - next) <= 4);
        if (isNear || storm.random(3) === 0)
          for (const hex of storm.block(1 + storm.random(4)))
            await them.rpc('sendrawtransaction', [hex, true]);
        await mine(isNear ? 1 : Math.max(1, Math.min(wait, 1 + storm.random(25), LAST_HEIGHT - height)));
      }
      for (const name of NAMES)
        expect(await us.rpc('getclaimsforname', [name])).toEqual(await them.rpc('getclaimsforname', [name]));
    },
    HANG_MS,
  );
});
