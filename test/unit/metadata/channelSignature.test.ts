import { describe, expect, it, vi } from 'vitest';
import { ecdsaBackend } from '../../../src/crypto/ecdsa.js';
import { sha256 } from '../../../src/crypto/hash.js';
import {
  channelPublicKey,
  claimSignatureDigest,
  isChannelSignatureValid,
  supportSignatureDigest,
} from '../../../src/metadata/channelSignature.js';

const PRIVATE_KEY = Buffer.alloc(32, 7);
const KEY = ecdsaBackend().publicKeyOf(PRIVATE_KEY, true);
const UNCOMPRESSED_KEY = ecdsaBackend().publicKeyOf(PRIVATE_KEY, false);
const OUT_POINT = Buffer.alloc(36, 1);
const ADDRESS = Buffer.alloc(25, 2);
const CHANNEL_ID = Buffer.from('000102030405060708090a0b0c0d0e0f10111213', 'hex');
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const signed = (message: string): Buffer =>
  Buffer.concat([Buffer.of(1), CHANNEL_ID, Buffer.alloc(64), Buffer.from(message, 'hex')]);

describe('the signed data', () => {
  it('consist of the first outpoint, the channel and the canonical message', () => {
    const expected = sha256(Buffer.concat([OUT_POINT, CHANNEL_ID, Buffer.from('0a00420161', 'hex')]));
    const address = vi.fn(() => ADDRESS);
    expect(claimSignatureDigest(signed('0a00420161'), OUT_POINT, address)).toEqual(expected);
    expect(claimSignatureDigest(signed('4201610a00'), OUT_POINT, address)).toEqual(expected);
    expect(address).not.toHaveBeenCalled();
  });

  it('are the same for a support', () => {
    const expected = sha256(Buffer.concat([OUT_POINT, CHANNEL_ID, Buffer.from('0a0161', 'hex')]));
    expect(supportSignatureDigest(signed('0a01620a0161'), OUT_POINT)).toEqual(expected);
  });

  it('consist of the address, the rest of the claim and the channel as printed, for a claim of 2017', () => {
    const rest = '080110011a00';
    const signature = `2a1e 0801 1003 1a02aabb 2214${CHANNEL_ID.toString('hex')}`.replaceAll(' ', '');
    const value = Buffer.from(rest + signature, 'hex');
    // A stream without the required metadata cannot be serialized.
    expect(claimSignatureDigest(value, OUT_POINT, () => ADDRESS)).toBeNull();
    const bare = '08011001';
    const whole = Buffer.from(bare + signature, 'hex');
    const expected = sha256(Buffer.concat([ADDRESS, Buffer.from(bare, 'hex'), CHANNEL_ID]));
    expect(claimSignatureDigest(whole, OUT_POINT, () => ADDRESS)).toEqual(expected);
    expect(claimSignatureDigest(whole, OUT_POINT, () => null)).toBeNull();
  });

  it.each(['', '00', '000a00', '7b7d', '01', '02'])('do not exist for %j', (hex) => {
    const isSigned = hex === '01';
    const value = Buffer.from(hex, 'hex');
    expect(claimSignatureDigest(value, OUT_POINT, () => ADDRESS) !== null).toBe(isSigned);
    expect(supportSignatureDigest(value, OUT_POINT) !== null).toBe(isSigned);
  });
});

describe('verification', () => {
  const digest = sha256(Buffer.from('x'));
  const signature = Buffer.from(ecdsaBackend().sign(digest, PRIVATE_KEY, null).compact);

  it('accepts signatures of the key, with a low s and a high one', () => {
    expect(isChannelSignatureValid(digest, signature, KEY)).toBe(true);
    const s = BigInt(`0x${signature.toString('hex', 32)}`);
    const highS = Buffer.from((ORDER - s).toString(16).padStart(64, '0'), 'hex');
    expect(isChannelSignatureValid(digest, Buffer.concat([signature.subarray(0, 32), highS]), KEY)).toBe(
      true,
    );
  });

  it('refuses all other signatures', () => {
    const other = Buffer.from(signature);
    other[5]! ^= 1;
    expect(isChannelSignatureValid(digest, other, KEY)).toBe(false);
    expect(isChannelSignatureValid(sha256(digest), signature, KEY)).toBe(false);
    expect(
      isChannelSignatureValid(digest, signature, ecdsaBackend().publicKeyOf(Buffer.alloc(32, 8), true)),
    ).toBe(false);
    expect(isChannelSignatureValid(digest, signature.subarray(1), KEY)).toBe(false);
    expect(isChannelSignatureValid(digest, Buffer.alloc(64), KEY)).toBe(false);
    expect(isChannelSignatureValid(digest, Buffer.alloc(64, 0xff), KEY)).toBe(false);
    expect(isChannelSignatureValid(digest, signature, UNCOMPRESSED_KEY)).toBe(false);
    expect(isChannelSignatureValid(digest, signature, Buffer.alloc(33))).toBe(false);
  });
});

describe('keys of channels', () => {
  const info = (algorithm: string, key: Buffer): Buffer => {
    const bits = Buffer.concat([Buffer.of(0x03, key.length + 1, 0), key]);
    const head = Buffer.from(algorithm, 'hex');
    const content = Buffer.concat([Buffer.of(0x30, head.length), head, bits]);
    return Buffer.concat([Buffer.of(0x30, content.length), content]);
  };
  const EC = '06072a8648ce3d0201';
  const CURVE = '06052b8104000a';

  it('are used unchanged if compressed', () => {
    expect(channelPublicKey(KEY)).toBe(KEY);
  });

  it.each([
    ['the name of the curve', EC + CURVE],
    ['another curve', `${EC}06032b8104`],
    ['no parameters', EC],
    ['null', `${EC}0500`],
  ])('are read with %s', (_what, algorithm) => {
    expect(channelPublicKey(info(algorithm, UNCOMPRESSED_KEY))).toEqual(KEY);
  });

  it('are read after a length of several bytes', () => {
    const plain = info(EC + CURVE, UNCOMPRESSED_KEY);
    const long = Buffer.concat([Buffer.of(0x30, 0x82, 0, plain[1]!), plain.subarray(2)]);
    expect(channelPublicKey(long)).toEqual(KEY);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a point alone', UNCOMPRESSED_KEY],
    ['another algorithm', info(`06092a864886f70d010101${CURVE}`, UNCOMPRESSED_KEY)],
    ['two parameters', info(EC + CURVE + CURVE, UNCOMPRESSED_KEY)],
    ['a point that is none', info(EC + CURVE, Buffer.alloc(65, 4))],
    ['what ends early', info(EC + CURVE, UNCOMPRESSED_KEY).subarray(0, -1)],
    ['a length of four bytes', Buffer.from('308400000000', 'hex')],
    ['a length without an end', Buffer.from('3080', 'hex')],
  ])('are refused with %s', (_what, bytes) => {
    expect(channelPublicKey(bytes)).toBeNull();
  });
});
