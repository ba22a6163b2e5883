import { afterEach, describe, expect, it } from 'vitest';
import { Resolver } from '../../../../src/daemon/resolve/resolver.js';
import { Txo } from '../../../../src/daemon/txo/txo.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { FakeChain, FakeHub } from '../../../support/fakeHub.js';
import { made } from '../../../support/ledgerTransactions.js';
import { TestLedgers } from '../../../support/testLedger.js';
import { claim, outputs, priced, row, stream, transactions } from './claimWorld.js';

const ledgers = new TestLedgers();
const hubs: FakeHub[] = [];
afterEach(async () => {
  await ledgers.closeAll();
  for (const hub of hubs.splice(0)) await hub.stop();
});

/** Starts two hubs of a chain. The one that receives the first request lies. */
async function twoHubs(
  chain: FakeChain,
  lie: Buffer,
  right: Buffer,
): Promise<() => { liar: FakeHub; honest: FakeHub }> {
  let liar: FakeHub | null = null;
  for (let n = 0; n < 2; n++) {
    const hub = await FakeHub.start(chain);
    hubs.push(hub);
    hub.answer = (method, params) => {
      if (hub === liar && params[0] === madeUp.txidHex) return { [madeUp.txidHex]: unproven };
      if (!method.includes('claimtrie')) return undefined;
      liar ??= hub;
      return (hub === liar ? lie : right).toString('base64');
    };
  }
  return () => ({ liar: liar!, honest: hubs.find((hub) => hub !== liar)! });
}

/** A claim that would be the best of its name, in a transaction that is in no block. */
const madeUp = claim('note', { case: 'stream', value: {} });
const unproven = [made(transactions.get(madeUp.txidHex)!.tx).raw.toString('hex'), { block_height: -1 }];

const askedAboutClaims = ({ asked }: FakeHub): number =>
  asked.filter((method) => method.includes('claimtrie')).length;

describe('hubs that lie about claims', () => {
  const chain = new FakeChain();
  chain.mempool.push(...[stream, priced].map(({ txidHex }) => made(transactions.get(txidHex)!.tx)));
  chain.mine();
  const unknown = new Txo({
    txid: Buffer.alloc(32, 9),
    nout: 0,
    height: 1,
    amountDewies: 1n,
    script: stream.script,
    firstOutPoint: null,
  });
  const right = outputs({ txos: [row(stream)] });

  it.each([
    ['names another claim', outputs({ txos: [row(priced)] }), 'note does not resolve to claim'],
    ['names a transaction that does not exist', outputs({ txos: [row(unknown)] }), 'is missing'],
    [
      'reports a confirmed block for an unconfirmed claim',
      outputs({ txos: [row(madeUp)] }),
      'is reported as unconfirmed',
    ],
  ])('%s: the next one is asked, and the log names the lying hub', async (_what, lie, reason) => {
    const roles = await twoHubs(chain, lie, right);
    const { ledger, warnings } = await ledgers.open(hubs);
    const log = { ...SILENT_LOGGER, warn: (text: string) => void warnings.push(text) };
    const found = (await new Resolver({ ledger, log, pause: () => Promise.resolve() }).resolve(['note'])).get(
      'note',
    );
    expect(found).toBeInstanceOf(Txo);
    expect((found as Txo).txidHex).toBe(stream.txidHex);
    const { liar, honest } = roles();
    expect(askedAboutClaims(honest)).toBe(1);
    const name = `127.0.0.1:${liar.server.port}`;
    expect(
      warnings.filter((text) => text.includes(`The hub ${name} sent invalid data`) && text.includes(reason)),
    ).toHaveLength(1);
  });
});
