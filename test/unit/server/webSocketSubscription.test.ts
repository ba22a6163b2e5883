import { describe, expect, it } from 'vitest';
import { regtestParams } from '../../../src/params/regtest.js';
import { addressPrefixesOf, encodeDestination } from '../../../src/script/address.js';
import { scriptForDestination } from '../../../src/script/standard.js';
import type { ClaimNotice } from '../../../src/server/notifications/claimNotice.js';
import type { TransactionNotice } from '../../../src/server/notifications/transactionNotice.js';
import {
  parseSubscription,
  sizeOf,
  wantsClaim,
  wantsTransaction,
  type Subscription,
} from '../../../src/server/webSocketSubscription.js';
import { hashFromHex, toHex, toLatin1 } from '../../../src/util/bytes.js';
import type { JsonObject } from '../../../src/util/json/json.js';
import { parseJson } from '../../../src/util/json/jsonParse.js';

const prefixes = addressPrefixesOf(regtestParams);
const parse = (params: unknown): Subscription =>
  parseSubscription(parseJson(JSON.stringify(params)) as JsonObject, prefixes);

const DESTINATION = { type: 'pubkeyhash', hash: Buffer.alloc(20, 3) } as const;
const ADDRESS = encodeDestination(DESTINATION, prefixes);
const SCRIPT = scriptForDestination(DESTINATION);
const ID = '36a719a156a1df178531f3c712b8b37f8e7cc3b3';

describe('a subscription', () => {
  it.each([
    [{}, 'topic must be one of blocks, transactions, claims'],
    [{ topic: 'weather' }, 'topic must be one of blocks, transactions, claims'],
    [{ topic: 'blocks', names: ['a'] }, 'Unknown parameter names of blocks'],
    [{ topic: 'claims', addresses: [ADDRESS] }, 'Unknown parameter addresses of claims'],
    [{ topic: 'claims', names: 'a' }, 'names must be a list of strings that is not empty'],
    [{ topic: 'claims', names: [] }, 'names must be a list of strings that is not empty'],
    [{ topic: 'claims', claimids: [ID.slice(1)] }, /claimids must be 40 hex digits each/],
    [{ topic: 'claims', nameshex: ['f'] }, 'nameshex must be hex digits: f'],
    [{ topic: 'transactions', addresses: [1] }, 'addresses must be a list of strings that is not empty'],
    [{ topic: 'transactions', addresses: ['x'] }, 'Invalid address: x'],
    [{ topic: 'transactions', scripts: ['xx'] }, 'scripts must be hex digits: xx'],
    [{ topic: 'transactions', hex: 1 }, 'hex must be true or false'],
  ])('is refused: %j', (params, message) => {
    expect(() => parse(params)).toThrow(message);
  });

  it('counts its members', () => {
    expect(sizeOf(parse({ topic: 'blocks' }))).toBe(1);
    expect(sizeOf(parse({ topic: 'claims' }))).toBe(1);
    expect(sizeOf(parse({ topic: 'transactions' }))).toBe(1);
    expect(sizeOf(parse({ topic: 'claims', names: ['a', 'b'], claimids: [ID] }))).toBe(3);
    // The address stands for this script, so it counts once.
    expect(sizeOf(parse({ topic: 'transactions', addresses: [ADDRESS], scripts: [toHex(SCRIPT)] }))).toBe(1);
  });

  it('matches the transactions of its scripts', () => {
    const transaction = { scripts: new Set([toLatin1(SCRIPT)]) } as unknown as TransactionNotice;
    const wants = (params: object): boolean => {
      const subscription = parse({ topic: 'transactions', ...params });
      return subscription.topic === 'transactions' && wantsTransaction(subscription, transaction);
    };
    expect(wants({})).toBe(true);
    expect(wants({ addresses: [ADDRESS] })).toBe(true);
    expect(wants({ scripts: ['51', toHex(SCRIPT)] })).toBe(true);
    expect(wants({ scripts: ['51'] })).toBe(false);
  });

  it('matches the claims of its names, in any form, and of its ids', () => {
    const claim = {
      event: { name: Buffer.from('mindblown'), claimId: hashFromHex(ID) },
    } as unknown as ClaimNotice;
    const wants = (params: object, notice = claim): boolean => {
      const subscription = parse({ topic: 'claims', ...params });
      return subscription.topic === 'claims' && wantsClaim(subscription, notice);
    };
    expect(wants({})).toBe(true);
    expect(wants({ names: ['MindBlown'] })).toBe(true);
    expect(wants({ nameshex: ['4d696e64426c6f776e'] })).toBe(true);
    expect(wants({ names: ['mind'] })).toBe(false);
    expect(wants({ claimids: [ID] })).toBe(true);
    expect(wants({ claimids: [ID.replace('3', '4')] })).toBe(false);
    const lost = {
      event: { name: Buffer.from('x'), formerClaimId: hashFromHex(ID) },
    } as unknown as ClaimNotice;
    expect(wants({ claimids: [ID], names: ['y'] }, lost)).toBe(true);
  });
});
