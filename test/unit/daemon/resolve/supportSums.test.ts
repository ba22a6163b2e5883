import { describe, expect, it } from 'vitest';
import { DaemonError } from '../../../../src/daemon/base/daemonError.js';
import { supportSums } from '../../../../src/daemon/resolve/supportSums.js';

const QUERY = { claimId: 'ab'.repeat(20), includesChannelContent: true, offset: 20, limit: 10 };
const ROW = { channel_id: 'cd'.repeat(20), name: '@a', short_url: '@a#c', amount: '150000000', supports: 2 };
const SUM = { channelId: ROW.channel_id, channelName: '@a', shortUrl: '@a#c', amount: '1.5', count: 2 };

describe('sums of supports', () => {
  it('are those of the hub', async () => {
    const asked: unknown[] = [];
    const call = (method: string, params: unknown): Promise<unknown> => {
      asked.push([method, params]);
      return Promise.resolve([ROW]);
    };
    expect(await supportSums({ call }, QUERY)).toEqual([SUM]);
    expect(asked).toEqual([['lbcnode.claimtrie.support_sum', [QUERY.claimId, true, 20, 10]]]);
  });

  it('are an error for a hub without that method', async () => {
    const refusal = new DaemonError('RPCError', 'unknown method "lbcnode.claimtrie.support_sum"');
    await expect(supportSums({ call: () => Promise.reject(refusal) }, QUERY)).rejects.toMatchObject({
      name: 'RPCError',
      message: expect.stringContaining('The hub does not support sums of supports') as string,
    });
    const other = new DaemonError('RPCError', 'Could not find claim');
    await expect(supportSums({ call: () => Promise.reject(other) }, QUERY)).rejects.toBe(other);
  });

  it.each([
    [null],
    [{}],
    [[null]],
    [[{ ...ROW, amount: '-1' }]],
    [[{ ...ROW, amount: 1 }]],
    [[{ ...ROW, short_url: undefined }]],
  ])('are refused if they cannot be read: %j', async (answer) => {
    await expect(supportSums({ call: () => Promise.resolve(answer) }, QUERY)).rejects.toThrow(
      'The hub returned invalid sums',
    );
  });
});
