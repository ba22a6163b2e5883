import { describe, expect, it } from 'vitest';
import { supportSums, type SupportSumsDeps } from '../../../src/hub/supportSums.js';
import { Turns } from '../../../src/hub/turns.js';
import type { ClaimRecord } from '../../../src/index/claims/claimReader.js';
import type { Txo } from '../../../src/daemon/txo/txo.js';
import type { NameInfo, OutputInfo } from '../../../src/store/claims/claimQueries.js';
import { hashToHex, toLatin1, type Bytes } from '../../../src/util/bytes.js';
import {
  channel,
  forged,
  otherChannel,
  plainSupport,
  repost,
  signedSupport,
  stream,
  transactions,
} from '../daemon/resolve/claimWorld.js';

const recordOf = (txo: Txo): ClaimRecord =>
  ({
    claimId: txo.claimId!,
    name: Buffer.from(txo.claimName!),
    normalizedName: Buffer.from(txo.normalizedName!),
    shortUrl: `${txo.claimName}#1`,
  }) as unknown as ClaimRecord;

const keyOf = ({ claimId }: Txo): string => toLatin1(claimId!);

function infoOf(support: Txo, amount: bigint): OutputInfo {
  return {
    claimId: support.claimId!,
    txid: support.txid,
    n: support.nout,
    amount,
    height: support.height,
    txOffset: 0,
    validAtHeight: 10,
    active: true,
    name: Buffer.from(support.claimName!),
  };
}

/** A chain of these claims with supports. */
function depsOf(claims: readonly Txo[], supports: readonly (readonly [Txo, bigint])[]) {
  const byId = new Map(claims.map((txo) => [keyOf(txo), txo]));
  const find = (id: Bytes): ClaimRecord | null => {
    const txo = byId.get(toLatin1(id));
    return txo ? recordOf(txo) : null;
  };
  const active = { height: 20, disconnects: 0, at: () => 1 };
  const deps: SupportSumsDeps = {
    claims: {
      nameAt: ({ name }) =>
        ({
          claims: claims
            .filter(({ claimName }) => claimName === Buffer.from(name).toString())
            .map((txo) => ({
              claimId: txo.claimId!,
              supports: supports.filter(([one]) => keyOf(one) === keyOf(txo)).map((pair) => infoOf(...pair)),
            })),
        }) as unknown as NameInfo,
    },
    index: {
      claim: (id) => Promise.resolve(find(id)),
      claims: (ids) => Promise.resolve(ids.map(find)),
      value: (id) => Promise.resolve(byId.get(toLatin1(id))?.read?.values['claim'] ?? null),
      signedBy: () => Promise.resolve([stream, repost].map(({ claimId }) => claimId!)),
    },
    chain: {
      chain: { index: { active } },
      hasData: () => true,
      readTransaction: (_block, { txid }) => {
        const { tx } = transactions.get(hashToHex(txid))!;
        return { tx } as unknown as ReturnType<SupportSumsDeps['chain']['readTransaction']>;
      },
    },
  };
  return { deps, active };
}

const CLAIMS = [channel, otherChannel, stream, repost];
const turn = () => new Turns().enter({});
const shown = async (deps: SupportSumsDeps, id: Bytes, withContent = false): Promise<unknown[]> =>
  (await supportSums(deps, id, withContent, await turn())).map((sum) => [
    Buffer.from(sum.channel.name).toString(),
    sum.amountSat,
    sum.count,
  ]);

describe('sums of supports by channel', () => {
  const supports = [
    [signedSupport(stream, channel), 5n],
    [signedSupport(stream, otherChannel), 9n],
    [signedSupport(stream, channel), 7n],
    [plainSupport(stream), 100n],
    [signedSupport(repost, channel), 1000n],
    // Signed with a key that is not the channel's.
    [signedSupport(stream, otherChannel, Buffer.alloc(32, 9)), 100n],
  ] as const;

  it('count what a channel signed, largest first', async () => {
    const { deps } = depsOf(CLAIMS, supports);
    expect(await shown(deps, stream.claimId!)).toEqual([
      ['@lab', 12n, 2],
      ['@other', 9n, 1],
    ]);
    expect(await shown(deps, channel.claimId!)).toEqual([]);
  });

  it('of a channel count those of its claims where they are wanted', async () => {
    const { deps } = depsOf(CLAIMS, supports);
    expect(await shown(deps, channel.claimId!, true)).toEqual([
      ['@lab', 1012n, 3],
      ['@other', 9n, 1],
    ]);
  });

  it('leave out channels that are gone', async () => {
    const { deps } = depsOf([channel, stream], supports);
    expect(await shown(deps, stream.claimId!)).toEqual([['@lab', 12n, 2]]);
  });

  it('are begun anew where a block went meanwhile', async () => {
    const { deps, active } = depsOf(CLAIMS, supports);
    let reads = 0;
    const chain: SupportSumsDeps['chain'] = {
      ...deps.chain,
      readTransaction: (...args) => {
        if (reads++ > 0) return deps.chain.readTransaction(...args);
        active.disconnects++;
        throw new Error('another block');
      },
    };
    expect(await shown({ ...deps, chain }, stream.claimId!)).toHaveLength(2);
    const broken = { ...deps.chain, readTransaction: () => Promise.reject(new Error('damaged')) };
    await expect(shown({ ...deps, chain: broken }, stream.claimId!)).rejects.toThrow('damaged');
  });

  it('say where there is no such claim', async () => {
    const { deps } = depsOf(CLAIMS, supports);
    await expect(shown(deps, forged.claimId!)).rejects.toThrow(
      `Could not find claim at ${hashToHex(forged.claimId!)}`,
    );
  });
});
