/**
 * Names that are not UTF-8: each method with a parameter for a name accepts the hex of its bytes. Reading methods accept it in
 * every profile, sending methods only in the documented one. The methods are found by their declarations, so that new ones are
 * tested too.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Profile } from '../../src/rpc/declare/method.js';
import { METHODS } from '../../src/rpc/declare/methodTable.js';
import { startRegtest, type RegtestNode } from './support/node.js';

/** Bytes that are not UTF-8. */
const ODD = '61ff62';
const PATHS: Readonly<Record<Profile, string>> = { documented: '/', lbrycrd: '/lbrycrd', lbcd: '/lbcd' };
/** Methods whose parameter `name` is not that of a claim. */
const OTHER_NAMES = ['migratewallet'];
/** These send transactions. */
const SENDING = ['claimname', 'supportclaim'];

const taking = METHODS.filter(
  ({ name, params }) =>
    !OTHER_NAMES.includes(name) && params.some((param) => /^(name|prefix)$/.test(param.name)),
);
const reading = taking.filter(({ name }) => !SENDING.includes(name));

let node: RegtestNode;
let base: string;
let claim: { txid: string; claimId: string };

async function call(method: string, params: object, profile: Profile = 'documented'): Promise<unknown> {
  const body = JSON.stringify({ id: 1, method, params });
  const answer = JSON.parse((await node.post(body, PATHS[profile])).text) as {
    result: unknown;
    error: unknown;
  };
  expect([method, profile, answer.error]).toEqual([method, profile, null]);
  return answer.result;
}

beforeAll(async () => {
  node = await startRegtest({
    args: ['-explorer', '-explorerport=0', '-fallbackfee=0.0002', '-claimsearch=0'],
  });
  base = `http://127.0.0.1:${/open http:\/\/localhost:(\d+)\/ in a browser/.exec(node.output())![1]}`;
  await node.rpc('generatetoaddress', [360, await node.rpc('getnewaddress')]);
});
afterAll(() => node?.stop());

const mine = async (): Promise<unknown> =>
  node.rpc('generatetoaddress', [1, await node.rpc('getnewaddress')]);

describe('a name that is not UTF-8', () => {
  it('can be passed in hex to each method that accepts a name', () => {
    expect(taking.length).toBeGreaterThan(12);
    for (const { name, params } of taking)
      expect([name, params.some((param) => param.name === 'hex')]).toEqual([name, true]);
  });

  it('is claimed and supported by the wallet', async () => {
    const txid = (await call('claimname', { name: ODD, value: '00', amount: 1, hex: true })) as string;
    await mine();
    const [made] = await node.rpc<{ claimId: string; namehex: string }[]>('getclaimsfortx', [txid]);
    claim = { txid, claimId: made!.claimId };
    expect(await node.rpc<object>('listclaims', [ODD, 10, null, 'bid', null, true])).toMatchObject({
      namehex: ODD,
      bids: [{ txid, namehex: ODD }],
    });
    await call('supportclaim', { name: ODD, claimid: claim.claimId, amount: 0.5, hex: true });
    const waiting = await call('listmempoolclaims', { name: ODD, hex: true });
    expect(waiting).toMatchObject({ total: 1, claims: [{ event: 'support', claimId: claim.claimId }] });
    await mine();
    expect(await call('listsupports', { claimid: claim.claimId })).toMatchObject({ namehex: ODD, total: 1 });
  });

  it('is returned by each reading method, in each profile', async () => {
    // The support is unconfirmed, so that the methods about the mempool return something.
    await call('supportclaim', { name: ODD, claimid: claim.claimId, amount: 0.25, hex: true });
    const needed: Readonly<Record<string, unknown>> = {
      bid: 0,
      bids: [0],
      sequence: 0,
      sequences: [0],
      partialclaimids: [claim.claimId],
    };
    const shown: Readonly<Record<string, string>> = {
      checknormalization: 'a\\\\u00ffb',
      getclaimproofbybid: claim.txid,
      getclaimproofbyseq: claim.txid,
      getnameproof: claim.txid,
      // lbcd replaces the bytes.
      normalize: 'a\ufffdb',
    };
    for (const { name, params, profiles = Object.keys(PATHS) as Profile[] } of reading)
      for (const profile of profiles) {
        const given = params.flatMap((param) => {
          if (/^(name|prefix)$/.test(param.name)) return [[param.name, ODD]];
          return Object.hasOwn(needed, param.name) ? [[param.name, needed[param.name]]] : [];
        });
        const answer = await call(name, { ...Object.fromEntries(given), hex: true }, profile);
        expect([name, profile, JSON.stringify(answer)]).toEqual([
          name,
          profile,
          expect.stringContaining(shown[name] ?? claim.claimId),
        ]);
        const body = JSON.stringify({
          id: 1,
          method: name,
          params: {
            ...Object.fromEntries(given),
            [params.some((p) => p.name === 'prefix') ? 'prefix' : 'name']: 'x',
            hex: true,
          },
        });
        expect([name, (await node.post(body, PATHS[profile])).text]).toEqual([
          name,
          expect.stringContaining('must be in hex'),
        ]);
      }
  });

  it.each([
    ['claimname', [ODD, '00', 1], [[2], [false, 3]], 'takes 3 to 4 arguments, 5 were given'],
    ['supportclaim', [ODD, '00', 1, ''], [[false, 3]], 'takes 1 to 5 arguments, 6 were given'],
  ] as const)(
    'is refused by %s outside the documented profile',
    async (method, params, untyped, complaint) => {
      const failure = async (last: readonly unknown[], profile: Profile) => {
        const body = JSON.stringify({ id: 1, method, params: [...params, ...last] });
        const { text } = await node.post(body, PATHS[profile]);
        return (JSON.parse(text) as { error: { code: number; message: string } }).error;
      };
      expect(await failure([false, true], 'lbrycrd')).toEqual({
        code: -1,
        message: expect.stringContaining(complaint) as string,
      });
      expect(await failure([false, true], 'lbcd')).toMatchObject({ code: -32602 });
      const wrong = { code: -1, message: 'JSON value is not a boolean as expected' };
      for (const last of untyped) expect(await failure(last, 'documented')).toEqual(wrong);
    },
  );

  it('has its pages', async () => {
    for (const path of [
      `/name-hex/${ODD}`,
      `/claim/${claim.claimId}`,
      `/proof-hex/${ODD}`,
      '/names',
      '/mempool',
      `/tx/${claim.txid}`,
    ]) {
      const answer = await fetch(base + path);
      const page = await answer.text();
      expect([path, answer.status]).toEqual([path, 200]);
      expect([path, page]).toEqual([path, expect.stringContaining(`/name-hex/${ODD}`)]);
    }
  });

  it('is in the answers about its claim', async () => {
    const shown = expect.objectContaining({ name: 'a\\u00ffb', namehex: ODD }) as object;
    expect(await call('getclaim', { claimid: claim.claimId })).toEqual(shown);
    const text = await node.rpc<string>('claimname', ['text', '00', 1]);
    await mine();
    const [other] = await node.rpc<{ claimId: string }[]>('getclaimsfortx', [text]);
    expect(await call('getclaim', { claimid: other!.claimId })).not.toHaveProperty('namehex');
  });
});
