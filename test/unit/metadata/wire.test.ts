import { describe, expect, it } from 'vitest';
import { ClaimSchema } from '../../../src/metadata/messages/claim_pb.js';
import { LegacyClaimSchema } from '../../../src/metadata/messages/legacy_pb.js';
import { MetadataError } from '../../../src/metadata/metadataError.js';
import {
  isSurelyCanonical,
  readMessage,
  readPartialMessage,
  writeMessage,
} from '../../../src/metadata/wire.js';

const fromHex = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const canonicalOf = (hex: string): string =>
  Buffer.from(readMessage(ClaimSchema, fromHex(hex)).canonical).toString('hex');

/** Nested groups with an unknown field number. */
const groups = (depth: number): string => 'a306'.repeat(depth) + 'a406'.repeat(depth);

describe('reading messages', () => {
  it.each([
    ['fields by their numbers', '5a0162 4a0161', '4a0161 5a0162'],
    ['the last of several texts', '420161 420162', '420162'],
    ['repeated fields in their order', '5a0162 5a0161', '5a0162 5a0161'],
    ['messages put together', '0a03120161 0a03 220162', '0a0612016122 0162'],
    ['one kind, the last', '0a03120161 1200', '1200'],
    ['no empty text', '4200', ''],
    ['a message with nothing in it', '5200', '5200'],
    ['unknown fields last, in their order', 'f80701 a00601 420161', '420161 f80701 a00601'],
    ['unknown numbers in their shortest form', 'f807818000', 'f80701'],
    ['unknown lengths and tags in their shortest form', 'fa878000 818000 61', 'fa070161'],
    ['unknown numbers of 64 bits', 'f807ffffffffffffffffff7f', 'f807ffffffffffffffffff01'],
    ['groups', 'a306 0a818000 61 a406', 'a306 0a0161 a406'],
    ['groups 100 deep', groups(100), groups(100)],
    ['a known field of another wire type as unknown', '4001 420161', '420161 4001'],
    ['known numbers in their shortest form', '6204 08 818000', '62020801'],
    ['an enumeration that is below zero', '620b 08ffffffffffffffffff01', '620b08ffffffffffffffffff01'],
    ['an enumeration cut to 32 bits', '620608 8180808010', '62020801'],
    ['nothing behind a zero byte', '420161 00 ff', '420161'],
    ['nothing behind the end of a group that did not begin', '420161 a406 ff', '420161'],
  ])('keeps %s', (_what, hex, canonical) => {
    expect(canonicalOf(hex)).toBe(canonical.replaceAll(' ', ''));
    expect(canonicalOf(canonical)).toBe(canonical.replaceAll(' ', ''));
  });

  it.each([
    ['a field that ends early', '42056162'],
    ['a length beyond the message that it is in', '0a02 1205 6162636465'],
    ['a length of 2^32', '42 8080808010'],
    ['a length of 2^31', '42 8080808008'],
    ['a length of six bytes', '42 808080808000'],
    ['a number of eleven bytes', '62 0c 08 8080808080808080808000'],
    ['a number that ends early', '62 02 08 80'],
    ['a tag of six bytes', '8282808080 00 00'],
    ['the field number 0', '0200'],
    ['the field number 0 within', '0a020200'],
    ['a zero byte within a message', '0a0100'],
    ['the end of a group within a message', '0a02a406'],
    ['a group that does not end', 'a306'],
    ['a group that ends as another', 'a306 ac06'],
    ['groups 101 deep', groups(101)],
    ['the wire type 6', '4600'],
    ['four bytes that are three', 'fd07000000'],
    ['eight bytes that are seven', 'f90700000000000000'],
    ['an overlong character', '4202c080'],
    ['half of a character', '4203eda080'],
    ['a character that ends early', '4202e282'],
  ])('refuses %s', (_what, hex) => {
    expect(() => readMessage(ClaimSchema, fromHex(hex))).toThrow(MetadataError);
  });

  it.each([
    ['an empty message', '', true],
    ['a stream with texts, a list and a language', '0a0322016142016262020801', true],
    ['a text twice in a list', '5a01625a0161', true],
    ['a number of 64 bits', '0a0b28ffffffffffffffffff01', true],
    ['an enumeration that is below zero', '620b08ffffffffffffffffff01', true],
    ['fields in another order', '5a01624a0161', false],
    ['a text twice', '420161420162', false],
    ['two kinds', '0a001200', false],
    ['an empty text', '4200', false],
    ['a number that is zero', '0a022800', false],
    ['an unknown field', 'f80701', false],
    ['another wire type', '4001', false],
    ['a number with superfluous bytes', '620408818000', false],
    ['a length with superfluous bytes', '42818000 61', false],
    ['a tag with superfluous bytes', 'c28000 0161', false],
    ['an enumeration of more than 32 bits', '6206088180808010', false],
    ['a length beyond the message', '42056162', false],
    ['a length beyond the inner message', '0a0212056162636465', false],
    ['a number that ends early', '62020880', false],
    ['an overlong character', '4202c080', false],
    ['a zero byte', '42016100', false],
  ])('are checked for canonical encoding without decoding: %s', (_what, hex, isCanonical) => {
    expect(isSurelyCanonical(ClaimSchema, fromHex(hex))).toBe(isCanonical);
    if (isCanonical) expect(canonicalOf(hex)).toBe(hex);
  });

  it('keeps a byte order mark in a text', () => {
    expect(readMessage(ClaimSchema, fromHex('4203efbbbf')).message.title).toBe('\ufeff');
  });

  it('returns the original bytes if they are canonical', () => {
    const bytes = fromHex('0a0322016142016262020801');
    expect(readMessage(ClaimSchema, bytes).canonical).toBe(bytes);
  });

  it('keeps unknown numbers of a closed enumeration as unknown fields', () => {
    const message = readPartialMessage(LegacyClaimSchema, fromHex('0807 1001'));
    expect(message.version).toBe(0);
    expect(message.$unknown).toEqual([{ no: 1, wireType: 0, data: Buffer.of(7) }]);
  });

  it('does not write a message of 2017 without a required field', () => {
    const message = readPartialMessage(LegacyClaimSchema, fromHex('1001'));
    expect(() => writeMessage(LegacyClaimSchema, message)).toThrow(MetadataError);
  });

  it.each([
    ['unknown numbers', 'f80701'],
    ['empty places', '6a00'],
    ['empty pictures', '5200'],
    ['groups', 'a306a406'],
    ['streams', '0a00'],
    ['channels and streams', '12000a00'],
  ])('reads a megabyte of %s', (_what, unit) => {
    const bytes = Buffer.alloc(1_000_000, Buffer.from(unit, 'hex'));
    const whole = bytes.subarray(0, bytes.length - (bytes.length % (unit.length / 2)));
    expect(readPartialMessage(ClaimSchema, whole)).toBeDefined();
  });
});
