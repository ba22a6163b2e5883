/** Signed messages, lenient base64, hash type names, kinds of address. */
import { describe, expect, it } from 'vitest';
import { hash160, sha256, sha256d } from '../../../src/crypto/hash.js';
import { scriptForDestination, scriptForMultisig } from '../../../src/script/standard.js';
import { decodeBase64 } from '../../../src/signing/base64.js';
import { destinationForKey, destinationForScript } from '../../../src/signing/outputType.js';
import { parseSighashType } from '../../../src/signing/sighashType.js';
import { messageHash, signMessage, verifyMessage } from '../../../src/signing/signedMessage.js';
import { MemoryKeyStore, signingKeyOf } from '../../../src/signing/signingProvider.js';
import { toHex } from '../../../src/util/bytes.js';
import { atOnce, AT_ONCE_SIZE } from '../../../src/util/slices.js';
import { Writer } from '../../../src/util/writer.js';

const KEY = signingKeyOf(sha256(Buffer.from('key')), true);
const LONG = signingKeyOf(sha256(Buffer.from('key')), false);

describe('signed messages', () => {
  it.each(['', 'my message', 'ünïcode ✓', 'x'.repeat(300)])('are verified: %s', (message) => {
    const verify = (text: string, signature: Buffer, id: Buffer): boolean =>
      atOnce(verifyMessage(text, signature, id));
    for (const key of [KEY, LONG]) {
      const signature = atOnce(signMessage(message, key));
      expect(signature.length).toBe(65);
      expect(verify(message, signature, hash160(key.publicKey))).toBe(true);
      expect(verify(`${message}.`, signature, hash160(key.publicKey))).toBe(false);
      expect(verify(message, signature.subarray(1), hash160(key.publicKey))).toBe(false);
    }
    // A compressed and an uncompressed key have different ids.
    expect(verify(message, atOnce(signMessage(message, KEY)), hash160(LONG.publicKey))).toBe(false);
  });

  it.each(['x', 'é', '✓', '😀', 'a😀', '\ud83d', '\ude00'])(
    'of %j, repeated many times, are hashed in slices',
    (text) => {
      const message = text.repeat(300_000);
      const bytes = Buffer.from(message);
      const magic = Buffer.from('LBRYcrd Signed Message:\n');
      const whole = new Writer(bytes.length + 40).varBytes(magic).varBytes(bytes).finish();
      const work = messageHash(message);
      let pauses = 0;
      let step = work.next();
      for (; step.done !== true; step = work.next()) pauses++;
      expect(toHex(step.value)).toBe(toHex(sha256d(whole)));
      // One pass for the length and one for the hash.
      expect(pauses).toBe(2 * Math.ceil(message.length / AT_ONCE_SIZE));
    },
  );
});

describe('decodeBase64', () => {
  it.each([
    ['', '', true],
    ['QQ==', '41', true],
    ['QQ=', '41', false],
    ['QQ', '41', false],
    ['QR==', '41', false],
    ['QUI=', '4142', true],
    ['QUJD', '414243', true],
    ['QUJDR', '414243', false],
    ['QUJD====', '414243', false],
    ['QUJD*QUJD', '414243', false],
    ['QU-D', '41', false],
    ['QUJD\0????', '414243', true],
    ['QQ==QQ==', '41', false],
  ])('%j', (text, hex, valid) => {
    expect(decodeBase64(text)).toEqual({ bytes: Buffer.from(hex, 'hex'), valid });
  });
});

describe('names', () => {
  it('of hash types are parsed', () => {
    expect(['ALL', 'NONE', 'SINGLE', 'ALL|ANYONECANPAY', 'all', ''].map(parseSighashType)).toEqual([
      1,
      2,
      3,
      0x81,
      null,
      null,
    ]);
  });

  it('of address kinds are parsed', () => {
    const hash = hash160(KEY.publicKey);
    expect(destinationForKey(KEY.publicKey, 'legacy')).toEqual({ type: 'pubkeyhash', hash });
    expect(destinationForKey(KEY.publicKey, 'bech32')).toEqual({ type: 'witness_v0_keyhash', hash });
    expect(destinationForKey(KEY.publicKey, 'p2sh-segwit').type).toBe('scripthash');
    expect(destinationForKey(LONG.publicKey, 'bech32').type).toBe('pubkeyhash');
    const store = new MemoryKeyStore();
    const script = scriptForMultisig(1, [KEY.publicKey]);
    const program = destinationForScript(store, script, 'bech32');
    expect(program).toEqual({ type: 'witness_v0_scripthash', hash: sha256(script) });
    expect(store.script(hash160(scriptForDestination(program)))).not.toBeNull();
    expect(toHex(store.script(hash160(script))!)).toBe(toHex(script));
    const long = scriptForMultisig(1, [LONG.publicKey]);
    expect(destinationForScript(store, long, 'bech32')).toEqual({ type: 'scripthash', hash: hash160(long) });
  });
});
