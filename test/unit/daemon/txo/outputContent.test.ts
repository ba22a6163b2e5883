import { expect, test } from 'vitest';
import { ledgerParams } from '../../../../src/daemon/base/ledgerParams.js';
import { contentOf } from '../../../../src/daemon/txo/outputContent.js';
import { Txo, type TxoFacts } from '../../../../src/daemon/txo/txo.js';
import { channel, claim, forged, otherChannel, payment, stream, PARAMS } from '../resolve/claimWorld.js';

const sourceOf = ({ txid, nout, script, firstOutPoint }: TxoFacts) => ({ txid, nout, script, firstOutPoint });
const NO_TXID = Buffer.alloc(32);

test('outputs of the same transaction share the content of a claim', () => {
  const again = new Txo({ ...sourceOf(stream), txid: Buffer.from(stream.txid), height: 3, amountDewies: 1n });
  expect(again.claim).toBe(stream.claim);
  expect(again.value(PARAMS)).toBe(stream.value(PARAMS));
  expect(contentOf(sourceOf(again))).toBe(contentOf(sourceOf(stream)));
});

test('the content of a payment is not cached', () => {
  const source = sourceOf(payment());
  expect(contentOf(source)).not.toBe(contentOf(source));
});

test('outputs with the same txid and another script have contents of their own', () => {
  const [one, other] = [
    claim('one', { case: 'stream', value: {} }),
    claim('other', { case: 'stream', value: {} }),
  ];
  const unfinished = (txo: Txo) => new Txo({ ...sourceOf(txo), txid: NO_TXID, height: -2, amountDewies: 1n });
  expect(unfinished(one).claimName).toBe('one');
  expect(unfinished(other).claimName).toBe('other');
  expect(unfinished(one).claimName).toBe('one');
});

test('a signature depends on the first outpoint', () => {
  expect(stream.isSignedBy(channel, PARAMS)).toBe(true);
  const moved = { ...sourceOf(stream), firstOutPoint: Buffer.alloc(36, 9) };
  expect(new Txo({ ...moved, height: 3, amountDewies: 1n }).isSignedBy(channel, PARAMS)).toBe(false);
  const unknown = { ...sourceOf(stream), firstOutPoint: null };
  expect(new Txo({ ...unknown, height: 3, amountDewies: 1n }).isSignedBy(channel, PARAMS)).toBe(false);
  expect(stream.isSignedBy(channel, PARAMS)).toBe(true);
});

test('a cached verification applies to one channel key', () => {
  expect(stream.isSignedBy(otherChannel, PARAMS)).toBe(false);
  expect(stream.isSignedBy(channel, PARAMS)).toBe(true);
  expect(forged.isSignedBy(channel, PARAMS)).toBe(false);
});

test('an address has the prefix of the requested ledger', () => {
  const main = ledgerParams('lbc_mainnet');
  const address = stream.address(PARAMS);
  expect(stream.address(main)).toMatch(/^b/);
  expect(stream.address(PARAMS)).toBe(address);
  expect(address).not.toBe(stream.address(main));
});

test('an evicted content is computed again with the same result', () => {
  const value = stream.value(PARAMS);
  for (let i = 0; i < 600; i++) void contentOf({ ...sourceOf(stream), nout: i + 1 });
  const again = new Txo({ ...sourceOf(stream), height: 3, amountDewies: 1n });
  expect(again.value(PARAMS)).not.toBe(value);
  expect(again.value(PARAMS)).toEqual(value);
});
