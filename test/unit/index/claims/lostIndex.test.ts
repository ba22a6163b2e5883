/** The claim index when it cannot disconnect more blocks, and while it is behind; and the answers of methods meanwhile. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { getClaim } from '../../../../src/rpc/methods/claimindex/getClaim.js';
import { getClaimIndexInfo } from '../../../../src/rpc/methods/claimindex/getClaimIndexInfo.js';
import { resolve } from '../../../../src/rpc/methods/claimindex/resolve.js';
import { ClaimChangesGoneError } from '../../../../src/index/claims/claimIndexQueries.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { ClaimIndexRun, indexRows, WITH_INDEX } from '../../../support/claimIndexRun.js';
import type { NaiveClaim } from '../../../support/claimIndexModel.js';
import { TestChain } from '../../../support/testChain.js';

const WINDOW = 10;

describe('a claim index with little undo data', () => {
  let run: ClaimIndexRun;
  beforeAll(async () => {
    run = new ClaimIndexRun(7, { proofWindow: WINDOW });
    await run.open();
    while (run.height < 130) await run.mine(4);
  });
  afterAll(() => run.close());

  it('keeps undo data and changes of as many blocks as proofs', async () => {
    const index = run.chain.services.claimIndex!;
    await expect(index.changes(run.height - WINDOW)).rejects.toThrow(ClaimChangesGoneError);
    expect((await index.changes(run.height - WINDOW + 1)).touched).toBeDefined();
    await expect(index.changes(run.height + 1)).rejects.toThrow(ClaimChangesGoneError);
    const amounts = await index.trending(0, run.height);
    expect([...amounts.values()].flat().length).toBeGreaterThan(20);
    expect([...amounts.keys()]).toEqual([...amounts.keys()].sort((a, b) => a - b));
    // Each part of the blocks gives the same changes.
    const parts = await Promise.all([index.trending(0, 40), index.trending(41, run.height)]);
    expect(new Map(parts.flatMap((part) => [...part]))).toEqual(amounts);
    await run.reorganise(WINDOW - 1, 3);
    await run.check(30);
  });

  it('is rebuilt automatically after a deeper reorganisation, and reports that meanwhile', async () => {
    run.chain.fill.start((error) => expect.unreachable(String(error)));
    await run.reorganise(WINDOW + 5, 3, false);
    await vi.waitFor(() => expect(run.chain.services.claimIndex!.isSynced).toBe(true), {
      timeout: 60_000,
    });
    await run.check(50);
    await run.chain.fill.stop();
    await run.compareWithFreshBuild();
  });

  it('returns no wrong answer while it is incomplete, and the next start rebuilds it', async () => {
    await run.reorganise(WINDOW + 5, 3, false);
    const { chain } = run;
    expect(chain.services.claimIndex!.isSynced).toBe(false);
    const { height } = chain.opened.chain;
    expect(await chain.call(resolve, ['a'])).toEqual({
      error: {
        code: -1,
        message: `The claim index is not complete: block 0 of ${height}. Retry later; getclaimindexinfo shows the progress`,
      },
    });
    expect(await chain.call(getClaimIndexInfo)).toMatchObject({ result: { synced: false, height: 0 } });
    run.chain = await chain.reopen({ ...WITH_INDEX, proofWindow: WINDOW });
    while (await run.chain.fill.round());
    await run.check(50);
    await run.compareWithFreshBuild();
  });

  it('keeps no more blocks than configured after a rebuild at a lower height', async () => {
    const fillAll = async () => {
      while (await run.chain.fill.round());
    };
    await run.reorganise(WINDOW + 5, 3, false, fillAll);
    await fillAll();
    await run.check(50);
    await run.compareWithFreshBuild();
  });

  it('returns claims with their channels and reposts, and refuses invalid URLs and ids', async () => {
    const { model } = run;
    const find = (): (NaiveClaim | undefined)[] => [
      model.claims.find(({ isValid }) => isValid),
      model.claims.find(({ repostedId }) => model.claims.some(({ id }) => id === repostedId)),
    ];
    while (find().includes(undefined)) await run.mine(4);
    const [signed, repost] = find() as [NaiveClaim, NaiveClaim];
    const { chain } = run;
    for (const { id, channelId, isValid, repostedId, kind } of [signed, repost]) {
      const printed = hashToHex(Buffer.from(id, 'hex'));
      const { result } = await chain.call(getClaim, [printed]);
      const record = model.record(id)!;
      expect(result).toMatchObject({
        claim_id: printed,
        canonical_url: `lbry://${String(record.canonicalUrl)}`,
        height: record.height,
        ...(kind === null ? {} : { value_type: kind }),
        ...(isValid ? { signing_channel: { claim_id: hashToHex(Buffer.from(channelId!, 'hex')) } } : {}),
        ...(id === repost.id
          ? { reposted_claim: { claim_id: hashToHex(Buffer.from(repostedId!, 'hex')) } }
          : {}),
      });
      const url = `x#${printed}`;
      expect(await chain.call(resolve, [[url, url, 'unknown']])).toEqual({
        result: {
          [url]: result,
          unknown: { error: { name: 'NOT_FOUND', text: 'Could not find claim at "unknown".' } },
        },
      });
    }
    const invalid = { error: { name: 'INVALID', text: 'Invalid LBRY URL' } };
    expect(await chain.call(resolve, [''])).toEqual({ result: { '': invalid } });
    expect(await chain.call(resolve, [[1]])).toHaveProperty('error.code', -3);
    expect(await chain.call(resolve, [Array.from({ length: 1001 }, () => 'a')])).toHaveProperty(
      'error.code',
      -8,
    );
    expect(await chain.call(getClaim, ['00'])).toHaveProperty('error.code', -8);
    expect(await chain.call(getClaim, ['00'.repeat(20)])).toHaveProperty('error.code', -5);
    const info = await chain.call(getClaimIndexInfo);
    expect(info).toMatchObject({
      result: { synced: true, progress: 1, claims: { total: model.claims.length } },
    });
    expect(await indexRows(chain)).not.toEqual([]);
  });
});

describe('methods without the index', () => {
  it('give advice', async () => {
    const chain = await TestChain.open();
    const expected = {
      error: { code: -1, message: 'The claim index is not enabled. Start with -claimindex to use it' },
    };
    expect(await chain.call(resolve, ['a'])).toEqual(expected);
    expect(await chain.call(getClaim, ['00'.repeat(20)])).toEqual(expected);
    expect(await chain.call(getClaimIndexInfo)).toEqual(expected);
    await chain.close();
  });
});
