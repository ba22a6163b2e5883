import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hash160, sha256 } from '../../../../src/crypto/hash.js';
import type { ConnectedBlock } from '../../../../src/chain/chainEvents.js';
import { txid, wtxid, type Transaction } from '../../../../src/primitives/transaction.js';
import { buildScript } from '../../../../src/script/script.js';
import {
  scriptForDestination,
  scriptForPublicKey,
  type Destination,
} from '../../../../src/script/standard.js';
import type { BlockNotice } from '../../../../src/server/notifications/blockNotice.js';
import { BlockNotice as Block } from '../../../../src/server/notifications/blockNotice.js';
import { serializedTx, TransactionNotice } from '../../../../src/server/notifications/transactionNotice.js';
import { hashToHex, toHex, toLatin1, type Bytes } from '../../../../src/util/bytes.js';
import type { MempoolEntry } from '../../../../src/mempool/mempoolReader.js';
import { claimScript } from './support.js';
import { bytesOf, ReportedWorld } from './support.js';

const KEY = Buffer.concat([Buffer.of(2), Buffer.alloc(32, 9)]);
const SCRIPT = Buffer.of(0x51);
const pay = (destination: Destination): Buffer => scriptForDestination(destination);

function transaction(
  inputs: { scriptSig?: Bytes; witness?: Bytes[] }[],
  scripts: readonly Bytes[] = [SCRIPT],
): Transaction {
  return {
    version: 2,
    inputs: inputs.map(({ scriptSig = Buffer.alloc(0), witness = [] }, i) => ({
      prevout: { hash: Buffer.alloc(32, i + 1), index: i },
      scriptSig,
      sequence: 0xffffffff,
      witness,
    })),
    outputs: scripts.map((script) => ({ value: 1n, script })),
    lockTime: 0,
  };
}

const entryOf = (tx: Transaction): MempoolEntry =>
  ({ txid: txid(tx), wtxid: wtxid(tx), weight: 401, feeSat: 1234n }) as unknown as MempoolEntry;
const noticeOf = (tx: Transaction): TransactionNotice =>
  TransactionNotice.unconfirmed(entryOf(tx), bytesOf(tx));
const concerns = (tx: Transaction, script: Bytes): boolean => noticeOf(tx).scripts.has(toLatin1(script));

describe('the scripts that a transaction concerns', () => {
  it('are those of its outputs, also with claims and bare keys', () => {
    const keyHash = pay({ type: 'pubkeyhash', hash: hash160(KEY) });
    const claim = Buffer.concat([claimScript(Buffer.from('name')).subarray(0, -1), keyHash]);
    const tx = transaction([{}], [claim, scriptForPublicKey(KEY), SCRIPT]);
    for (const script of [claim, keyHash, scriptForPublicKey(KEY), SCRIPT])
      expect(concerns(tx, script)).toBe(true);
    expect(concerns(tx, pay({ type: 'pubkeyhash', hash: hash160(SCRIPT) }))).toBe(false);
  });

  it.each([
    [
      'a key hash',
      { scriptSig: buildScript(Buffer.alloc(71, 1), KEY) },
      { type: 'pubkeyhash', hash: hash160(KEY) },
    ],
    ['a script hash', { scriptSig: buildScript(SCRIPT) }, { type: 'scripthash', hash: hash160(SCRIPT) }],
    [
      'a witness key hash',
      { witness: [Buffer.alloc(71, 1), KEY] },
      { type: 'witness_v0_keyhash', hash: hash160(KEY) },
    ],
    [
      'a witness script hash',
      { witness: [Buffer.alloc(0), SCRIPT] },
      { type: 'witness_v0_scripthash', hash: sha256(SCRIPT) },
    ],
  ] as const)('include that of an input that unlocks %s', (_what, input, destination) => {
    const inputs = [{}, input as { scriptSig?: Bytes; witness?: Bytes[] }];
    expect(concerns(transaction(inputs), pay(destination))).toBe(true);
    expect(concerns(transaction([{}]), pay(destination))).toBe(false);
  });
});

describe('the message about a transaction', () => {
  let world: ReportedWorld;
  beforeAll(async () => {
    world = await ReportedWorld.open(1);
  });
  afterAll(() => world.close());

  it('reports the mempool, with the bytes on request', () => {
    const tx = transaction([{ witness: [KEY] }]);
    const notice = noticeOf(tx);
    const message = {
      event: 'added',
      txid: hashToHex(txid(tx)),
      hash: hashToHex(wtxid(tx)),
      size: bytesOf(tx).length,
      vsize: 101,
      weight: 401,
      fee: 0.00001234,
    };
    expect(JSON.parse(notice.json)).toEqual(message);
    expect(JSON.parse(notice.jsonWithHex)).toEqual({ ...message, hex: toHex(bytesOf(tx)) });
    const gone = TransactionNotice.unconfirmed(entryOf(tx), bytesOf(tx), 'replaced');
    expect(JSON.parse(gone.json)).toEqual({ ...message, event: 'removed', reason: 'replaced' });
  });

  it('reports a block', async () => {
    const { raw, parsed, hash } = await world.pool.chain.blockAt(1);
    const block = { id: 1, height: 1, hash, raw, parsed, claimEvents: [] } as ConnectedBlock;
    const notice: BlockNotice = new Block(block, false);
    const id = hashToHex(Buffer.from(parsed.txids.subarray(0, 32)));
    const reported = TransactionNotice.ofBlock(notice, 0);
    expect(JSON.parse(reported.json)).toMatchObject({
      event: 'disconnected',
      txid: id,
      blockhash: hashToHex(hash),
      height: 1,
      index: 0,
    });
    // A coinbase spends no script. The scripts are those of its outputs.
    expect([...reported.scripts]).toContain(toLatin1(SCRIPT));
    expect(JSON.parse(notice.json)).toEqual({
      event: 'disconnected',
      hash: hashToHex(hash),
      height: 1,
      previousblockhash: hashToHex(raw.subarray(4, 36)),
      time: raw.readUInt32LE(100),
      size: raw.length,
      nTx: 1,
    });
    // The coinbase has a witness from segwit on; without it the id is the hash of the bytes.
    const stripped = serializedTx(notice, 0, false);
    expect(hashToHex(sha256(sha256(stripped)))).toBe(id);
    expect(serializedTx(notice, 0, true).length).toBeGreaterThanOrEqual(stripped.length);
  });
});
