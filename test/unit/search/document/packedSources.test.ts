import { expect, it } from 'vitest';
import type { DocumentSource } from '../../../../src/search/document/documentSource.js';
import { packArguments, unpackArguments } from '../../../../src/search/document/packedSources.js';
import { hashToHex, toHex } from '../../../../src/util/bytes.js';
import { FakeClaimIndex } from '../../../support/fakeClaimIndex.js';

const plain = (source: DocumentSource): unknown =>
  JSON.parse(
    JSON.stringify(source, (_key, value: unknown) => {
      if (typeof value === 'bigint') return `${value}n`;
      const isBuffer = typeof value === 'object' && value !== null && 'type' in value && 'data' in value;
      if (isBuffer) return toHex(Buffer.from(value.data as number[]));
      return value instanceof Uint8Array ? toHex(value) : value;
    }),
  );

it('transfers the claims unchanged to the other thread', async () => {
  const index = new FakeClaimIndex(21);
  for (let n = 0; n < 40; n++) index.mine(20);
  const claims = await index.claimsWithValues(index.records.map(({ claimId }) => claimId));
  const places = { txNum: 2 ** 40, creationTxNum: 7, timeSec: 1, creationTimeSec: 4e9 };
  const sources = claims.map((found): DocumentSource => {
    const { claim, value, repostedValue } = found!;
    const {
      shortUrl: _short,
      canonicalUrl: _canonical,
      ...record
    } = claim as unknown as Record<string, unknown>;
    return {
      claimId: hashToHex(claim.claimId),
      claim: record as unknown as DocumentSource['claim'],
      places,
      value: value!,
      repostedValue,
    };
  });
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.some(({ repostedValue }) => repostedValue !== null)).toBe(true);
  const { args, transfer } = packArguments([['a step'], { sources, gone: ['gone'] }, null]);
  const crossed = structuredClone(args, { transfer });
  const [steps, read, nothing] = unpackArguments(crossed) as [unknown, { sources: DocumentSource[] }, null];
  expect([steps, nothing]).toEqual([['a step'], null]);
  expect(read.sources.map(plain)).toEqual(sources.map(plain));
  expect(read).toMatchObject({ gone: ['gone'] });
});

it('transfers an empty list', () => {
  const { args, transfer } = packArguments([{ sources: [], gone: [] }]);
  expect(unpackArguments(structuredClone(args, { transfer }))).toEqual([{ sources: [], gone: [] }]);
});
