/** Field numbers of the messages between hubs and their clients. */
import { create, toBinary } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { Error_Code, OutputsSchema } from '../../../src/metadata/messages/result_pb.js';

it('writes answers of a hub like the reference', () => {
  const outputs = create(OutputsSchema, {
    txos: [
      {
        txHash: Buffer.of(0xaa),
        nout: 1,
        height: 2,
        meta: {
          case: 'claim',
          value: {
            channel: { txHash: Buffer.of(0xbb) },
            repost: { nout: 3 },
            shortUrl: 'a',
            canonicalUrl: 'b',
            isControlling: true,
            takeOverHeight: 4,
            creationHeight: 5,
            activationHeight: 6,
            expirationHeight: 7,
            claimsInChannel: 8,
            reposted: 9,
            effectiveAmount: 1n << 63n,
            supportAmount: 10n,
            trendingScore: 1,
          },
        },
      },
    ],
    extraTxos: [
      {
        meta: {
          case: 'error',
          value: { code: Error_Code.BLOCKED, text: 'c', blocked: { count: 1, channel: {} } },
        },
      },
    ],
    total: 11,
    offset: 12,
    blocked: [{ count: 2 }],
    blockedTotal: 13,
  });
  const claim =
    '0a030a01bb' +
    '12021003' +
    '1a0161' +
    '220162' +
    '2801' +
    '3004' +
    '3805' +
    '4006' +
    '4807' +
    '5008' +
    '5809' +
    'a00180808080808080808001' +
    'a8010a' +
    'b101000000000000f03f';
  const txo = `0a01aa10011802 3a${(claim.length / 2).toString(16)}${claim}`;
  const error = '7a0b' + '0803' + '120163' + '1a0408011200';
  const hex = (text: string): string => text.replaceAll(' ', '');
  const within = (tag: string, text: string): string =>
    tag + (hex(text).length / 2).toString(16).padStart(2, '0') + hex(text);
  expect(Buffer.from(toBinary(OutputsSchema, outputs)).toString('hex')).toBe(
    `${within('0a', txo)}${within('12', error)}180b200c${within('2a', '0802')}300d`,
  );
  expect(Error_Code).toMatchObject({ UNKNOWN_CODE: 0, NOT_FOUND: 1, INVALID: 2, BLOCKED: 3 });
});
