import { describe, expect, it } from 'vitest';
import {
  supportChoice,
  txoFilterOf,
  txoOrderOf,
  unspentByDefault,
} from '../../../../src/daemon/lists/txoFilters.js';
import { dayOf, dayText, plotRangeOf } from '../../../../src/daemon/lists/plotDays.js';

const TXID = `ab${'00'.repeat(31)}`;
const filter = (given: Parameters<typeof txoFilterOf>[1]) => {
  const { accountIds, excludeInternalTransfers, ...rest } = txoFilterOf(['a'], given);
  expect(accountIds).toEqual(['a']);
  expect(excludeInternalTransfers).toBe(given.exclude_internal_transfers === true);
  return rest;
};

describe('a filter of outputs', () => {
  it.each([
    [{}, {}],
    [{ type: ['stream', 'other'] }, { types: [1, 0] }],
    [{ txid: [TXID] }, { txids: [Buffer.from(`${'00'.repeat(31)}ab`, 'hex')] }],
    [
      { claim_id: ['c'], name: ['n'], channel_id: ['h'], not_channel_id: ['g'], reposted_claim_id: ['r'] },
      { claimIds: ['c'], names: ['n'], channelIds: ['h'], notChannelIds: ['g'], repostedClaimIds: ['r'] },
    ],
    [{ is_spent: true, is_not_spent: true }, { isSpent: true }],
    [{ is_spent: false, is_not_spent: true }, { isSpent: false }],
    [{ is_spent: false }, {}],
    [{ has_source: true }, { hasSource: true }],
    [{ has_no_source: true }, { hasSource: false }],
    [{ is_my_input_or_output: true, is_my_input: true, is_not_my_output: true }, { isMyInputOrOutput: true }],
    [
      { is_my_input: true, is_not_my_output: true },
      { isMyInput: true, isMyOutput: false },
    ],
    [
      { is_not_my_input: true, is_my_output: true },
      { isMyInput: false, isMyOutput: true },
    ],
    [{ exclude_internal_transfers: true }, {}],
  ])('%j', (given, expected) => expect(filter(given)).toEqual(expected));

  it('names invalid types, transactions and orders', () => {
    expect(() => filter({ type: ['toString'] })).toThrow(
      /^'toString' is not a valid output type: other, stream/,
    );
    expect(() => filter({ txid: ['zz'] })).toThrow(/^'zz' is not a transaction id/);
    expect(() => txoOrderOf('size')).toThrow("'size' is not a valid --order_by value.");
    expect(() => txoOrderOf('')).toThrow("'' is not a valid --order_by value.");
    expect([undefined, 'none', 'name'].map(txoOrderOf)).toEqual(['height', 'none', 'name']);
  });

  it('excludes spent claims by default', () => {
    expect(filter(unspentByDefault({}))).toEqual({ isSpent: false });
    expect(filter(unspentByDefault({ is_spent: false }))).toEqual({ isSpent: false });
    expect(filter(unspentByDefault({ is_spent: true }))).toEqual({ isSpent: true });
  });

  it.each([
    [{}, { isSpent: false }],
    [{ received: true }, { isSpent: false, isMyInput: false, isMyOutput: true }],
    [{ sent: true }, { isMyInput: true, isMyOutput: false }],
    [{ staked: true }, { isSpent: false, isMyInput: true, isMyOutput: true }],
  ])('of supports: %j', (which, expected) => {
    const all = { received: undefined, sent: undefined, staked: undefined };
    expect(filter(supportChoice({}, { ...all, ...which }))).toEqual({ types: [3], ...expected });
  });
});

describe('the days of a plot', () => {
  const none = { daysBack: 0, startDay: undefined, daysAfter: undefined, endDay: undefined };
  const day = (text: string) => Date.parse(text) / 86_400_000;

  it('begin with the first block and follow its successors', () => {
    expect(dayText(dayOf(0))).toBe('2016-06-23');
    expect(dayText(dayOf(1_000_000))).toBe('2021-07-26');
  });

  it.each([
    [{ daysBack: 7 }, { fromDay: 93 }],
    [{ startDay: '2016-06-20' }, { fromDay: day('2016-06-20') }],
    [
      { startDay: '2016-06-20', daysAfter: 3 },
      { fromDay: day('2016-06-20'), toDay: day('2016-06-23') },
    ],
    [
      { startDay: '2016-06-20', endDay: '2016-06-30' },
      { fromDay: day('2016-06-20'), toDay: day('2016-06-30') },
    ],
    [{ daysBack: 2, endDay: '2016-06-30' }, { fromDay: 98 }],
  ])('%j', (given, range) => expect(plotRangeOf({ ...none, ...given }, 100)).toEqual(range));

  it.each(['2016-02-30', '20160220', 'today', '2016-2-3', ''])(
    'do not exist if the text is %s',
    (startDay) => {
      expect(() => plotRangeOf({ ...none, startDay }, 0)).toThrow(
        `'${startDay}' is not a valid day: YYYY-MM-DD.`,
      );
    },
  );
});
