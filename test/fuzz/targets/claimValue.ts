/**
 * Fuzz target: values of claims, data of supports and purchases. Any bytes are either decoded or refused with `MetadataError`,
 * and a decoded value that is encoded again has the same meaning.
 */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  claimSignatureDigest,
  decodedClaimDigest,
  decodedSupportDigest,
  supportSignatureDigest,
} from '../../../src/metadata/channelSignature.js';
import { decodeClaim, encodeClaim, type DecodedClaim } from '../../../src/metadata/claim.js';
import { claimToJson, supportToJson } from '../../../src/metadata/claimJson.js';
import { ClaimSchema, SupportSchema } from '../../../src/metadata/messages/claim_pb.js';
import { MetadataError } from '../../../src/metadata/metadataError.js';
import { decodePurchase } from '../../../src/metadata/purchase.js';
import { decodeSupport } from '../../../src/metadata/support.js';
import { equalBytes, toHex } from '../../../src/util/bytes.js';
import type { Random } from '../../differential/support.js';
import { law, type Target } from '../support/campaign.js';
import { mutateBytes, noise } from '../support/mutate.js';

/** The result of the run, or null if it throws the expected error. Other errors are rethrown. */
function attempt<Result>(run: () => Result): Result | null {
  try {
    return run();
  } catch (error) {
    if (error instanceof MetadataError) return null;
    throw error;
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

const lengthDelimited = (bytes: Buffer): Buffer => Buffer.concat([varint(bytes.length), bytes]);

function text(random: Random): Buffer {
  return Buffer.from(random.pick(['', 'a', '\ufeffbom', 'zażółć', '\u{1F389}', 'en', 'image/png', '\0']));
}

/** Protobuf fields with mostly ascending numbers. */
function fields(random: Random, depth: number): Buffer {
  const parts: Buffer[] = [];
  let number = 0;
  for (let i = random.below(6); i > 0; i--) {
    number = random.chance(6) ? 1 + random.below(16) : number + random.below(4);
    const wireType = random.pick([0, 0, 2, 2, 2, 2, 2, 5, 1, 3]);
    const tag = varint(Math.max(number, 1) * 8 + wireType);
    if (wireType === 0) parts.push(tag, varint(random.chance(2) ? random.below(300) : random.u32() * 512));
    else if (wireType === 1 || wireType === 5) parts.push(tag, random.bytes(wireType === 1 ? 8 : 4));
    else if (wireType === 3)
      parts.push(tag, depth > 0 ? fields(random, depth - 1) : Buffer.alloc(0), varint(tag[0]! + 1));
    else {
      const isMessage = depth > 0 && random.chance(2);
      const content = isMessage
        ? fields(random, depth - 1)
        : random.chance(3)
          ? random.bytes(33)
          : text(random);
      parts.push(tag, lengthDelimited(content));
    }
  }
  return Buffer.concat(parts);
}

function currentValue(random: Random): Buffer {
  const message = fields(random, 4);
  if (random.chance(2)) return Buffer.concat([Buffer.of(0), message]);
  return Buffer.concat([Buffer.of(1), random.bytes(84), message]);
}

/** A claim in the format of 2017 with all required fields and random values. */
function legacyValue(random: Random): Buffer {
  const bytes = (number: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.of(number * 8 + 2), lengthDelimited(content)]);
  const number = (field: number, value: number): Buffer =>
    Buffer.concat([Buffer.of(field * 8), varint(value)]);
  const amount = Buffer.alloc(4);
  amount.writeFloatLE(random.pick([0, 0.1, 5, 1e30, -1, NaN, Infinity, 1e-40]));
  const fee = [number(1, 1), number(2, random.below(5)), bytes(3, random.bytes(25)), Buffer.of(0x25), amount];
  const texts = [3, 4, 5, 6].map((field) => bytes(field, text(random)));
  const metadata = [number(1, 3), number(2, random.below(200)), ...texts, number(7, random.below(2))];
  if (random.chance(2)) metadata.push(bytes(8, Buffer.concat(fee)));
  const source = [number(1, 1), number(2, 1), bytes(3, random.bytes(48)), bytes(4, text(random))];
  const stream = [number(1, 1), bytes(2, Buffer.concat(metadata)), bytes(3, Buffer.concat(source))];
  const signature = [number(1, 1), number(2, 3), bytes(3, random.bytes(64)), bytes(4, random.bytes(20))];
  const claim = [number(1, 1), number(2, random.chance(5) ? 2 : 1), bytes(3, Buffer.concat(stream))];
  if (random.chance(2)) claim.push(bytes(5, Buffer.concat(signature)));
  return Buffer.concat(claim);
}

function legacyJson(random: Random): Buffer {
  const odd = (): unknown => random.pick([null, true, 0, 1.5, '', 'x', [], {}, ['a'], { a: 1 }, '__proto__']);
  const maybe = (value: unknown): unknown => (random.chance(8) ? odd() : value);
  const currency = random.pick(['LBC', 'USD', 'BTC', 'EUR', 'constructor', '__proto__']);
  const amount = random.pick([1, 0.1, '2.5', '1e5', '1e999999999', 'NaN', -3, 1e300]);
  const price = { amount: maybe(amount), address: maybe('bMjAr3sFLYiLXKobpvugQdKohP6ygz8uo6') };
  return Buffer.from(
    JSON.stringify({
      title: maybe('t'),
      sources: maybe({ lbry_sd_hash: maybe('00ff') }),
      language: maybe(random.pick(['en', 'English', 'pt-BR', 'klingon', 'zh-Hant-TW-x'])),
      nsfw: maybe(true),
      content_type: maybe('video/mp4'),
      thumbnail: maybe('https://example.com'),
      fee: maybe({ [currency]: maybe(price) }),
    }),
  );
}

function make(random: Random): Buffer {
  const maker = random.pick([currentValue, currentValue, currentValue, legacyValue, legacyJson]);
  if (random.chance(12)) return noise(random, 300);
  const value = maker(random);
  return random.chance(2) ? value : mutateBytes(random, value, maker(random));
}

/** Whether the message has only known fields, so that the result of the library's own parser cannot differ. */
function hasOnlyKnown(message: object): boolean {
  return Object.entries(message).every(([name, part]) => {
    if (name === '$unknown') return false;
    return (
      typeof part !== 'object' || part === null || ArrayBuffer.isView(part) || hasOnlyKnown(part as object)
    );
  });
}

function checkCurrent(decoded: DecodedClaim, encoded: Buffer): void {
  const envelope = decoded.channelId === null ? 1 : 1 + decoded.channelId.length + decoded.signature!.length;
  law(equalBytes(decoded.message, encoded.subarray(envelope)), 'the message is what encoding gives');
  // The library drops a byte order mark at the start of a text, so such values are not compared.
  const isPlain = hasOnlyKnown(decoded.claim) && !encoded.includes('\ufeff');
  const theirs = isPlain ? toBinary(ClaimSchema, fromBinary(ClaimSchema, decoded.message)) : decoded.message;
  law(equalBytes(decoded.message, theirs), 'the library reads the canonical message alike');
}

function checkDecoded(value: Buffer, decoded: DecodedClaim): string {
  const encoded = encodeClaim(decoded);
  if (decoded.version === 2) checkCurrent(decoded, encoded);
  const again = attempt(() => decodeClaim(encoded));
  law(again !== null, 'what is encoded decodes');
  law(again.kind === decoded.kind || decoded.version !== 2, 'its kind stays');
  law(equalBytes(encodeClaim(again), encoded), 'encoding is canonical');
  const json = attempt(() => claimToJson(decoded));
  law(json === null || JSON.stringify(json).startsWith('{'), 'JSON is an object');
  law(decoded.kind !== null || json === null, 'no kind, no JSON');
  const digest = claimSignatureDigest(value, Buffer.alloc(36), () => Buffer.alloc(25));
  const expected = decodedClaimDigest(decoded, Buffer.alloc(36), Buffer.alloc(25));
  law(toHex(digest ?? Buffer.alloc(0)) === toHex(expected ?? Buffer.alloc(0)), 'digests cover the message');
  return `version ${decoded.version}${decoded.channelId ? ' signed' : ''} ${json === null ? 'without' : 'with'} JSON`;
}

export function checkClaimValue(value: Buffer): string {
  attempt(() => decodePurchase(value));
  const support = attempt(() => decodeSupport(value));
  if (support !== null) {
    supportToJson(support.support);
    law(equalBytes(support.message, toBinary(SupportSchema, support.support)), 'supports are canonical');
    const digest = supportSignatureDigest(value, Buffer.alloc(36));
    const expected = decodedSupportDigest(support, Buffer.alloc(36));
    law(toHex(digest ?? Buffer.alloc(0)) === toHex(expected ?? Buffer.alloc(0)), 'digests cover the data');
  } else {
    law(supportSignatureDigest(value, Buffer.alloc(36)) === null, 'refused data has no digest');
  }
  const decoded = attempt(() => decodeClaim(value));
  if (decoded !== null) return checkDecoded(value, decoded);
  const digest = claimSignatureDigest(value, Buffer.alloc(36), () => Buffer.alloc(25));
  law(digest === null, 'a refused value has no digest');
  return 'refused';
}

export const claimValueTarget: Target<Buffer> = {
  name: 'claimValue',
  make,
  check: checkClaimValue,
  show: toHex,
};
