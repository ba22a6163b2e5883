import { describe, expect, it } from 'vitest';
import { decodeClaim } from '../../../src/metadata/claim.js';
import { MetadataError } from '../../../src/metadata/metadataError.js';

const CHANNEL_ID = Buffer.alloc(20, 0xaa);
const SIGNATURE = Buffer.alloc(64, 0xbb);
/** A repost of a claim, with a title. */
const MESSAGE = Buffer.from(`22160a14${'11'.repeat(20)}42026869`, 'hex');

describe('decodeClaim', () => {
  it('reads an unsigned value', () => {
    const { kind, channelId, signature, claim, message } = decodeClaim(Buffer.from([0, ...MESSAGE]));
    expect([kind, channelId, signature]).toEqual(['repost', null, null]);
    expect(claim.title).toBe('hi');
    expect(claim.type.value).toMatchObject({ claimHash: Buffer.alloc(20, 0x11) });
    expect(message).toEqual(MESSAGE);
  });

  it('reads a signed value', () => {
    const decoded = decodeClaim(Buffer.concat([Buffer.of(1), CHANNEL_ID, SIGNATURE, MESSAGE]));
    expect(decoded).toMatchObject({
      kind: 'repost',
      channelId: CHANNEL_ID,
      signature: SIGNATURE,
      message: MESSAGE,
    });
  });

  it('says no kind where there is none', () => {
    expect(decodeClaim(Buffer.of(0)).kind).toBeNull();
    expect(decodeClaim(Buffer.of(1, 2)).kind).toBeNull();
    expect(decodeClaim(Buffer.from('00420568656c6c6f', 'hex'))).toMatchObject({
      kind: null,
      claim: { title: 'hello' },
    });
  });

  it.each(['', '02', 'ff', '000a', '000a05', '004201ff'])('refuses %j', (hex) => {
    expect(() => decodeClaim(Buffer.from(hex, 'hex'))).toThrow(MetadataError);
  });
});
