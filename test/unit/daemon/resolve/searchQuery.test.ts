import { describe, expect, it } from 'vitest';
import { searchQuery } from '../../../../src/daemon/resolve/searchQuery.js';
import type { JsonValue } from '../../../../src/util/json/json.js';
import { parseJson } from '../../../../src/util/json/jsonParse.js';

const PAGE = { offset: 20, limit: 10 };
const NO_OTHERS: ReadonlyMap<string, JsonValue> = new Map();
const ask = (args: Record<string, unknown>, others = NO_OTHERS): Record<string, unknown> => {
  const { offset, limit, ...query } = searchQuery(args, others, PAGE);
  expect([offset, limit]).toEqual([20, 10]);
  return query;
};

describe('parameters of claim_search', () => {
  it('are sent to the hub except for those of the daemon', () => {
    const constraints = {
      name: 'a',
      channel: '@c',
      any_tags: ['x'],
      all_locations: ['US'],
      claim_type: ['stream'],
    };
    const own = {
      page: 3,
      page_size: 10,
      wallet_id: 'w',
      no_totals: true,
      include_purchase_receipt: true,
      include_is_my_output: true,
      new_sdk_server: 'http://x',
      remove_duplicates: false,
      text: undefined,
    };
    expect(ask({ ...constraints, ...own })).toEqual({ ...constraints, claim_type: 'stream' });
  });

  it('are numbers, bounds as strings, and several values as lists', () => {
    expect(
      ask({
        height: ['5'],
        amount: ['>=1'],
        fee_amount: ['0.5', '1'],
        release_time: ['1500000000'],
        duration: ['>1', '<9'],
        effective_amount: ['99999999999999999'],
        support_amount: ['NaN'],
        fee_currency: ['-1'],
        claim_type: ['7', 'stream'],
      }),
    ).toEqual({
      height: 5,
      amount: '>=1',
      fee_amount: [0.5, 1],
      release_time: '1500000000',
      duration: ['>1', '<9'],
      effective_amount: '99999999999999999',
      support_amount: 'NaN',
      fee_currency: '-1',
      claim_type: ['7', 'stream'],
    });
  });

  it('about signatures and sources are converted for hubs', () => {
    expect(ask({ valid_channel_signature: true })).toEqual({ signature_valid: 1 });
    expect(ask({ invalid_channel_signature: true, has_channel_signature: true })).toEqual({
      has_channel_signature: true,
      signature_valid: 0,
    });
    expect(ask({ valid_channel_signature: false })).toEqual({});
    expect(ask({ has_source: true })).toEqual({ has_source: true });
    expect(ask({ has_no_source: true, has_source: false })).toEqual({ has_source: false });
    expect(ask({ has_no_source: false })).toEqual({ has_source: true });
    expect(ask({ has_no_source: false, has_source: false })).toEqual({});
    expect(ask({ remove_duplicates: true })).toEqual({ remove_duplicates: true });
    for (const is_reposted_claim_gone of [true, false])
      expect(ask({ is_reposted_claim_gone })).toEqual({ is_reposted_claim_gone });
  });

  it('sort by one trending score', () => {
    const order_by = ['trending_mixed', 'name', 'trending_group', '^height', 'trending_score'];
    expect(ask({ order_by })).toEqual({ order_by: ['trending_score', 'name', '^height'] });
  });

  it('with unknown names are passed on unchanged, without a page', () => {
    const others = new Map<string, JsonValue>([
      ['not_claim_id', ['ab']],
      ['tx_num', parseJson('{"a":[1.50,null]}')],
      ['limit', 1000],
      ['offset', -1],
      ['empty', null],
    ]);
    expect(ask({}, others)).toEqual({ not_claim_id: ['ab'], tx_num: { a: [1.5, null] } });
  });

  it('are refused if impossible', () => {
    expect(() => ask({ claim_id: 'ab', claim_ids: ['ab'] })).toThrow(
      expect.objectContaining({
        name: 'ConflictingInputValueError',
        message: "Only 'claim_id' or 'claim_ids' is allowed, not both.",
      }) as Error,
    );
    expect(ask({ any_tags: Array<string>(2048).fill('a') })['any_tags']).toHaveLength(2048);
    expect(() => ask({ any_tags: Array<string>(2049).fill('a') })).toThrow(
      expect.objectContaining({
        name: 'RPCError',
        message: 'any_tags cant have more than 2048 items.',
      }) as Error,
    );
  });
});
