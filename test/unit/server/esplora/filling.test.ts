/** The paths of `-esplora` while their indexes are filled in the background, with and without the cache of answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { AnswerCache, type StateMarks } from '../../../../src/rpc/call/answerCache.js';
import type { HttpReply } from '../../../../src/server/replyStream.js';
import { EsploraEndpoint } from '../../../../src/server/esplora/esploraEndpoint.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { TestChain } from '../../../support/testChain.js';

const BLOCKS = 20;
const signal = new AbortController().signal;
let chain: TestChain;
afterEach(() => chain.close());

it.each([
  ['with', true],
  ['without', false],
])('answer 503 until the index is at the tip, %s the cache', async (_name, isCached) => {
  chain = await TestChain.open({ txIndex: false });
  await chain.mine(BLOCKS);
  chain = await chain.reopen({ txIndex: true });
  const { chain: core } = chain.services.chain;
  const marks = (): StateMarks => ({
    tip: core.tip,
    disconnects: 0,
    headerChanges: 0,
    mempoolChanges: 0,
  });
  const endpoint = new EsploraEndpoint({
    services: chain.services,
    origins: [],
    warmupStatus: () => null,
    log: SILENT_LOGGER,
    answers: isCached ? new AnswerCache(1 << 20, marks) : null,
    onException: (error) => {
      throw error;
    },
  });
  const ask = async (path: string): Promise<[number, string]> => {
    const reply = await new Promise<HttpReply>((resolve, reject) =>
      endpoint.receive(
        { url: `/api${path}`, method: 'GET', headers: {} } as IncomingMessage,
        {} as ServerResponse,
        (run) =>
          void Promise.resolve(
            run({ gone: signal, signal, outOfTurn: (wait) => wait(), giveWay: () => null }),
          ).then(resolve, reject),
      ),
    );
    let text = reply.text ?? '';
    if (text === '') for await (const chunk of reply.chunks) text += String(chunk);
    return [reply.status, text];
  };
  const tip = hashToHex(core.index.headers.hash(core.tip));
  const txid = JSON.parse((await ask(`/block/${tip}/txids`))[1]) as string[];
  const path = `/tx/${txid[0]}`;
  let filled = 0;
  do {
    expect(await ask(path)).toEqual([
      503,
      expect.stringMatching(/^The transaction index is still being filled: block \d+ of 20$/),
    ]);
    // Paths without an index answer at the same time.
    expect(await ask('/blocks/tip/height')).toEqual([200, String(BLOCKS)]);
    filled++;
  } while ((await chain.fill.round()) && !chain.fill.statuses().every(({ synced }) => synced));
  expect(filled).toBeGreaterThan(2);
  const [status, text] = await ask(path);
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({
    txid: txid[0],
    status: { confirmed: true, block_height: BLOCKS },
  });
  expect(await ask(path)).toEqual([status, text]);
});
