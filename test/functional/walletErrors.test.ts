/**
 * Errors of wallet methods as lbrycrd returned them: each error of each method, in all states of a wallet. They are recorded in
 * `scenarios/walletErrors.json`, which `walletErrorsReference.long.test.ts` writes. With LBCNODE_RECORD this test removes from
 * it the errors that other calls had caused there.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { malformedCalls, type CallPlaces, type WalletCall } from './scenarios/malformedWalletCalls.js';
import { startRegtest, type RegtestNode } from './support/node.js';
import {
  enterState,
  formatRecord,
  sideOfNode,
  reported,
  WALLET_ERROR_ARGS,
  WALLET_STATES,
  type WalletState,
} from './support/walletErrors.js';

const FILE = new URL('scenarios/walletErrors.json', import.meta.url);
const IS_RECORDING = process.env['LBCNODE_RECORD'] === '1';
const RECORDED = JSON.parse(readFileSync(FILE, 'utf8')) as Record<
  WalletState,
  [method: string, call: number, said: string][]
>;

describe('wallet methods refuse as lbrycrd does', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wallet-errors-'));
  let node: RegtestNode;
  let places: CallPlaces;
  beforeAll(async () => {
    node = await startRegtest({ args: WALLET_ERROR_ARGS });
  });
  afterAll(async () => {
    await node?.stop();
    rmSync(folder, { recursive: true, force: true });
    if (IS_RECORDING) writeFileSync(FILE, formatRecord(RECORDED));
  });

  it.each(Object.keys(WALLET_STATES) as WalletState[])('%s', async (state) => {
    const side = sideOfNode(node);
    places = (await enterState(side, state, folder)) ?? places;
    const calls = new Map<string, WalletCall[]>();
    const expected: string[] = [];
    const answered: string[] = [];
    for (const [method, n, said] of RECORDED[state]) {
      let all = calls.get(method);
      if (all === undefined) calls.set(method, (all = malformedCalls(method, places)));
      const label = `${method} ${JSON.stringify(all[n]!.params)}`;
      expected.push(`${label}: ${said}`);
      answered.push(
        `${label}: ${reported(await side.at(WALLET_STATES[state])(method, all[n]!.params), folder)}`,
      );
    }
    if (IS_RECORDING) RECORDED[state] = RECORDED[state].filter((_, at) => answered[at] === expected[at]);
    else expect(answered).toEqual(expected);
    expect(expected.length).toBeGreaterThan(50);
  });
});
