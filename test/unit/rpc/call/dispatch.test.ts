import { describe, expect, it } from 'vitest';
import { RpcDispatcher } from '../../../../src/rpc/call/dispatch.js';
import { rpcError } from '../../../../src/rpc/declare/errors.js';
import { defineMethod } from '../../../../src/rpc/declare/method.js';
import { METHODS } from '../../../../src/rpc/declare/methodTable.js';
import { t } from '../../../../src/schema/schema.js';
import { MethodTable } from '../../../../src/rpc/declare/table.js';
import { assert } from '../../../../src/util/assert.js';
import { SLICE_MS } from '../../../../src/util/slices.js';
import { coins } from '../../../../src/util/json/json.js';
import { hexOf, jsonArray } from '../../../../src/util/json/jsonWrite.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { heldBytes } from '../../../support/memory.js';
import { countTurns } from '../../../support/slices.js';
import { send, TEST_ORIGIN, testDispatcher, testServices } from '../support.js';
import { longIt } from '../../../support/long.js';

const echoArgs = defineMethod({
  name: 'test_echo',
  category: 'hidden',
  summary: 'Returns its arguments.',
  params: [
    { name: 'first', type: 'any', description: '' },
    { name: 'second|zweites', type: 'any', description: '' },
  ],
  result: t.any(),
  run: (ctx, args) => [args.first ?? null, args.second ?? null, ctx.profile, ctx.walletName ?? null],
});

const failing = defineMethod({
  name: 'test_fail',
  category: 'hidden',
  summary: 'Fails as it is told.',
  params: [{ name: 'how', type: 'string', required: true, description: '' }],
  result: t.any(),
  run: (_ctx, args) => {
    switch (args.how) {
      case 'rpc':
        throw rpcError(-5, 'No such thing');
      case 'plain':
        throw new Error('plain failure');
      case 'bug':
        assert(false, 'broken invariant');
        break;
      case 'early':
        return jsonArray(brokenSource(1));
      case 'late':
        return jsonArray(brokenSource(1_000_000));
    }
    return null;
  },
});

function* brokenSource(after: number): Generator<string> {
  for (let i = 0; i < after; i++) yield 'some text';
  throw new Error('source broke');
}

const bigHex = defineMethod({
  name: 'test_big',
  category: 'hidden',
  summary: 'Returns a lot.',
  params: [{ name: 'bytes', type: 'integer', required: true, description: '' }],
  result: t.hex(),
  run: (_ctx, args) => hexOf(Buffer.alloc(args.bytes, 1)),
});

const amount = defineMethod({
  name: 'test_amount',
  category: 'hidden',
  summary: 'Returns an amount.',
  params: [{ name: 'amount', type: 'amount', required: true, description: '' }],
  result: t.coins(),
  run: (_ctx, args) => coins(args.amount),
});

const { dispatcher, exceptions } = testDispatcher([echoArgs, failing, bigHex, amount]);

describe('single requests', () => {
  it('answers with result, error and id in the reference order, and a line break', async () => {
    expect(await send(dispatcher, '{"id":"x","method":"test_echo","params":[1]}')).toEqual({
      status: 200,
      text: '{"result":[1,null,"documented",null],"error":null,"id":"x"}\n',
    });
  });

  it.each([
    ['{"method":"test_echo"}', 'null'],
    ['{"method":"test_echo","id":null}', 'null'],
    ['{"method":"test_echo","id":12345678901234567890}', '12345678901234567890'],
    ['{"method":"test_echo","id":{"a":[1.50]}}', '{"a":[1.50]}'],
    // The first member with a name counts.
    ['{"id":1,"x":0,"method":"test_echo","id":2,"method":"test_fail","params":[],"params":[7]}', '1'],
  ])('returns the id unchanged: %s', async (body, id) => {
    expect((await send(dispatcher, body)).text).toBe(
      `{"result":[null,null,"documented",null],"error":null,"id":${id}}\n`,
    );
  });

  it('accepts named arguments and their alternative names, and refuses unknown ones', async () => {
    expect((await send(dispatcher, '{"method":"test_echo","params":{"zweites":2}}')).text).toContain(
      '[null,2,',
    );
    expect((await send(dispatcher, '{"method":"test_echo","params":{"second":2,"first":1}}')).text).toContain(
      '[1,2,',
    );
    expect(await send(dispatcher, '{"method":"test_echo","params":{"third":2}}')).toEqual({
      status: 500,
      text: '{"result":null,"error":{"code":-8,"message":"Unknown named parameter third"},"id":null}\n',
    });
  });

  it.each<[string, number, number, string]>([
    ['', 500, -32700, 'Parse error'],
    ['garbage', 500, -32700, 'Parse error'],
    ['{"method":', 500, -32700, 'Parse error'],
    ['{"method":"help"} x', 500, -32700, 'Parse error'],
    ['['.repeat(100000), 500, -32700, 'Parse error'],
    ['5', 500, -32700, 'Top-level object parse error'],
    ['"help"', 500, -32700, 'Top-level object parse error'],
    ['null', 500, -32700, 'Top-level object parse error'],
    ['{}', 400, -32600, 'Missing method'],
    ['{"method":null}', 400, -32600, 'Missing method'],
    ['{"method":5}', 400, -32600, 'Method must be a string'],
    ['{"method":"help","params":"x"}', 400, -32600, 'Params must be an array or object'],
    ['{"method":"help","params":7}', 400, -32600, 'Params must be an array or object'],
    ['{"method":"nosuch"}', 404, -32601, 'Method not found'],
    ['{"method":"test_fail","params":["rpc"]}', 500, -5, 'No such thing'],
    ['{"method":"test_fail","params":["plain"]}', 500, -1, 'plain failure'],
    ['{"method":"test_fail","params":["bug"]}', 500, -32603, 'broken invariant'],
    ['{"method":"test_fail","params":["early"]}', 500, -1, 'source broke'],
    ['{"method":"test_fail","params":[5]}', 500, -1, 'JSON value is not a string as expected'],
  ])('answers %s with HTTP status %d and error %d', async (body, status, code, message) => {
    const reply = await send(dispatcher, body);
    expect(reply.status).toBe(status);
    expect(JSON.parse(reply.text)).toEqual({ result: null, error: { code, message }, id: null });
  });

  it('refuses bytes that are not UTF-8', async () => {
    const reply = await send(dispatcher, Buffer.from([0x7b, 0xff, 0x7d]));
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code: -32700, message: 'Parse error' } });
  });

  it('returns the id of a request that has an error after the id', async () => {
    expect((await send(dispatcher, '{"id":7,"method":5}')).text).toContain('"id":7');
  });

  it('returns an internal error for exceptions that are not RPC errors', async () => {
    exceptions.length = 0;
    await send(dispatcher, '{"method":"test_fail","params":["rpc"]}');
    expect(exceptions).toEqual([]);
    await send(dispatcher, '{"method":"test_fail","params":["bug"]}');
    expect(exceptions).toMatchObject([{ name: 'AssertionError' }]);
  });

  it('parses amounts without rounding', async () => {
    const reply = await send(dispatcher, '{"method":"test_amount","params":[400000000.00000001]}');
    expect(reply.text).toBe('{"result":400000000.00000001,"error":null,"id":null}\n');
    const text = await send(dispatcher, '{"method":"test_amount","params":["0.10"]}');
    expect(text.text).toContain('"result":0.10000000,');
  });

  it('ends the response early when a stream fails after its first chunk', async () => {
    await expect(send(dispatcher, '{"method":"test_fail","params":["late"]}')).rejects.toThrow(
      'source broke',
    );
  });

  it('passes the profile and the wallet to the method', async () => {
    const origin = { ...TEST_ORIGIN, profile: 'lbrycrd' as const, walletName: 'w' };
    expect((await send(dispatcher, '{"method":"test_echo"}', origin)).text).toContain(
      '[null,null,"lbrycrd","w"]',
    );
  });
});

describe('a call of a method that does not wait', () => {
  it('is answered in the same turn of the event loop, with a result or an error', () => {
    const bodies = [
      '{"id":1,"method":"test_echo"}',
      '{"id":1,"method":"test_fail","params":["rpc"]}',
      '{',
      '{}',
    ];
    for (const body of bodies) {
      const reply = dispatcher.handle(Buffer.from(body), TEST_ORIGIN);
      expect(reply).not.toHaveProperty('then');
      expect(reply).toHaveProperty('text', expect.stringMatching(/^\{"result":.*\}\n$/));
    }
  });

  it('creates no abort signal unless its method uses it', () => {
    let asked = 0;
    const origin = {
      ...TEST_ORIGIN,
      get signal(): AbortSignal {
        asked++;
        return TEST_ORIGIN.signal;
      },
    };
    const asking = defineMethod({
      name: 'test_signal',
      category: 'hidden',
      summary: '',
      params: [],
      result: t.any(),
      run: ({ signal, outOfTurn }) => outOfTurn(() => Promise.resolve(signal.aborted)),
    });
    const setup = testDispatcher([asking, echoArgs]);
    void setup.dispatcher.handle(Buffer.from('{"method":"test_echo"}'), origin);
    expect(asked).toBe(0);
    void setup.dispatcher.handle(Buffer.from('{"method":"test_signal"}'), origin);
    expect(asked).toBe(1);
  });
});

describe('JSON-RPC 2.0', () => {
  it('returns either a result or an error, with HTTP status 200', async () => {
    expect(await send(dispatcher, '{"jsonrpc":"2.0","id":1,"method":"test_echo"}')).toEqual({
      status: 200,
      text: '{"jsonrpc":"2.0","result":[null,null,"documented",null],"id":1}\n',
    });
    expect(await send(dispatcher, '{"jsonrpc":"2.0","id":1,"method":"nosuch"}')).toEqual({
      status: 200,
      text: '{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":1}\n',
    });
  });

  it('does not answer notifications', async () => {
    expect(await send(dispatcher, '{"jsonrpc":"2.0","method":"test_echo"}')).toEqual({
      status: 204,
      text: '',
    });
    expect(await send(dispatcher, '{"jsonrpc":"2.0","method":"nosuch"}')).toEqual({ status: 204, text: '' });
    const batch = '[{"jsonrpc":"2.0","method":"test_echo"},{"jsonrpc":"2.0","method":"nosuch"}]';
    expect(await send(dispatcher, batch)).toEqual({ status: 204, text: '' });
    const mixed = '[{"jsonrpc":"2.0","method":"test_echo"},{"jsonrpc":"2.0","id":2,"method":"uptime"}]';
    expect((await send(dispatcher, mixed)).text).toMatch(/^\[\{"jsonrpc":"2.0","result":\d+,"id":2\}\]\n$/);
  });
});

describe('batches', () => {
  it('returns results and errors in the order of the requests', async () => {
    const body =
      '[{"id":1,"method":"test_echo","params":["a"]},7,{"id":2,"method":"nosuch"},{"id":3,"method":"test_fail","params":["early"]}]';
    const reply = await send(dispatcher, body);
    expect(reply.status).toBe(200);
    expect(reply.text.endsWith(']\n')).toBe(true);
    expect(JSON.parse(reply.text)).toEqual([
      { result: ['a', null, 'documented', null], error: null, id: 1 },
      { result: null, error: { code: -32600, message: 'Invalid Request object' }, id: null },
      { result: null, error: { code: -32601, message: 'Method not found' }, id: 2 },
      { result: null, error: { code: -1, message: 'source broke' }, id: 3 },
    ]);
  });

  it('give the same answers in the form of most clients and in other forms', async () => {
    const calls = [
      '{"id":1,"method":"test_echo","params":["a",2]}',
      '{"jsonrpc":"2.0","method":"test_echo","params":[3]}',
      '{"id":"x","method":"nosuch"}',
      '{"id":2,"jsonrpc":"2.0","method":"test_fail","params":["rpc"]}',
      '{"id":3,"method":"test_fail","params":["early"]}',
      '{"id":4,"method":"test_big","params":[200000]}',
      '{"id":5,"method":"test_amount","params":[1]}',
    ];
    const usual = `[${calls.join(',')}]`;
    const answer = await send(dispatcher, usual);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toHaveLength(calls.length - 1);
    // A space before the batch makes the general parser read it.
    expect(await send(dispatcher, ` ${usual}`)).toEqual(answer);
  });

  it('answers an empty batch with an empty array', async () => {
    expect(await send(dispatcher, ' [ ] ')).toEqual({ status: 200, text: '[]\n' });
  });

  it('runs no call of a batch that is not valid JSON', async () => {
    exceptions.length = 0;
    for (const tail of [',', ',]', ']]', '] x', ',{"a":01}]', '']) {
      const reply = await send(dispatcher, `[{"method":"test_fail","params":["bug"]}${tail}`);
      expect(JSON.parse(reply.text)).toMatchObject({ error: { code: -32700 } });
    }
    expect(exceptions).toEqual([]);
  });

  it('streams 500 large answers in order', async () => {
    const request = JSON.stringify({ id: 1, method: 'test_big', params: [1_000_000] });
    const reply = await dispatcher.handle(Buffer.from(`[${Array(500).fill(request).join()}]`), TEST_ORIGIN);
    let length = 0;
    let longest = 0;
    for await (const chunk of reply.chunks) {
      length += chunk.length;
      longest = Math.max(longest, chunk.length);
    }
    expect(length).toBe(
      2 + 499 + 1 + 500 * `{"result":"${'01'.repeat(1_000_000)}","error":null,"id":1}`.length,
    );
    expect(longest).toBeLessThan(300_000);
  });

  longIt('bounds its memory and yields while it answers 200,001 empty requests', async () => {
    let [before, most, count] = [0, 0, 0];
    const answer = async (): Promise<void> => {
      const reply = await dispatcher.handle(Buffer.from(`[${'{},'.repeat(200_000)}{}]`), TEST_ORIGIN);
      before = await heldBytes();
      for await (const chunk of reply.chunks) {
        const answered = count;
        count += chunk.split('Missing method').length - 1;
        if (Math.floor(count / 20_000) > Math.floor(answered / 20_000))
          most = Math.max(most, await heldBytes());
      }
    };
    // A slice ends after a hundred items.
    const { turns } = await countTurns(answer, SLICE_MS / 100);
    expect(count).toBe(200_001);
    expect(turns).toBeGreaterThan(1000);
    expect(most).toBeGreaterThan(0);
    expect(most - before).toBeLessThan(20e6);
  });

  it('stops a batch when the client disconnects', async () => {
    const controller = new AbortController();
    let runs = 0;
    const counting = defineMethod({
      name: 'test_count',
      category: 'hidden',
      summary: '',
      params: [],
      result: t.none(),
      run: () => {
        if (++runs === 3) controller.abort();
        return null;
      },
    });
    const setup = testDispatcher([counting]);
    const body = `[${Array(100).fill('{"method":"test_count"}').join()}]`;
    await send(setup.dispatcher, body, { ...TEST_ORIGIN, gone: controller.signal });
    expect(runs).toBe(3);
  });
});

describe('warm-up', () => {
  it('returns -28 with the start status until the node is ready', async () => {
    const warming = new RpcDispatcher(
      { deprecated: new Set() },
      {
        table: new MethodTable(METHODS),
        services: testServices(),
        logger: SILENT_LOGGER,
        onException: () => undefined,
      },
    );
    const ask = async (): Promise<unknown> => JSON.parse((await send(warming, '{"method":"uptime"}')).text);
    expect(await ask()).toMatchObject({ error: { code: -28, message: 'RPC server started' } });
    warming.setWarmupStatus('Loading block index...');
    expect(await ask()).toMatchObject({ error: { code: -28, message: 'Loading block index...' } });
    expect(JSON.parse((await send(warming, '{"method":"nosuch"}')).text)).toMatchObject({
      error: { code: -28 },
    });
    warming.finishWarmup();
    expect(await ask()).toMatchObject({ error: null, result: expect.any(Number) as number });
  });
});
