/**
 * Compares claims of a wallet with lbrycrd (`LBRYCRDD`): both get the same calls in the same order. Answers and errors are
 * equal except for keys and ids, and for the differences in docs/wallet.md.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import {
  envelopeFrom,
  referenceBinary,
  startReference,
  type Call,
  type Envelope,
  type ReferenceNode,
} from './support/reference.js';

const binary = referenceBinary();
const ARGS = ['-keypool=20', '-txindex'];
const NAME = 'mindblown';

/** An answer in which each id, address and time is replaced by the number of its first occurrence. */
function normalized(value: unknown, known: Map<string, string>): unknown {
  if (typeof value === 'string') {
    const isHash = /^([0-9a-f]{64}|[0-9a-f]{40})$/.test(value);
    const isAddress = /^([mn2][1-9A-HJ-NP-Za-km-z]{25,38}|rlbc1\w+)$/.test(value);
    if (!isHash && !isAddress) return value;
    if (!known.has(value)) known.set(value, `${isHash ? 'hash' : 'address'} ${known.size}`);
    return known.get(value);
  }
  if (Array.isArray(value)) return value.map((item) => normalized(item, known));
  if (typeof value !== 'object' || value === null) return value;
  // The position of the change output is random.
  const members = Object.entries(value).filter(([name]) => name !== 'vout');
  return Object.fromEntries(members.map(([name, item]) => [name, normalized(item, known)]));
}

describe.skipIf(binary === undefined)('claims beside the reference', () => {
  let node: RegtestNode;
  let reference: ReferenceNode;
  let ours: Call;
  const known = { ours: new Map<string, string>(), theirs: new Map<string, string>() };

  beforeAll(async () => {
    node = await startRegtest({ args: [...ARGS, '-compat=lbrycrd'] });
    reference = await startReference(binary!, [...ARGS, '-disablewallet=0']);
    ours = envelopeFrom(`http://127.0.0.1:${node.rpcPort}/`, 'regtest:regtest');
  });
  afterAll(async () => {
    await node.stop();
    await reference.stop();
  });

  /** Calls a method on both sides with arguments from earlier answers, and compares the answers. */
  async function both(
    method: string,
    params: (own: 'ours' | 'theirs') => readonly unknown[],
  ): Promise<{ ours: Envelope; theirs: Envelope }> {
    const mine = await ours(method, params('ours'));
    const theirs = await reference.call(method, params('theirs'));
    const where = `${method} ${JSON.stringify(params('ours')).slice(0, 200)}`;
    if (mine.error === null || theirs.error === null || mine.error.code !== -1) {
      expect(mine.error, where).toEqual(theirs.error);
    } else {
      // The reference returns its whole help for a wrong number of arguments.
      expect(theirs.error.code, where).toBe(-1);
      if (!theirs.error.message.includes('\n')) expect(mine.error.message, where).toBe(theirs.error.message);
    }
    expect(normalized(mine.result, known.ours), where).toEqual(normalized(theirs.result, known.theirs));
    return { ours: mine, theirs };
  }
  const same = (method: string, ...params: readonly unknown[]) => both(method, () => params);
  async function pair<T>(method: string, params: (own: 'ours' | 'theirs') => readonly unknown[]) {
    const answers = await both(method, params);
    return { ours: answers.ours.result as T, theirs: answers.theirs.result as T };
  }
  async function mine(): Promise<void> {
    await ours('generate', [1]);
    await reference.call('generate', [1]);
  }
  const list = async (): Promise<void> => {
    for (const supports of [true, false])
      for (const active of [true, false])
        for (const depth of [0, 1, 3]) await same('listnameclaims', supports, active, depth);
  };

  it('gives the same answers from the creation of a claim to its end', async () => {
    await ours('generate', [130]);
    await reference.call('generate', [130]);
    await same('listnameclaims');
    const claim = await pair<string>('claimname', () => [NAME, 'cafe', 0.5]);
    await same('claimname', 'ümläut', '00', 0.01, 'ignored');
    await list();
    await mine();
    await list();
    const idOf = async (call: Call): Promise<string> => {
      const { result } = await call('listnameclaims', [true, true, 0]);
      return (result as { name: string; claimId: string }[]).find(({ name }) => name === NAME)!.claimId;
    };
    const ids = { ours: await idOf(ours), theirs: await idOf(reference.call) };
    const support = await pair<{ txId: string }>('supportclaim', (own) => [NAME, ids[own].slice(0, 9), 0.2]);
    await both('supportclaim', (own) => [NAME, ids[own].toUpperCase(), 0.3, '', true]);
    await mine();
    await list();
    await both('updateclaim', (own) => [claim[own], 'zz', 1]);
    const update = await pair<string>('updateclaim', (own) => [claim[own], '0102', 0.7]);
    await list();
    await mine();
    await list();
    await both('abandonclaim', (own) => [support[own].txId, ADDRESS]);
    await both('abandonsupport', (own) => [update[own], ADDRESS]);
    await both('abandonsupport', (own) => [support[own].txId, ADDRESS]);
    await both('abandonclaim', (own) => [update[own], ADDRESS]);
    await mine();
    await list();
    const { ours: info, theirs } = await pair<Record<string, number>>('getblockcount', () => []);
    expect(info).toBe(theirs);
    for (const field of [
      'balance',
      'available_balance',
      'staked_claim_balance',
      'staked_support_balance',
      'txcount',
    ]) {
      const [own, other] = [await ours('getwalletinfo', []), await reference.call('getwalletinfo', [])];
      expect((own.result as Record<string, number>)[field], field).toBe(
        (other.result as Record<string, number>)[field],
      );
    }
  });

  it('refuses the same calls', async () => {
    const cases: [string, ...unknown[]][] = [
      ['claimname'],
      ['claimname', 'a', '00'],
      ['claimname', 'a', '00', 1, 2, 3],
      ['claimname', 'a', 'zz', 1],
      ['claimname', 'a', '', 1],
      ['claimname', 'a', '000', 1],
      ['claimname', 'a', '00', 0],
      ['claimname', 'a', '00', -1],
      ['claimname', 'a', '00', 'x'],
      ['claimname', 'a', '00', true],
      ['claimname', 1, '00', 1],
      ['claimname', 'a', '00', 1e6],
      ['claimname', 'a', '00', 0.00000001],
      ['updateclaim', 'zz', '00', 1],
      ['updateclaim', '00'.repeat(32), 'zz', 1],
      ['abandonclaim', '00'.repeat(32), ADDRESS],
      ['abandonclaim', 'x'],
      ['abandonsupport', '00'.repeat(32), ADDRESS],
      ['supportclaim'],
      ['supportclaim', 'nope', 'aa', 1],
      ['supportclaim', NAME],
      ['supportclaim', NAME, ''],
      ['supportclaim', NAME, 'xyz'],
      ['supportclaim', NAME, 'a'.repeat(41)],
      ['supportclaim', NAME, 'aa', 1, '', false, true],
      ['supportclaim', 'ümläut', '0x12', 1],
      ['listnameclaims', 'x'],
      ['listnameclaims', true, 1],
      ['listnameclaims', true, true, 'x'],
      ['listnameclaims', true, true, 1, 1],
    ];
    for (const [method, ...params] of cases) await same(method, ...params);
  });

  it('keeps coins that the reference spends without effect', async () => {
    const { result } = await ours('listnameclaims', []);
    const [{ txid }] = result as [{ txid: string }];
    const refused = async (method: string, ...params: readonly unknown[]) =>
      (await ours(method, params)).error;
    expect((await refused('claimname', 'a'.repeat(256), '00', 0.1))?.code).toBe(-8);
    expect((await reference.call('claimname', ['a'.repeat(256), '00', 0.1])).error).toBeNull();
    expect((await refused('abandonclaim', txid, 'nope'))?.code).toBe(-5);
    await ours('updateclaim', [txid, '01', 0.02]);
    expect((await refused('updateclaim', txid, '02', 0.03))?.message).toContain('is already spent');
  });
});
