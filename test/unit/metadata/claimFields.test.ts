import { describe, expect, it } from 'vitest';
import { decodeClaim, encodeClaim, type DecodedKind } from '../../../src/metadata/claim.js';
import { newClaim, setClaimFields } from '../../../src/metadata/claimFields.js';
import { claimToJson } from '../../../src/metadata/claimJson.js';
import type { Claim } from '../../../src/metadata/messages/claim_pb.js';
import { MetadataError } from '../../../src/metadata/metadataError.js';
import { JsonObject } from '../../../src/util/json/json.js';
import { parseJson } from '../../../src/util/json/jsonParse.js';

const argumentsOf = (values: object): JsonObject => parseJson(JSON.stringify(values)) as JsonObject;
const set = (claim: Claim, values: object): Claim => setClaimFields(claim, argumentsOf(values));
const make = (kind: DecodedKind, values: object): Claim => set(newClaim(kind), values);
const show = (claim: Claim) => claimToJson({ claim });

describe('setting fields', () => {
  it('creates a stream', () => {
    const claim = make('stream', {
      title: 't',
      tags: ['A', 'a', "b's"],
      languages: 'en',
      locations: ['US', { city: 'x' }],
      thumbnail_url: 'u',
      file_name: 'a.mp4',
      file_size: 5,
      sd_hash: 'ff',
      width: 2,
      duration: 0,
      license_url: 'l',
      release_time: -1,
      fee_currency: 'usd',
      fee_amount: '1.001',
      fee_address: '2',
    });
    expect(show(claim)).toEqual({
      title: 't',
      tags: ['a', 'bs'],
      languages: ['en'],
      locations: [{ country: 'US' }, { city: 'x' }],
      thumbnail: { url: 'u' },
      source: { name: 'a.mp4', size: '5', media_type: 'video/mp4', sd_hash: 'ff' },
      video: { width: 2 },
      license_url: 'l',
      release_time: '-1',
      fee: { currency: 'USD', address: '2', amount: '1.01' },
      stream_type: 'video',
    });
  });

  it('keeps omitted and unknown fields', () => {
    const { claim } = decodeClaim(Buffer.from('000a00420161f80701', 'hex'));
    const changed = set(claim, { description: 'd' });
    expect(encodeClaim({ channelId: null, signature: null, claim: changed }).toString('hex')).toBe(
      '000a004201614a0164f80701',
    );
    expect(claim.description).toBe('');
  });

  it('adds to lists, and clears them first on request', () => {
    const before = make('collection', { tags: ['a'], claims: ['0102'] });
    const more = { tags: 'b', claims: ['0304'] };
    expect(show(set(before, more))).toEqual({ tags: ['a', 'b'], claims: ['0102', '0304'] });
    expect(show(set(before, { ...more, clear_tags: true, clear_claims: true }))).toEqual({
      tags: ['b'],
      claims: ['0304'],
    });
    expect(show(set(before, { clear_tags: false }))).toMatchObject({ tags: ['a'] });
  });

  it('changes the media type with the name', () => {
    const video = make('stream', { file_name: 'a.mp4', width: 1, height: 2, duration: 3 });
    expect(show(set(video, { height: 5 }))).toMatchObject({ video: { width: 1, height: 5, duration: 3 } });
    const audio = set(video, { file_name: 'a.mp3', width: 7, duration: 4 });
    expect(show(audio)).toMatchObject({ audio: { duration: 4 }, stream_type: 'audio' });
    expect(show(audio)).not.toHaveProperty('video');
    expect(show(set(audio, { file_name: 'a.txt' }))).not.toHaveProperty('audio');
    expect(show(set(video, { file_name: 'a.png', width: 7, duration: 4 }))).toMatchObject({
      image: { width: 7 },
    });
  });

  it('uses the detected type of the content if there is one', () => {
    const claim = setClaimFields(newClaim('stream'), argumentsOf({ file_name: 'a.txt', width: 1 }), {
      contentExtension: 'png',
    });
    expect(show(claim)).toMatchObject({ image: { width: 1 }, stream_type: 'image' });
  });

  it('creates a channel and a repost', () => {
    const key = `02${'11'.repeat(32)}`;
    expect(
      show(
        make('channel', {
          public_key: key,
          email: 'e',
          website_url: 'w',
          cover_url: 'c',
          featured: ['0102'],
        }),
      ),
    ).toEqual({ public_key: key, email: 'e', website_url: 'w', cover: { url: 'c' }, featured: ['0102'] });
    expect(show(make('repost', { reposted_claim_id: '0102', title: 't' }))).toEqual({
      title: 't',
      claim_id: '0102',
    });
  });

  it('keeps the fee, changes only its amount, and clears it', () => {
    const before = make('stream', { fee_currency: 'LBC', fee_amount: 0.29 });
    expect(show(before)).toEqual({ fee: { currency: 'LBC', amount: '0.28999999' } });
    expect(show(set(before, { title: 't' }))).toMatchObject({
      fee: { currency: 'LBC', amount: '0.28999999' },
    });
    expect(show(set(before, { fee_amount: '2' }))).toEqual({ fee: { currency: 'LBC', amount: '2' } });
    expect(show(set(before, { fee_address: '3' }))).toMatchObject({ fee: { address: '3' } });
    expect(show(set(before, { clear_fee: true }))).toEqual({});
  });

  it('accepts whole numbers of 64 bits exactly', () => {
    const values = parseJson('{"file_size": 18446744073709551615}') as JsonObject;
    expect(show(setClaimFields(newClaim('stream'), values))).toEqual({
      source: { size: '18446744073709551615' },
    });
  });

  it('refuses a string with half a surrogate pair', () => {
    const values = new JsonObject([['title', '\ud800']]);
    expect(() => setClaimFields(newClaim('stream'), values)).toThrow(
      new MetadataError('title contains an unpaired surrogate character'),
    );
  });

  it.each<[DecodedKind, object, string]>([
    ['stream', { fee_amount: '1' }, 'In order to set a fee amount, please specify a fee currency.'],
    ['stream', { fee_amount: '1', fee_currency: 'EUR' }, 'Missing or unknown currency provided: eur'],
    ['stream', { fee_currency: 'lbc' }, 'In order to set a fee currency, please specify a fee amount.'],
    [
      'stream',
      { fee_address: '2' },
      'In order to set a fee address, please specify a fee amount and currency.',
    ],
    ['stream', { fee_currency: 'lbc', fee_amount: '-1' }, 'Value out of range: -100000000'],
    ['stream', { fee_currency: 'lbc', fee_amount: 'x' }, 'fee_amount must be a number'],
    ['stream', { fee_currency: 'lbc', fee_amount: '1', fee_address: '0' }, "'0' is not a valid address"],
    [
      'stream',
      { clear_fee: true, fee_amount: '1' },
      'clear_fee removes the price, so a price cannot be given with it.',
    ],
    ['stream', { title: null }, "None or null is not valid value for argument 'title'."],
    ['stream', { title: 5 }, 'title must be a string'],
    ['stream', { width: -1 }, 'Value out of range: -1'],
    ['stream', { width: 4294967296 }, 'Value out of range: 4294967296'],
    ['stream', { file_size: 1.5 }, 'file_size must be an integer'],
    ['stream', { sd_hash: 'x' }, 'sd_hash must be an even number of hex digits'],
    ['stream', { sd_hash: 'ff', bt_infohash: 'ff' }, "A stream has no argument 'bt_infohash'"],
    ['stream', { email: 'e' }, "A stream has no argument 'email'"],
    ['stream', { thumbnail_color: 'e' }, "Unknown argument 'thumbnail_color'"],
    ['channel', { claims: [] }, "A channel has no argument 'claims'"],
    ['collection', { claims: ['xyz'] }, 'claims must be an even number of hex digits'],
    ['collection', { claims: { a: 1 } }, 'claims must be a string or a list'],
    ['repost', { tags: [5] }, 'tag must be a string'],
    ['repost', { languages: ['xx'] }, "Enum Language has no value defined for name 'xx'"],
  ])('refuses for a %s %j', (kind, values, message) => {
    expect(() => make(kind, values)).toThrow(new MetadataError(message));
  });
});
