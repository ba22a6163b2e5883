/**
 * Restores a backup after ten thousand further addresses were used, and imports ten thousand keys at once. The time must grow
 * linearly, and the node must answer meanwhile.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/crypto/hash.js';
import { regtestParams } from '../../src/params/regtest.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import { encodeSecret } from '../../src/script/wif.js';
import { ecdsaBackend } from '../../src/crypto/ecdsa.js';
import { destinationForKey } from '../../src/signing/outputType.js';
import { startRegtest, type RegtestNode } from './support/node.js';
import { cpuMs } from './support/residentMemory.js';

const PREFIXES = addressPrefixesOf(regtestParams);
const ADDRESSES = 10_000;
const A_PAYMENT = 500;

interface Info {
  readonly txcount: number;
  readonly balance: number;
  readonly scanning: unknown;
}

describe.each([{ index: false }, { index: true }])(
  'a wallet of many keys, address index $index',
  ({ index }) => {
    let node: RegtestNode;
    let folder: string;
    const at = async <T = unknown>(wallet: string, method: string, ...params: unknown[]): Promise<T> => {
      const path = `/wallet/${encodeURIComponent(wallet)}`;
      const { text } = await node.post(JSON.stringify({ id: 1, method, params }), path);
      const { result, error } = JSON.parse(text) as { result: T; error: { message: string } | null };
      if (error) throw new Error(`${method}: ${error.message}`);
      return result;
    };
    const timed = async <T>(what: string, task: () => Promise<T>): Promise<T> => {
      const sinceMs = performance.now();
      // Measures calls to the node meanwhile.
      let isDone = false;
      let slowestMs = 0;
      const asking = (async () => {
        while (!isDone) {
          const askedMs = performance.now();
          await node.rpc('getblockcount');
          slowestMs = Math.max(slowestMs, performance.now() - askedMs);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      })();
      const value = await task();
      isDone = true;
      await asking;
      console.log(
        `${what}: ${Math.round(performance.now() - sinceMs)} ms, other calls at most ${Math.round(slowestMs)} ms`,
      );
      return value;
    };

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'restore-'));
      node = await startRegtest({
        args: ['-keypool=1000', '-fallbackfee=0.001', ...(index ? ['-addressindex'] : [])],
      });
    });
    afterAll(async () => {
      await node.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it('is restored completely from an older copy, encrypted or not', async () => {
      await at('', 'generate', 130);
      await at('', 'createwallet', 'user');
      await at('user', 'backupwallet', join(folder, 'plain'));
      await at('', 'createwallet', 'secret');
      await at('secret', 'encryptwallet', 'pass');
      await at('secret', 'backupwallet', join(folder, 'locked'));
      await at('secret', 'walletpassphrase', 'pass', 100_000);
      for (const name of ['user', 'secret']) {
        const addresses: string[] = [];
        for (let n = 0; n < ADDRESSES; n++) addresses.push(await at(name, 'getnewaddress'));
        // The addresses are paid in an order that differs within the size of the key pool.
        for (let from = 0; from < ADDRESSES; from += A_PAYMENT) {
          const part = addresses.slice(from, from + A_PAYMENT).reverse();
          await at('', 'sendmany', '', Object.fromEntries(part.map((address) => [address, 0.0001])));
          await at('', 'generate', 1);
        }
      }
      for (const [name, file] of [
        ['user', 'plain'],
        ['secret', 'locked'],
      ] as const) {
        const whole = await at<Info>(name, 'getwalletinfo');
        expect(whole.txcount).toBe(ADDRESSES / A_PAYMENT);
        const copy = join(folder, file);
        await at(name, 'unloadwallet');
        await timed(`restored ${file}`, async () => {
          await at('', 'loadwallet', copy);
          if (name === 'secret') {
            expect((await at<Info>(copy, 'getwalletinfo')).txcount).toBeLessThan(whole.txcount);
            await at(copy, 'walletpassphrase', 'pass', 100_000);
          }
          await expect
            .poll(async () => (await at<Info>(copy, 'getwalletinfo')).scanning, {
              timeout: 1_000_000,
              interval: 100,
            })
            .toBe(false);
        });
        const found = await at<Info>(copy, 'getwalletinfo');
        expect([found.txcount, found.balance]).toEqual([whole.txcount, whole.balance]);
        expect((await at<unknown[]>(copy, 'listunspent')).length).toBe(ADDRESSES);
      }
    });

    it('is exported and imported in time proportional to the number of its keys', async () => {
      const keys = Array.from({ length: ADDRESSES }, (_, n) => {
        const privateKey = sha256(Buffer.from(`many ${n}`));
        const publicKey = ecdsaBackend().publicKeyOf(privateKey, true);
        return {
          wif: encodeSecret(privateKey, true, PREFIXES),
          address: encodeDestination(destinationForKey(publicKey, 'legacy'), PREFIXES),
        };
      });
      await at('', 'createwallet', 'many');
      const requests = keys.map(({ wif, address }) => ({
        scriptPubKey: { address },
        timestamp: 0,
        keys: [wif],
      }));
      const times: number[] = [];
      for (const part of [requests.slice(0, 1000), requests.slice(1000)]) {
        const sinceMs = cpuMs(node.pid);
        const answers = await timed(`importmulti of ${part.length}`, () =>
          at<{ success: boolean }[]>('many', 'importmulti', part, { rescan: false }),
        );
        times.push(cpuMs(node.pid) - sinceMs);
        expect(answers.every(({ success }) => success)).toBe(true);
      }
      // There are nine times as many keys. Quadratic growth would give a factor of 81.
      expect(times[1]! / times[0]!).toBeLessThan(9 * 3);
      const path = join(folder, 'dump');
      await timed('dumpwallet', () => at('many', 'dumpwallet', path));
      await at('', 'createwallet', 'again');
      await timed('importwallet', () => at('again', 'importwallet', path));
      for (const { address } of [keys[0]!, keys[ADDRESSES - 1]!])
        expect(await at('again', 'getaddressinfo', address)).toMatchObject({ ismine: true, timestamp: 1 });
    });
  },
);
