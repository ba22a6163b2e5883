import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mainParams } from '../../../../../src/params/main.js';
import type { Profile, RpcContext } from '../../../../../src/rpc/declare/method.js';
import { getBlockTemplate } from '../../../../../src/rpc/methods/mining/getBlockTemplate.js';
import type { RpcServices } from '../../../../../src/interfaces/services.js';
import { JsonObject, type JsonValue } from '../../../../../src/util/json/json.js';
import { parseJson } from '../../../../../src/util/json/jsonParse.js';
import { TestChain, type Answer } from '../../../../support/testChain.js';

describe('getblocktemplate', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await TestChain.open();
    await chain.mine(20);
  });
  afterAll(() => chain.close());

  const ask = (
    request: string,
    profile: Profile = 'documented',
    services: Partial<RpcServices> = {},
  ): Promise<Answer> => {
    const context: RpcContext = { ...chain.context(profile), services: { ...chain.services, ...services } };
    return chain.call(getBlockTemplate, [parseJson(request) as JsonValue], context);
  };

  it('counts sizes without segwit before its activation', async () => {
    const { result } = await ask('{}');
    expect(result).toMatchObject({
      height: 21,
      rules: [],
      sigoplimit: 20_000,
      sizelimit: 2_000_000,
      noncerange: '00000000ffffffff',
      coinbaseaux: { flags: '' },
      capabilities: ['proposal'],
      vbrequired: 0,
      transactions: [],
    });
    expect(result).not.toHaveProperty('weightlimit');
    expect(result).not.toHaveProperty('default_witness_commitment');
    expect((await ask('{"rules":["segwit"]}')).result).toHaveProperty('default_witness_commitment');
  });

  it('states how the template may be changed', async () => {
    const mutable = async (request: string, profile: Profile): Promise<unknown> =>
      ((await ask(request, profile)).result as { mutable: unknown }).mutable;
    const plain = ['time', 'transactions', 'prevblock'];
    expect(await mutable('{}', 'lbrycrd')).toEqual(plain);
    expect(await mutable('{}', 'documented')).toEqual(['coinbase/append', ...plain]);
    expect(await mutable('{"capabilities":["coinbase/append","other"]}', 'lbrycrd')).toEqual([
      'coinbase/append',
      ...plain,
    ]);
    expect(await mutable('{"maxversion":2}', 'lbrycrd')).toEqual([...plain, 'version/force']);
    expect(await mutable('{"maxversion":1}', 'lbrycrd')).toEqual(plain);
    expect(await mutable('{"maxversion":4,"rules":[]}', 'lbrycrd')).toEqual(plain);
  });

  it('has no coinbase without an address', async () => {
    const request = '{"capabilities":["coinbasetxn"]}';
    expect((await ask(request)).result).not.toHaveProperty('coinbasetxn');
    expect(await ask(request, 'lbcd')).toMatchObject({ error: { code: -32603 } });
    const both = '{"capabilities":["coinbasetxn","coinbasevalue"]}';
    expect((await ask(both, 'lbcd')).result).toHaveProperty('coinbasevalue', 100_000_000);
  });

  it('needs peers and a recent tip on the main network', async () => {
    const quiet = { ...chain.services.network, connectionCount: () => 0 };
    const peers = {} as NonNullable<RpcServices['peers']>;
    expect(await ask('{}', 'documented', { params: mainParams })).toEqual({
      error: { code: -31, message: 'Error: Peer-to-peer functionality missing or disabled' },
    });
    expect(await ask('{}', 'lbrycrd', { params: mainParams, peers, network: quiet })).toEqual({
      error: { code: -9, message: 'LBRYcrd is not connected!' },
    });
    expect(await ask('{}', 'lbcd', { params: mainParams, peers, network: quiet })).toEqual({
      error: { code: -9, message: 'Bitcoin is not connected' },
    });
    expect(await ask('{}', 'documented', { params: mainParams, peers })).toHaveProperty('result');
  });

  it('refuses malformed requests', async () => {
    const context = chain.context();
    for (const wrong of [['x'], [[]], [5]] as JsonValue[][]) {
      expect(await chain.call(getBlockTemplate, wrong, context)).toMatchObject({ error: { code: -1 } });
    }
    expect(await ask('{"rules":[1]}')).toMatchObject({ error: { code: -1 } });
    expect(await ask('{"capabilities":[1]}')).toMatchObject({ error: { code: -1 } });
    expect(await chain.call(getBlockTemplate, [new JsonObject([['mode', true]])], context)).toEqual({
      error: { code: -8, message: 'Invalid mode' },
    });
  });

  it('ends a long poll whose caller has disconnected', async () => {
    const gone = new AbortController();
    const { result } = await ask('{}');
    const { longpollid } = result as { longpollid: string };
    const context = chain.context('documented', gone.signal);
    const waiting = chain.call(getBlockTemplate, [new JsonObject([['longpollid', longpollid]])], context);
    gone.abort();
    expect(await waiting).toEqual({ error: { code: -9, message: 'Shutting down' } });
  });
});
