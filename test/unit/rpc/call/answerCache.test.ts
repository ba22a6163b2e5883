import { afterEach, describe, expect, it, vi } from 'vitest';
import { txid, type Transaction } from '../../../../src/primitives/transaction.js';
import { AnswerCache, type StateMarks } from '../../../../src/rpc/call/answerCache.js';
import { RpcDispatcher } from '../../../../src/rpc/call/dispatch.js';
import { RPC_ERROR, rpcError } from '../../../../src/rpc/declare/errors.js';
import { defineMethod, type RpcMethod } from '../../../../src/rpc/declare/method.js';
import { METHODS } from '../../../../src/rpc/declare/methodTable.js';
import type { RpcServices } from '../../../../src/interfaces/services.js';
import { t } from '../../../../src/schema/schema.js';
import { MethodTable } from '../../../../src/rpc/declare/table.js';
import { buildClaimPrefix, buildSupportPrefix, claimIdOf } from '../../../../src/script/claimScript.js';
import { concatBytes, hashToHex } from '../../../../src/util/bytes.js';
import { JsonNumber, JsonObject } from '../../../../src/util/json/json.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { randomOf } from '../../../support/claimLife.js';
import { OPEN_SCRIPT } from '../../../support/testChain.js';
import { coinsOf, PoolWorld, spendCoins, type Coin } from '../../mempool/support.js';
import { send, TEST_ORIGIN, testServices } from '../support.js';
import { IS_LONG } from '../../../support/long.js';

const START: StateMarks = { tip: 5, disconnects: 0, headerChanges: 9, mempoolChanges: 3 };

const method = (follows?: RpcMethod['follows']): RpcMethod =>
  ({ name: 'ask', ...(follows ? { follows } : {}) }) as RpcMethod;

/** A cache for a simulated state of the node. */
function cacheOf(maxBytes = 1 << 20) {
  const state = { ...START };
  const cache = new AnswerCache(maxBytes, () => ({ ...state }));
  const call = (params: Parameters<AnswerCache['callOf']>[2], follows: RpcMethod['follows'] = 'chain') =>
    cache.callOf(method(follows), 'documented', params)!;
  return { state, cache, call };
}

describe('AnswerCache', () => {
  it('returns the same answers while nothing changes', () => {
    const { cache, call } = cacheOf();
    expect(cache.find(call(['a']))).toBeUndefined();
    cache.keep(call(['a']), '"x"');
    expect(cache.find(call(['a']))).toBe('"x"');
    expect(cache.hits).toBe(1);
  });

  it('returns long answers as bytes', () => {
    const { cache, call } = cacheOf();
    const long = `"${'\u00e9'.repeat(32_700)}"`;
    const wanted = { ...call(['b']), maxChars: 100_000 };
    expect(cache.keep({ ...call(['a']), maxChars: 100_000 }, '1')).toBe('1');
    const kept = cache.keep(wanted, `${long.repeat(2)}`);
    expect(Buffer.isBuffer(kept)).toBe(true);
    expect(String(kept)).toBe(long.repeat(2));
    expect(cache.find(wanted)).toBe(kept);
    expect(cache.sizeBytes).toBeGreaterThan(kept.length);
    expect(cache.sizeBytes).toBeLessThan(kept.length + 1000);
  });

  it('returns answers in pieces without a copy', () => {
    const { cache, call, state } = cacheOf();
    const pieces = ['[1,', Buffer.from('2'.repeat(1000)), ']'];
    cache.keepPieces(call(['a']), pieces);
    expect(cache.find(call(['a']))).toBe(pieces);
    expect(cache.sizeBytes).toBeGreaterThan(1000);
    cache.keepPieces({ ...call(['b']), maxChars: 1003 }, pieces);
    expect(cache.has(call(['b']))).toBe(false);
    state.tip++;
    expect(cache.find(call(['a']))).toBeUndefined();
  });

  it.each(['tip', 'disconnects', 'headerChanges'] as const)(
    'drops all answers when the %s changes',
    (mark) => {
      const { cache, call, state } = cacheOf();
      cache.keep(call(['a']), '1');
      cache.keep(call(['a'], 'chainAndMempool'), '2');
      state[mark]++;
      expect(cache.find(call(['a']))).toBeUndefined();
      expect(cache.find(call(['a'], 'chainAndMempool'))).toBeUndefined();
    },
  );

  it('drops only answers from the mempool when the mempool changes', () => {
    const { cache, call, state } = cacheOf();
    cache.keep(call(['a']), '1');
    cache.keep(call(['a'], 'chainAndMempool'), '2');
    state.mempoolChanges++;
    expect(cache.find(call(['a']))).toBe('1');
    expect(cache.find(call(['a'], 'chainAndMempool'))).toBeUndefined();
  });

  it('does not cache an answer if the chain or the mempool changed during the call', () => {
    const { cache, call, state } = cacheOf();
    const early = call(['a']);
    state.tip++;
    cache.keep(early, '1');
    expect(cache.find(call(['a']))).toBeUndefined();
    state.tip--;
    expect(cache.find(call(['a']))).toBeUndefined();
  });

  it('distinguishes calls by method, profile and every argument', () => {
    const { cache } = cacheOf();
    const params = [
      ['a'],
      ['a', null],
      ['a', true],
      ['a', 't'],
      ['a', 1],
      ['a', '1'],
      [1],
      ['1'],
      ['a "1:b'],
      ['a', 'b'],
      [new JsonNumber('1.0')],
      [],
      [''],
    ];
    const calls = params.flatMap((values) => [
      cache.callOf(method('chain'), 'documented', values)!,
      cache.callOf(method('chain'), 'lbcd', values)!,
      cache.callOf({ ...method('chain'), name: 'other' }, 'lbcd', values)!,
    ]);
    calls.forEach((call, i) => cache.keep(call, `${i}`));
    calls.forEach((call, i) => expect(cache.find(call)).toBe(`${i}`));
  });

  it('does not cache methods without declared sources, and arguments that are not plain values', () => {
    const { cache } = cacheOf();
    expect(cache.callOf(method(), 'documented', ['a'])).toBeNull();
    expect(cache.callOf(method('chain'), 'documented', [['a']])).toBeNull();
    expect(cache.callOf(method('chain'), 'documented', [new JsonObject()])).toBeNull();
    expect(cache.callOf(method('chain'), 'documented', new JsonObject([['name', 'a']]))).toBeNull();
    expect(cache.callOf(method('chain'), 'documented', ['a'.repeat(2000)])).toBeNull();
  });

  it('stays within its limit, and keeps the most used answers longest', () => {
    const { cache, call } = cacheOf(64 << 10);
    const text = 'x'.repeat(500);
    cache.keep(call(['loved']), text);
    for (let i = 0; i < 1000; i++) {
      cache.keep(call([`${i}`]), text);
      expect(cache.sizeBytes).toBeLessThanOrEqual(64 << 10);
      expect(cache.find(call(['loved']))).toBe(text);
    }
    expect(cache.find(call(['0']))).toBeUndefined();
    expect(cache.find(call(['999']))).toBe(text);
  });

  it('does not keep long answers', () => {
    const { cache, call } = cacheOf();
    cache.keep(call(['a']), 'x'.repeat(40_000));
    expect(cache.find(call(['a']))).toBeUndefined();
    expect(cache.sizeBytes).toBe(0);
  });

  it('caches long answers of methods that declare keepsLong', () => {
    const { cache } = cacheOf();
    const call = cache.callOf({ ...method('chain'), keepsLong: true }, 'documented', ['a'])!;
    cache.keep(call, 'x'.repeat(100_000));
    expect(cache.find(call)).toHaveLength(100_000);
    cache.keep({ ...call, key: 'other' }, 'x'.repeat(300_000));
    expect(cache.find({ ...call, key: 'other' })).toBeUndefined();
  });
});

/** A dispatcher over the cache and one without. */
function dispatchers(services: RpcServices, cache: AnswerCache, extra: readonly RpcMethod[] = []) {
  const make = (answers: { answers?: AnswerCache }): RpcDispatcher => {
    const dispatcher = new RpcDispatcher(
      { deprecated: new Set() },
      {
        table: new MethodTable([...METHODS, ...extra]),
        services,
        logger: SILENT_LOGGER,
        onException: (error) => {
          throw error;
        },
        ...answers,
      },
    );
    dispatcher.finishWarmup();
    return dispatcher;
  };
  return { kept: make({ answers: cache }), fresh: make({}) };
}

describe('a dispatcher with an answer cache', () => {
  afterEach(() => vi.restoreAllMocks());

  it('runs a method once, with and without waiting, alone and in batches, and wraps the answer for each caller', async () => {
    const { cache } = cacheOf();
    let runs = 0;
    const ask = (name: string, wait: boolean): RpcMethod =>
      defineMethod({
        name,
        category: 'hidden',
        follows: 'chain',
        summary: 'Asks.',
        params: [{ name: 'word', type: 'string', required: true, description: 'A word' }],
        result: t.any('the word'),
        run: (_ctx, { word }) => {
          runs++;
          return wait ? Promise.resolve({ word }) : { word };
        },
      });
    const { kept } = dispatchers(testServices(), cache, [ask('asksoon', false), ask('asklater', true)]);
    for (const name of ['asksoon', 'asklater']) {
      runs = 0;
      const first = await send(kept, `{"id":1,"method":"${name}","params":["é"]}`);
      expect(first.text).toBe('{"result":{"word":"é"},"error":null,"id":1}\n');
      const second = await send(kept, `{"jsonrpc":"2.0","id":"b","method":"${name}","params":["é"]}`);
      expect(second.text).toBe('{"jsonrpc":"2.0","result":{"word":"é"},"id":"b"}\n');
      const batch = await send(kept, `[{"id":2,"method":"${name}","params":["é"]}]`);
      expect(batch.text).toBe('[{"result":{"word":"é"},"error":null,"id":2}]\n');
      expect(runs).toBe(1);
    }
  });

  it('repeats slow calls after a block, while they are requested, and drops those that fail', async () => {
    const { cache, state } = cacheOf();
    const runs: string[] = [];
    // In simulated time, each call takes a millisecond.
    let nowMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const slow = defineMethod({
      name: 'askslowly',
      category: 'hidden',
      follows: 'chain',
      summary: 'Asks.',
      params: [{ name: 'word', type: 'string', required: true, description: 'A word' }],
      result: t.any('the word'),
      run: (_ctx, { word }) => {
        runs.push(word);
        nowMs++;
        if (word === 'failing' && state.tip > START.tip) throw rpcError(RPC_ERROR.MISC_ERROR, 'no more');
        return word === 'long' ? 'x'.repeat(50_000) : state.tip;
      },
    });
    const { kept } = dispatchers(testServices(), cache, [slow]);
    const ask = async (word: string): Promise<string | null> =>
      (await send(kept, `{"id":1,"method":"askslowly","params":["${word}"]}`)).text;
    for (const word of ['a', 'b', 'long', 'failing']) await ask(word);
    state.tip++;
    runs.length = 0;
    await kept.readAhead();
    // The calls of the latest requests are repeated first. The answer of "long" is not cached, so it is not repeated.
    expect(runs).toEqual(['failing', 'b', 'a']);
    expect(await ask('a')).toBe(`{"result":${state.tip},"error":null,"id":1}\n`);
    expect(runs).toHaveLength(3);
    // A call is repeated for 16 blocks after its last request. "a" was requested two blocks later than "b".
    for (let block = 2; block <= 19; block++) {
      state.tip++;
      runs.length = 0;
      await kept.readAhead();
      expect(runs, `block ${block}`).toEqual(['b', 'a'].slice(block <= 16 ? 0 : block <= 18 ? 1 : 2));
      if (block === 2) await ask('a');
    }
  });

  it('does not cache errors', async () => {
    const { cache } = cacheOf();
    const { kept } = dispatchers(testServices(), cache, []);
    const body = '{"id":1,"method":"getclaimsforname","params":[]}';
    expect((await send(kept, body)).status).toBe(500);
    expect((await send(kept, body)).status).toBe(500);
    expect(cache.hits).toBe(0);
    expect(cache.sizeBytes).toBe(0);
  });
});

function callsAbout(
  blocks: readonly string[],
  names: readonly string[],
  transactions: readonly Transaction[],
): [string, unknown[]][] {
  return [
    ...blocks.flatMap((hash): [string, unknown[]][] => [
      ['getblockheader', [hash]],
      ['getblock', [hash]],
      ['getblockstats', [hash]],
    ]),
    ...names.flatMap((name): [string, unknown[]][] => [
      ['getclaimsforname', [name]],
      ['getclaimsforname', [name, blocks[1]]],
      ['getvalueforname', [name]],
      ['getnameproof', [name]],
    ]),
    ...transactions.slice(-4).flatMap((tx): [string, unknown[]][] => {
      const id = hashToHex(txid(tx));
      return [
        ['gettxout', [id, 0]],
        ['gettxout', [id, 0, false]],
        ['getrawtransaction', [id, true]],
        ['getclaimsfortx', [id]],
      ];
    }),
    ['gettotalclaims', []],
    ['gettotalvalueofclaims', []],
  ];
}

describe('cached answers over blocks, transactions and reorganisations', () => {
  let world: PoolWorld;
  afterEach(() => world.close());

  it('equal uncached answers', async () => {
    world = await PoolWorld.open(120);
    const { chain } = world;
    const services = Object.assign(chain.services, { mempool: world.mempool });
    const cache = new AnswerCache(1 << 20, () => {
      const { headers, chain: open } = services.chain;
      const { tip, disconnects } = open.index.active;
      return { tip, disconnects, headerChanges: headers.changes, mempoolChanges: world.mempool.changeCount };
    });
    const { kept, fresh } = dispatchers(services, cache);
    const random = randomOf(7);
    const names = ['a', 'ab', 'b'];
    const transactions: Transaction[] = [];
    let coinbases = 0;
    const coin = (): Promise<Coin> => world.coinbase(++coinbases);
    const invalid: number[] = [];

    const steps: (() => Promise<void>)[] = [
      async () => {
        const name = Buffer.from(names[random(3)]!);
        const script = concatBytes(buildClaimPrefix(name, Buffer.of(random(256))), OPEN_SCRIPT);
        const tx = spendCoins([await coin()], 1000n, { script });
        transactions.push(tx);
        await world.mustAccept(tx);
      },
      async () => {
        const claimed = transactions[random(Math.max(1, transactions.length))];
        if (claimed === undefined) return;
        const name = Buffer.from(names[random(3)]!);
        const script = concatBytes(buildSupportPrefix(name, claimIdOf(txid(claimed), 0)), OPEN_SCRIPT);
        const tx = spendCoins([await coin()], 1000n, { script });
        transactions.push(tx);
        await world.mustAccept(tx);
      },
      async () => {
        const spent = transactions[random(Math.max(1, transactions.length))];
        if (spent === undefined) return;
        // Someone may have spent it already.
        await world.accept(spendCoins(coinsOf(spent), 2000n));
      },
      async () => void (await world.mineMempool()),
      async () => void (await world.mineBlock([])),
      async () => void invalid.push(await world.disconnectFrom(world.height - random(4))),
      async () => {
        const id = invalid.pop();
        if (id !== undefined) await world.reconsider(id);
      },
    ];
    const hashes = (): string[] => {
      const { active, headers } = chain.opened.chain.index;
      return [0, 1, 5].map((back) => hashToHex(headers.hash(active.at(active.height - back))));
    };
    const stale = hashes();
    for (let round = 0; round < (IS_LONG ? 30 : 6); round++) {
      // A new time, because otherwise a new block could equal a disconnected one.
      chain.timeSec += 60;
      await steps[random(steps.length)]!();
      if (round % 2 === 1) await kept.readAhead();
      const blocks = [...hashes(), ...stale];
      const calls = callsAbout(blocks, names, transactions);
      for (const [name, params] of calls) {
        const body = JSON.stringify({ id: round, method: name, params });
        const wanted = await send(fresh, body, TEST_ORIGIN);
        for (let turn = 0; turn < 2; turn++) {
          const got = await send(kept, body, TEST_ORIGIN);
          expect(got, `${name} ${JSON.stringify(params)} in round ${round}`).toEqual(wanted);
        }
      }
      stale.push(blocks[0]!);
      if (stale.length > 3) stale.shift();
    }
    expect(cache.hits).toBeGreaterThan(IS_LONG ? 500 : 100);
  });
});
