/**
 * Compares the errors of all wallet methods with those of lbrycrd (`LBRYCRDD`). Each method is called with some hundred invalid
 * lists of arguments, on a wallet that can pay, a locked one, one without private keys, a missing one, and without a wallet
 * name while several wallets are loaded. Code and message must be equal, except for the reasons in `walletErrorDifferences.ts`.
 * With LBCNODE_RECORD the errors of lbrycrd are written to `walletErrors.json`, which `walletErrors.test.ts` uses without
 * lbrycrd.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { malformedCalls, type CallPlaces, type WalletCall } from './scenarios/malformedWalletCalls.js';
import { walletErrorDifference } from './scenarios/walletErrorDifferences.js';
import { startRegtest, type RegtestNode } from './support/node.js';
import { referenceBinary, startReference, type Call, type ReferenceNode } from './support/reference.js';
import {
  enterState,
  formatRecord,
  HELP,
  sideOfNode,
  reported,
  WALLET_ERROR_ARGS,
  WALLET_METHODS,
  WALLET_STATES,
  walletSide,
  type RefusalRecord,
  type WalletSide,
  type WalletState,
} from './support/walletErrors.js';

const binary = referenceBinary();
/** Deprecated methods, and methods that accept accounts if these are enabled. */
const DEPRECATED = WALLET_METHODS.filter((method) =>
  /account|^(?:move|sendfrom|sendmany|getbalance|addwitnessaddress|listtransactions|setlabel|getnewaddress)$/u.test(
    method,
  ),
);
/** Errors that depend on the coins that a wallet selected at random. */
const CHANCE = /has descendants|already bumped|for fee policy|-4 Insufficient funds/u;
const RECORD_FILE = new URL('scenarios/walletErrors.json', import.meta.url);

describe.skipIf(binary === undefined)('refusals of wallet methods beside lbrycrd', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wallet-errors-'));
  let node: RegtestNode;
  let reference: ReferenceNode;
  let sides: [WalletSide, WalletSide];
  let places: CallPlaces[];
  /** By state: the first call with each error, as method, number of the call, and error. */
  const record: RefusalRecord = {};

  beforeAll(async () => {
    node = await startRegtest({ args: WALLET_ERROR_ARGS });
    reference = await startReference(binary!, ['-disablewallet=0', ...WALLET_ERROR_ARGS]);
    sides = [sideOfNode(node), walletSide((path) => reference.at(path))];
  }, 120_000);
  afterAll(async () => {
    await node?.stop();
    await reference?.stop();
    rmSync(folder, { recursive: true, force: true });
    if (process.env['LBCNODE_RECORD'] === '1') writeFileSync(RECORD_FILE, formatRecord(record));
  });

  /** Compares the answers of both sides to all calls of a method. */
  async function compare(
    state: WalletState,
    method: string,
    isRecorded = true,
  ): Promise<{ count: number; found: string[] }> {
    const [ours, theirs] = sides.map(({ at }) => at(WALLET_STATES[state])) as [Call, Call];
    const [mine, other] = places.map((place) => malformedCalls(method, place)) as [
      WalletCall[],
      WalletCall[],
    ];
    const found: string[] = [];
    const known = new Set<string>();
    for (const [n, call] of mine.entries()) {
      const one = reported(await ours(method, call.params), folder);
      const two = reported(await theirs(method, other[n]!.params), folder);
      if (one === two) {
        if (isRecorded && one !== 'answered' && one !== HELP && !known.has(one) && !CHANCE.test(one))
          (record[state] ??= []).push([method, n, one]);
        known.add(one);
      } else if (walletErrorDifference({ state, call, ours: one, theirs: two }) === null)
        found.push(`${method} ${JSON.stringify(call.params)}: ${one}; lbrycrd: ${two}`);
    }
    for (const call of [ours, theirs]) {
      await call('settxfee', [0]);
      await call('lockunspent', [true]);
    }
    return { count: mine.length, found };
  }

  it.each(Object.keys(WALLET_STATES) as WalletState[])(
    'are the same: %s',
    { timeout: 900_000 },
    async (state) => {
      const entered = [await enterState(sides[0], state, folder), await enterState(sides[1], state, folder)];
      if (entered.every((place) => place !== null)) places = entered;
      let count = 0;
      const found: string[] = [];
      for (const method of WALLET_METHODS) {
        const compared = await compare(state, method);
        count += compared.count;
        found.push(...compared.found);
      }
      expect(found).toEqual([]);
      expect(count).toBeGreaterThan(4000);
    },
  );

  it('are the same for creating, loading and unloading wallets', async () => {
    const calls: [path: string, method: string, ...params: unknown[]][] = [
      ['/', 'createwallet', ''],
      ['/', 'createwallet', 'made'],
      ['/', 'createwallet', 'made'],
      ['/', 'createwallet', 'made', 'x'],
      ['/', 'createwallet', 'other', null],
      ['/', 'loadwallet', 'nobody'],
      ['/', 'loadwallet', 'made'],
      ['/', 'loadwallet', ''],
      ['/wallet/nobody', 'loadwallet', 'made'],
      ['/', 'unloadwallet'],
      ['/', 'unloadwallet', null],
      ['/', 'unloadwallet', 'nobody'],
      ['/wallet/nobody', 'unloadwallet'],
      ['/wallet/made', 'unloadwallet', 'made'],
      ['/wallet/made', 'unloadwallet', 'other'],
      ['/wallet/made', 'unloadwallet'],
      ['/wallet/made', 'getbalance'],
      ['/wallet/made', 'unloadwallet'],
      ['/', 'unloadwallet', 'made'],
      ['/', 'createwallet', 'made'],
      ['/', 'loadwallet', 'made'],
      ['/', 'unloadwallet', 'other'],
    ];
    for (const [path, method, ...params] of calls) {
      const [one, two] = await Promise.all(
        sides.map(async ({ at }) => reported(await at(path)(method, params), folder)),
      );
      expect(one, `${path} ${method} ${JSON.stringify(params)}`).toBe(two);
    }
  });

  it('are the same if deprecated methods are off', { timeout: 900_000 }, async () => {
    await node.stop();
    await reference.stop();
    const args = WALLET_ERROR_ARGS.filter((arg) => !arg.startsWith('-deprecatedrpc'));
    node = await startRegtest({ args });
    reference = await startReference(binary!, ['-disablewallet=0', ...args]);
    sides = [sideOfNode(node), walletSide((path) => reference.at(path))];
    const entered = await Promise.all(sides.map((side) => enterState(side, 'open', folder)));
    places = entered.filter((place) => place !== null);
    const found: string[] = [];
    for (const method of DEPRECATED) found.push(...(await compare('open', method, false)).found);
    expect(found).toEqual([]);
  });
});
