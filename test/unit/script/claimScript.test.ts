import { describe, expect, it } from 'vitest';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  claimIdOf,
  claimNameLength,
  claimPrefixLength,
  decodeClaimScript,
  startsWithClaimOpcode,
  stripClaimPrefix,
} from '../../../src/script/claimScript.js';
import { OP } from '../../../src/script/opcodes.js';
import { pushData } from '../../../src/script/script.js';
import { fromHex, hashFromHex, toHex, type Bytes } from '../../../src/util/bytes.js';

const NAME = Buffer.from('name');
const VALUE = Buffer.from('a value');
const ID = Buffer.alloc(20, 0xcd);
const REST = fromHex('76a914' + '11'.repeat(20) + '88ac');

function script(...parts: (number | Bytes)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : part)));
}

function pushBy1(data: Bytes): Buffer {
  return Buffer.concat([Buffer.of(OP.OP_PUSHDATA1, data.length), data]);
}

function pushBy2(data: Bytes): Buffer {
  return Buffer.concat([Buffer.of(OP.OP_PUSHDATA2, data.length & 0xff, data.length >> 8), data]);
}

function pushBy4(data: Bytes): Buffer {
  return Buffer.concat([Buffer.of(OP.OP_PUSHDATA4, data.length & 0xff, data.length >> 8, 0, 0), data]);
}

describe('decodeClaimScript', () => {
  it('reads a claim', () => {
    const prefix = buildClaimPrefix(NAME, VALUE);
    expect(toHex(prefix)).toBe('b5' + '046e616d65' + '07612076616c7565' + '6d75');
    const claim = decodeClaimScript(script(prefix, REST))!;
    expect(claim.kind).toBe('claim');
    expect(toHex(claim.name)).toBe(toHex(NAME));
    expect(toHex(claim.value!)).toBe(toHex(VALUE));
    expect(claim.claimId).toBeUndefined();
    expect(claim.prefixLength).toBe(prefix.length);
  });

  it('reads an update', () => {
    const prefix = buildUpdatePrefix(NAME, ID, VALUE);
    expect(toHex(prefix)).toBe('b7' + '046e616d65' + '14' + 'cd'.repeat(20) + '07612076616c7565' + '6d6d');
    const claim = decodeClaimScript(script(prefix, REST))!;
    expect(claim.kind).toBe('update');
    expect([claim.name, claim.claimId!, claim.value!].map(toHex)).toEqual([NAME, ID, VALUE].map(toHex));
    expect(claim.prefixLength).toBe(prefix.length);
  });

  it('reads a support', () => {
    const prefix = buildSupportPrefix(NAME, ID);
    expect(toHex(prefix)).toBe('b6' + '046e616d65' + '14' + 'cd'.repeat(20) + '6d75');
    const claim = decodeClaimScript(script(prefix, REST))!;
    expect(claim.kind).toBe('support');
    expect([claim.name, claim.claimId!].map(toHex)).toEqual([NAME, ID].map(toHex));
    expect(claim.value).toBeUndefined();
  });

  it('reads a support with metadata only if that is allowed', () => {
    const prefix = buildSupportPrefix(NAME, ID, VALUE);
    expect(toHex(prefix)).toBe('b6' + '046e616d65' + '14' + 'cd'.repeat(20) + '07612076616c7565' + '6d6d');
    const claim = decodeClaimScript(prefix)!;
    expect(claim.kind).toBe('support');
    expect(toHex(claim.value!)).toBe(toHex(VALUE));
    expect(decodeClaimScript(prefix, false)).toBeNull();
    expect(claimPrefixLength(prefix, false)).toBe(0);
    expect(decodeClaimScript(buildUpdatePrefix(NAME, ID, VALUE), false)).not.toBeNull();
    expect(toHex(buildSupportPrefix(NAME, ID, Buffer.alloc(0)))).toBe(toHex(buildSupportPrefix(NAME, ID)));
  });

  it('distinguishes an empty value from no value', () => {
    const support = script(
      OP.OP_SUPPORT_CLAIM,
      pushData(NAME),
      pushData(ID),
      OP.OP_0,
      OP.OP_2DROP,
      OP.OP_2DROP,
    );
    expect(decodeClaimScript(support)!.value!.length).toBe(0);
    expect(decodeClaimScript(buildClaimPrefix(NAME, Buffer.alloc(0)))!.value!.length).toBe(0);
  });

  it('accepts empty names and names of any bytes', () => {
    const empty = decodeClaimScript(buildClaimPrefix(Buffer.alloc(0), VALUE))!;
    expect(empty.name.length).toBe(0);
    for (const bytes of ['00', '05', '81', 'ff', 'c328']) {
      const claim = decodeClaimScript(script(buildClaimPrefix(fromHex(bytes), VALUE), REST))!;
      expect(toHex(claim.name)).toBe(bytes);
    }
  });

  it('accepts every length form of a push', () => {
    for (const push of [pushData, pushBy1, pushBy2, pushBy4]) {
      const prefix = script(OP.OP_UPDATE_CLAIM, push(NAME), push(ID), push(VALUE), OP.OP_2DROP, OP.OP_2DROP);
      const claim = decodeClaimScript(script(prefix, REST))!;
      expect([claim.name, claim.claimId!, claim.value!].map(toHex)).toEqual([NAME, ID, VALUE].map(toHex));
      expect(claim.prefixLength).toBe(prefix.length);
      expect(claimNameLength(script(prefix, REST))).toBe(NAME.length);
    }
  });

  it('returns views, not copies', () => {
    const output = script(buildClaimPrefix(NAME, VALUE), REST);
    const claim = decodeClaimScript(output)!;
    output[2] = 0x4e;
    expect(toHex(claim.name)).toBe(toHex(Buffer.from('Name')));
  });

  it('returns null for an incomplete prefix', () => {
    const d1 = OP.OP_DROP;
    const d2 = OP.OP_2DROP;
    const n = pushData(NAME);
    const id = pushData(ID);
    const v = pushData(VALUE);
    const broken: [string, Buffer][] = [
      ['empty', Buffer.alloc(0)],
      ['ordinary', REST],
      ['opcode alone', script(OP.OP_CLAIM_NAME)],
      ['no value', script(OP.OP_CLAIM_NAME, n)],
      ['no drops', script(OP.OP_CLAIM_NAME, n, v)],
      ['one drop', script(OP.OP_CLAIM_NAME, n, v, d2)],
      ['drops in the other order', script(OP.OP_CLAIM_NAME, n, v, d1, d2)],
      ['claim with two double drops', script(OP.OP_CLAIM_NAME, n, v, d2, d2)],
      ['claim with three pushes', script(OP.OP_CLAIM_NAME, n, id, v, d2, d2)],
      ['name by number', script(OP.OP_CLAIM_NAME, OP.OP_1, v, d2, d1)],
      ['value by number', script(OP.OP_CLAIM_NAME, n, OP.OP_16, d2, d1)],
      ['name by OP_1NEGATE', script(OP.OP_CLAIM_NAME, OP.OP_1NEGATE, v, d2, d1)],
      ['value cut short', script(OP.OP_CLAIM_NAME, n, 0x20, 1, 2, 3)],
      ['name cut short', script(OP.OP_CLAIM_NAME, OP.OP_PUSHDATA2, 4)],
      ['update without value', script(OP.OP_UPDATE_CLAIM, n, id, d2, d1)],
      ['update with single drop', script(OP.OP_UPDATE_CLAIM, n, id, v, d2, d1)],
      ['update with value by number', script(OP.OP_UPDATE_CLAIM, n, id, OP.OP_1, d2, d2)],
      ['update with value cut short', script(OP.OP_UPDATE_CLAIM, n, id, 9, 1)],
      ['update ending after the id', script(OP.OP_UPDATE_CLAIM, n, id)],
      ['id of 19 bytes', script(OP.OP_SUPPORT_CLAIM, n, pushData(ID.subarray(1)), d2, d1)],
      ['id of 21 bytes', script(OP.OP_UPDATE_CLAIM, n, pushData(Buffer.alloc(21)), v, d2, d2)],
      ['support with wrong drops', script(OP.OP_SUPPORT_CLAIM, n, id, d2, d2)],
      ['support with metadata and wrong drops', script(OP.OP_SUPPORT_CLAIM, n, id, v, d2, d1)],
      ['neighbouring opcode below', script(0xb4, n, v, d2, d1)],
      ['neighbouring opcode above', script(0xb8, n, v, d2, d1)],
      ['prefix not in front', script(OP.OP_NOP, buildClaimPrefix(NAME, VALUE))],
    ];
    for (const [what, bytes] of broken) {
      expect(decodeClaimScript(bytes), what).toBeNull();
      expect(claimPrefixLength(bytes), what).toBe(0);
      expect(claimNameLength(bytes), what).toBe(0);
      expect(stripClaimPrefix(bytes), what).toBe(bytes);
    }
  });

  it('finds the end of a prefix in every truncation of it', () => {
    for (const prefix of [
      buildClaimPrefix(NAME, VALUE),
      buildUpdatePrefix(NAME, ID, VALUE),
      buildSupportPrefix(NAME, ID),
      buildSupportPrefix(NAME, ID, VALUE),
    ]) {
      for (let size = 0; size < prefix.length; size++)
        expect(claimPrefixLength(prefix.subarray(0, size))).toBe(0);
      expect(claimPrefixLength(prefix)).toBe(prefix.length);
    }
  });
});

describe('stripping', () => {
  it('returns the rest of the script', () => {
    for (const prefix of [
      buildClaimPrefix(NAME, VALUE),
      buildSupportPrefix(NAME, ID),
      buildUpdatePrefix(NAME, ID, VALUE),
    ]) {
      expect(toHex(stripClaimPrefix(script(prefix, REST)))).toBe(toHex(REST));
      expect(stripClaimPrefix(prefix).length).toBe(0);
    }
  });

  it('strips one prefix only', () => {
    const twice = script(buildClaimPrefix(NAME, VALUE), buildSupportPrefix(NAME, ID), REST);
    expect(toHex(stripClaimPrefix(twice))).toBe(toHex(script(buildSupportPrefix(NAME, ID), REST)));
  });

  it('detects a claim opcode at the beginning of an incomplete prefix too', () => {
    expect(startsWithClaimOpcode(script(OP.OP_CLAIM_NAME))).toBe(true);
    expect(startsWithClaimOpcode(script(OP.OP_UPDATE_CLAIM, REST))).toBe(true);
    expect(startsWithClaimOpcode(REST)).toBe(false);
    expect(startsWithClaimOpcode(Buffer.alloc(0))).toBe(false);
  });
});

describe('claimIdOf', () => {
  it('hashes the transaction id in wire order and the big-endian number', () => {
    const txid = hashFromHex('8a9b5b5fbd1d4f4b0b33dc6ec4a08e5f2b2a5f2c9b0c7c5c4b3a291807f6e5d4');
    expect(toHex(claimIdOf(txid, 1))).toBe(CLAIM_ID_1);
    expect(toHex(claimIdOf(txid, 256))).toBe(CLAIM_ID_256);
  });
});

/** Computed with Python's hashlib: RIPEMD-160 of SHA-256 of the 36 bytes. */
const CLAIM_ID_1 = '7a7b9f896ac90a8ed3474b20f9ff01bd3a3b1c16';
const CLAIM_ID_256 = 'ab03384248ac394ca477e804e9b214f73eda9e4c';
