/**
 * Twenty peers that send expensive transactions as fast as they can: transactions with very many parts, with unknown parents, and
 * with many signatures whose last one is invalid. The node disconnects none of these peers, and its other work continues
 * meanwhile (`support/unbraked.ts`). Nonstandard transactions are refused, as on the main network.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExpensiveSignatures, longWitness, manyOutputs } from './support/expensiveTransactions.js';
import { OPEN_ADDRESS, startPeer } from './support/network.js';
import { ADDRESS, type RegtestNode } from './support/node.js';
import { coinbaseAt, mineBlock, placeAt, transaction, txid, type Output } from './support/rawChain.js';
import { hashOf } from './support/rawMessages.js';
import { frame, RawPeer } from './support/rawPeer.js';
import { CAN_TELL, UnbrakedPeers } from './support/unbraked.js';

const COIN_SAT = 100_000_000n;
/** Number of outputs of a transaction whose outputs anyone can spend. */
const FAN_OUTPUTS = 2000;
/** Number of inputs of a transaction. They take about 30 kB. */
const INPUTS = 700;
/** Number of orphan transactions, more than the node keeps (-maxorphantx). */
const ORPHANS = 150;
/**
 * Number of the most expensive inputs in one transaction. Cheap inputs of this number are checked on the thread of the event
 * loop.
 */
const EXPENSIVE_INPUTS = 4;
const EXPENSIVE_SAT = 10_000_000n;

describe.runIf(CAN_TELL)('floods of transactions', () => {
  let honest: RegtestNode;
  let peers: UnbrakedPeers;
  let fan: Buffer;
  let expensive: Buffer;
  const signatures = new ExpensiveSignatures();

  /** Mines a transaction that spends the coinbase of a block. */
  async function mine(height: number, outputs: readonly Output[]): Promise<Buffer> {
    const tx = transaction([{ txid: hashOf(await coinbaseAt(honest, height)) }], outputs);
    const block = mineBlock(await placeAt(honest), [tx]);
    const refusal = await honest.rpc('submitblock', [block.raw.toString('hex')]);
    if (refusal !== null) throw new Error(`a block was refused: ${String(refusal)}`);
    return txid(tx);
  }

  beforeAll(async () => {
    honest = await startPeer();
    await honest.rpc('generatetoaddress', [10, OPEN_ADDRESS]);
    await honest.rpc('generatetoaddress', [500, ADDRESS]);
    fan = await mine(
      1,
      Array.from({ length: FAN_OUTPUTS }, () => ({ valueSat: COIN_SAT / BigInt(FAN_OUTPUTS + 1) })),
    );
    const script = signatures.outputScript;
    expensive = await mine(
      2,
      Array.from({ length: EXPENSIVE_INPUTS }, () => ({ valueSat: EXPENSIVE_SAT, script })),
    );
    peers = await UnbrakedPeers.start(honest, { isWhitelisted: false, args: ['-acceptnonstdtxn=0'] });
  });
  afterAll(() => peers.stop());

  /** Transactions that spend existing outputs and a missing one. */
  const orphans = (known: number): Buffer =>
    Buffer.concat(
      Array.from({ length: ORPHANS }, () => {
        const inputs = Array.from({ length: INPUTS }, (_, index) =>
          index < known ? { txid: fan, index } : { txid: randomBytes(32) },
        );
        return frame('tx', transaction(inputs, [{ valueSat: 10_000n }]));
      }),
    );
  const wrongSignature = (): Buffer =>
    signatures.spend(
      Array.from({ length: EXPENSIVE_INPUTS }, (_, index) => ({
        txid: expensive,
        index,
        valueSat: EXPENSIVE_SAT,
      })),
    );

  it('whose last signature is invalid are refused each time, without a ban', async () => {
    const peer = await RawPeer.greet(peers.node.p2pPort);
    const { rejected } = await peers.node
      .rpc<{ 'reject-reason'?: string }[]>('testmempoolaccept', [[wrongSignature().toString('hex')], true])
      .then(([verdict]) => ({ rejected: verdict!['reject-reason'] }));
    expect(rejected).toContain('non-mandatory-script-verify-flag');
    peer.close();
  });

  const floods: [string, () => Buffer][] = [
    ['a witness of two million items', () => frame('tx', longWitness(1_900_000))],
    ['very many outputs', () => frame('tx', manyOutputs(200_000))],
    ['unknown parents', () => orphans(0)],
    ['one unknown parent', () => orphans(INPUTS - 1)],
    ['a wrong signature after many valid ones', () => frame('tx', wrongSignature())],
  ];
  it.each(floods)('delay no other client: %s', (name, make) => peers.expectToStand(name, make));
});
