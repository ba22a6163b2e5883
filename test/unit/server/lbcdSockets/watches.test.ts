/** Scripts that clients watch: the keys by which they are found, the filter, the limit. */
import { describe, expect, it } from 'vitest';
import { hash160, sha256 } from '../../../../src/crypto/hash.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { txid, type Transaction } from '../../../../src/primitives/transaction.js';
import { addressPrefixesOf, encodeDestination } from '../../../../src/script/address.js';
import {
  scriptForDestination,
  scriptForMultisig,
  scriptForPublicKey,
  type Destination,
} from '../../../../src/script/standard.js';
import { pushData } from '../../../../src/script/script.js';
import { WatchedTransaction, outPointKey } from '../../../../src/server/lbcdSockets/watchedTransaction.js';
import { addressKey, payeesOf, publicKeyKey } from '../../../../src/server/lbcdSockets/watchKeys.js';
import { WatchCount, WatchLimitError, Watches } from '../../../../src/server/lbcdSockets/watches.js';
import { signingKeyOf } from '../../../../src/signing/signingProvider.js';
import { toHex, toLatin1, type Bytes } from '../../../../src/util/bytes.js';
import { bytesOf, claimScript, make } from '../notifications/support.js';

const prefixes = addressPrefixesOf(regtestParams);
const [KEY, OTHER] = ['one', 'two'].map(
  (name) => signingKeyOf(sha256(Buffer.from(name)), true).publicKey as Bytes,
) as [Bytes, Bytes];
const HASH = hash160(KEY);
const DESTINATIONS: readonly Destination[] = [
  { type: 'pubkeyhash', hash: HASH },
  { type: 'scripthash', hash: HASH },
  { type: 'witness_v0_keyhash', hash: HASH },
  { type: 'witness_v0_scripthash', hash: sha256(KEY) },
];
const key = (text: string): string => addressKey(text, prefixes)!;
const addressOf = (destination: Destination): string => encodeDestination(destination, prefixes);
let coins = 0;
const paying = (script: Bytes): Transaction => make([{ txid: Buffer.alloc(32, 7), n: ++coins }], script);
const seen = (tx: Transaction): WatchedTransaction => WatchedTransaction.alone(bytesOf(tx));
const outputOf = (tx: Transaction): string => outPointKey(toLatin1(txid(tx)), 0);
const watches = (max = 100): Watches => new Watches(new WatchCount(max));

describe('addressKey', () => {
  it.each(DESTINATIONS)('is the key of an output that pays to a $type', (destination) => {
    expect(payeesOf(scriptForDestination(destination)).hashes).toEqual([key(addressOf(destination))]);
  });

  it('distinguishes kinds with the same hash, and accepts public keys in hex', () => {
    expect(new Set(DESTINATIONS.map(addressOf).map(key)).size).toBe(4);
    expect(key(toHex(KEY))).toBe(publicKeyKey(KEY));
    expect(addressKey('05'.repeat(33), prefixes)).toBeNull();
    expect(addressKey('nonsense', prefixes)).toBeNull();
    // The x coordinate 5 is on no point of the curve.
    expect(addressKey(`02${'05'.padStart(64, '0')}`, prefixes)).toBeNull();
  });

  it('does not accept white space around an address', () => {
    for (const address of DESTINATIONS.map(addressOf)) {
      expect(addressKey(` ${address}`, prefixes)).toBeNull();
      expect(addressKey(`${address}\n`, prefixes)).toBeNull();
    }
  });

  it('ignores a claim prefix', () => {
    const script = claimScript(Buffer.from('name'));
    const prefix = script.subarray(0, script.length - 1);
    const target = scriptForDestination(DESTINATIONS[0]!);
    expect(payeesOf(Buffer.concat([prefix, target])).hashes).toEqual([key(addressOf(DESTINATIONS[0]!))]);
  });
});

describe('unlocked keys', () => {
  it('are those of a key hash and of a script hash', () => {
    const tx = paying(scriptForDestination(DESTINATIONS[0]!));
    tx.inputs[0]!.scriptSig = Buffer.concat([pushData(Buffer.alloc(71, 1)), pushData(KEY)]);
    expect(seen(tx).unlocked()).toEqual([key(addressOf(DESTINATIONS[0]!))]);
    const redeemScript = scriptForMultisig(1, [KEY]);
    tx.inputs[0]!.scriptSig = Buffer.concat([pushData(Buffer.alloc(120, 1)), pushData(redeemScript)]);
    expect(seen(tx).unlocked()).toEqual([
      key(addressOf({ type: 'scripthash', hash: hash160(redeemScript) })),
    ]);
    tx.inputs[0]!.scriptSig = Buffer.from([0xac]);
    expect(seen(tx).unlocked()).toEqual([null]);
  });

  it('are those of witness programs', () => {
    const tx = paying(scriptForDestination(DESTINATIONS[0]!));
    tx.inputs[0]!.scriptSig = Buffer.alloc(0);
    expect(seen(tx).unlocked()).toEqual([null]);
    tx.inputs[0]!.witness = [Buffer.alloc(71, 1), Buffer.from(KEY)];
    expect(seen(tx).unlocked()).toEqual([key(addressOf(DESTINATIONS[2]!))]);
    tx.inputs[0]!.witness = [Buffer.alloc(1), Buffer.alloc(71, 1), Buffer.from(KEY)];
    expect(seen(tx).unlocked()).toEqual([key(addressOf(DESTINATIONS[3]!))]);
  });
});

describe('Watches', () => {
  it('finds payments to an address, also to its bare key or in multisig', () => {
    const mine = watches();
    mine.addAddresses([key(addressOf(DESTINATIONS[0]!))]);
    for (const script of [
      scriptForDestination(DESTINATIONS[0]!),
      scriptForPublicKey(KEY),
      scriptForMultisig(1, [OTHER, KEY]),
    ]) {
      const tx = paying(script);
      expect(mine.look(seen(tx), false)).toEqual({ redeems: false, receives: true, outputs: [outputOf(tx)] });
    }
    for (const script of [scriptForDestination(DESTINATIONS[1]!), scriptForPublicKey(OTHER)])
      expect(mine.look(seen(paying(script)), false).receives).toBe(false);
    mine.removeAddresses([key(addressOf(DESTINATIONS[0]!))]);
    expect(mine.look(seen(paying(scriptForPublicKey(KEY))), false).receives).toBe(false);
  });

  it('watches received outputs until a block spends them', () => {
    const mine = watches();
    mine.addAddresses([key(addressOf(DESTINATIONS[0]!))]);
    const tx = paying(scriptForDestination(DESTINATIONS[0]!));
    mine.look(seen(tx), false);
    const spender = seen(make([{ txid: txid(tx), n: 0 }], scriptForPublicKey(OTHER)));
    expect([false, false, true, true].map((inBlock) => mine.look(spender, inBlock).redeems)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  it('matches payments to an address or a key, and their spends, in its filter', () => {
    const mine = watches();
    const tx = paying(scriptForPublicKey(KEY));
    expect(mine.filters(seen(tx))).toBe(false);
    mine.loadFilter(false, [publicKeyKey(KEY)], []);
    expect(mine.filters(seen(tx))).toBe(true);
    expect(mine.filters(seen(make([{ txid: txid(tx), n: 0 }], scriptForPublicKey(OTHER))))).toBe(true);
    mine.loadFilter(false, [key(addressOf(DESTINATIONS[2]!))], []);
    expect(mine.filters(seen(paying(scriptForDestination(DESTINATIONS[2]!))))).toBe(true);
    expect(mine.filters(seen(tx))).toBe(true);
    mine.loadFilter(true, [], [outputOf(tx)]);
    expect(mine.filters(seen(tx))).toBe(false);
    expect(mine.filters(seen(make([{ txid: txid(tx), n: 0 }], scriptForPublicKey(OTHER))))).toBe(true);
  });

  it('has one limit for all clients, without disconnected ones', () => {
    const count = new WatchCount(3);
    const [one, two] = [new Watches(count), new Watches(count)];
    one.addAddresses(['a', 'b', 'b']);
    two.addOutputs(['c']);
    expect(() => two.loadFilter(false, ['d'], [])).toThrow(WatchLimitError);
    one.clear();
    two.loadFilter(false, ['d'], ['e']);
    expect(count.now).toBe(3);
    two.loadFilter(true, [], []);
    two.clear();
    expect(count.now).toBe(0);
  });
});
