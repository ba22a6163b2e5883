/** Large calls to the wallet port, and calls to a large wallet. None of them blocks the event loop. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../../../../src/crypto/hash.js';
import type { Transaction } from '../../../../../src/primitives/transaction.js';
import { invokeMethod } from '../../../../../src/rpc/call/callMethod.js';
import { LBCWALLET_METHODS } from '../../../../../src/rpc/declare/lbcwalletTable.js';
import type { RpcServices } from '../../../../../src/interfaces/services.js';
import { encodeDestination } from '../../../../../src/script/address.js';
import { extractDestination } from '../../../../../src/script/standard.js';
import { hashToHex } from '../../../../../src/util/bytes.js';
import { JsonObject, toPlain, type JsonValue } from '../../../../../src/util/json/json.js';
import { parseJson } from '../../../../../src/util/json/jsonParse.js';
import { jsonChunks } from '../../../../../src/util/json/jsonStream.js';
import { type JsonOut } from '../../../../../src/util/json/jsonWrite.js';
import { countTurns } from '../../../../support/slices.js';
import { FakeNode } from '../../../wallet/support/fakeNode.js';
import { openTestWallet, type TestWallet } from '../../../wallet/support/openWallet.js';
import { testContext, testServices } from '../../support.js';

const PAYMENTS = 3000;
const ITEMS = 5000;

let node: FakeNode;
let opened: TestWallet;
let address: string;

function payment(serial: number, script: Buffer): Transaction {
  const prevout = { hash: sha256(Buffer.from(`from ${serial}`)), index: 0 };
  const inputs = [{ prevout, scriptSig: Buffer.alloc(0), sequence: 0xffffffff, witness: [] }];
  return { version: 2, inputs, outputs: [{ value: 1000n + BigInt(serial), script }], lockTime: 0 };
}

beforeAll(async () => {
  node = new FakeNode();
  node.mineEmpty(1);
  opened = await openTestWallet(node, { keypoolSize: 2 });
  const script = await opened.script();
  address = encodeDestination(extractDestination(script)!, opened.wallet.prefixes);
  const payments = Array.from({ length: PAYMENTS }, (_, n) => payment(n, script));
  node.mine(undefined, payments);
});
afterAll(() => opened.close());
// Ends the slice of the previous test.
beforeEach(() => new Promise<void>((resolve) => void setImmediate(resolve)));

async function call(name: string, ...params: JsonValue[]): Promise<JsonOut> {
  const method = LBCWALLET_METHODS.find((one) => one.name === name)!;
  const { wallet } = opened;
  const wallets = {
    all: () => [wallet],
    find: () => wallet,
    caughtUp: () => null,
    isBetween: false,
    enter: () => () => undefined,
    finish: () => undefined,
  } as unknown as RpcServices['wallets'];
  const services = { ...testServices(), wallets } as RpcServices;
  return invokeMethod(method, testContext({ profile: 'lbcd', services }), params);
}

async function read(value: JsonOut): Promise<unknown> {
  let text = '';
  for await (const chunk of jsonChunks(value)) text += chunk;
  return toPlain(parseJson(text));
}

const amounts = (items: unknown): number[] => (items as { amount: number }[]).map(({ amount }) => amount);

describe('large calls of the wallet port', () => {
  it('include sendmany to many addresses', async () => {
    const payees = new JsonObject(Array.from({ length: ITEMS }, () => [address, 1] as const));
    const { value, turns } = await countTurns(() =>
      call('sendmany', 'default', payees).catch((error: unknown) => error),
    );
    expect(value).toMatchObject({ message: 'insufficient funds available to construct transaction' });
    expect(turns).toBeGreaterThan(ITEMS / 2);
  });

  it('include listaddresstransactions with one address many times', async () => {
    const addresses = Array.from({ length: ITEMS }, () => address);
    const { value, turns } = await countTurns(() => call('listaddresstransactions', addresses));
    expect(turns).toBeGreaterThan(ITEMS / 2);
    const items = amounts(await read(value));
    expect(items).toHaveLength(PAYMENTS);
    expect(items[0]).toBe(0.00001);
  });

  it('include listtransactions of all transactions', async () => {
    const { value, turns } = await countTurns(() => call('listtransactions', '*', 1_000_000));
    expect(turns).toBeGreaterThan(PAYMENTS / 2);
    const items = (await read(value)) as unknown[];
    expect(items).toHaveLength(PAYMENTS);
    expect(amounts(items)[0]).toBe(0.00001);
    expect(await read(await call('listtransactions', '*', 2))).toEqual(items.slice(-2));
    expect(await read(await call('listtransactions', '*', 2, 3))).toEqual(items.slice(-5, -3));
  });

  it('include listsinceblock of an old block', async () => {
    node.mineEmpty(2000);
    const { value, turns } = await countTurns(() => call('listsinceblock', hashToHex(node.blocks[0]!.hash)));
    expect(turns).toBeGreaterThan(4);
    const { transactions } = (await read(value)) as { transactions: unknown };
    expect(amounts(transactions)).toHaveLength(PAYMENTS);
  });

  it('include listalltransactions of an account without transactions', async () => {
    const { value, turns } = await countTurns(async () =>
      read(await call('listalltransactions', 'imported')),
    );
    expect(value).toEqual([]);
    expect(turns).toBeGreaterThan(PAYMENTS / 2);
  });
});
