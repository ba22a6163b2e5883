import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { encodeSecret } from '../../../../src/script/wif.js';
import { WalletBatch } from '../../../../src/wallet/store/records.js';
import { ImportError } from '../../../../src/wallet/transfer/imports.js';
import { processImport, type ImportRequest } from '../../../../src/wallet/transfer/importRequest.js';
import { FakeNode } from '../support/fakeNode.js';
import { openTestWallet, type TestWallet } from '../support/openWallet.js';

/** Buffers that were overwritten with zeros, in hex, with their previous content. */
let wiped: string[];
const fill = Buffer.prototype.fill;

let opened: TestWallet;
beforeEach(async () => {
  const node = new FakeNode();
  node.mineEmpty(2);
  opened = await openTestWallet(node);
  wiped = [];
  vi.spyOn(Buffer.prototype, 'fill').mockImplementation(function (this: Buffer, ...args) {
    if (args[0] === 0) wiped.push(Buffer.from(this).toString('hex'));
    return fill.apply(this, args);
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  return opened.close();
});

function secretText(first: number): string {
  return encodeSecret(Buffer.alloc(32, first), true, opened.wallet.prefixes);
}

describe('given private keys', () => {
  it('are wiped, whether they are accepted or refused', () => {
    const { wallet } = opened;
    const request: ImportRequest = {
      output: { script: '51' },
      redeemScript: '',
      publicKeys: [],
      privateKeys: [secretText(1)],
      isInternal: true,
      isWatchOnly: false,
      label: null,
      timeSec: 1,
    };
    const batch = new WalletBatch();
    processImport(wallet, batch, request);
    // First the key is already known, then it does not match the output.
    expect(() => processImport(wallet, batch, request)).toThrow(ImportError);
    const script = `76a914${'11'.repeat(20)}88ac`;
    const other = { ...request, output: { script }, privateKeys: [secretText(2)] };
    expect(() => processImport(wallet, batch, other)).toThrow('Consistency check failed');
    const [first, second] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('hex'));
    // The decoded key of each attempt is wiped, and for the first attempt also the bytes that are written.
    expect(wiped.filter((hex) => hex === first)).toHaveLength(3);
    expect(wiped.filter((hex) => hex === second)).toHaveLength(1);
  });

  it('are wiped from the buffer to write', async () => {
    const { wallet } = opened;
    const batch = new WalletBatch();
    wallet.keys.makeSeed(batch);
    const [row] = batch.changes
      .filter(([key]) => String(key).startsWith('\x03key'))
      .map(([, value]) => value!);
    expect(row!.some((byte) => byte !== 0)).toBe(true);
    await wallet.write(batch);
    expect(row!.every((byte) => byte === 0)).toBe(true);
    const { keyCount } = wallet.keyring;
    opened = await opened.reopen();
    expect(opened.wallet.keyring.keyCount).toBe(keyCount);
  });
});
