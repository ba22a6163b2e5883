/** Messages that the reference sent: each is parsed to the expected values and serialized to the same bytes. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { BloomFilter } from '../../../../src/net/bloom/bloomFilter.js';
import {
  buildCompactBlock,
  PartialBlock,
  pickTransactions,
} from '../../../../src/net/compact/compactBlock.js';
import { provedTransactions } from '../../../../src/consensus/partialMerkleTree.js';
import { INV } from '../../../../src/net/inventory.js';
import { buildMerkleBlock } from '../../../../src/net/merkleBlock.js';
import { formatPayload, parsePayload, type MessageCodec } from '../../../../src/net/messages/codec.js';
import { MESSAGES, type Command, type Payload } from '../../../../src/net/messages/table.js';
import { NO_ADDRESS } from '../../../../src/net/netAddress.js';
import { hash160 } from '../../../../src/crypto/hash.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { formatBlock, parseBlockBytes } from '../../../../src/primitives/block.js';
import { txidAt, wtxidAt } from '../../../../src/primitives/blockView.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { atOnce, type Slices } from '../../../../src/util/slices.js';

const recorded = JSON.parse(readFileSync(new URL('../../../vectors/p2p.json', import.meta.url), 'utf8')) as {
  rawBlock: string;
  messages: [Command, string][];
};

const block = loadBlock(Buffer.from(recorded.rawBlock, 'hex'));

function payloadOf(command: Command): Buffer {
  return Buffer.from(recorded.messages.find(([name]) => name === command)![1], 'hex');
}

function parsed<C extends Command>(command: C): Payload<C> {
  return parsePayload(MESSAGES[command] as unknown as MessageCodec<Payload<C>>, payloadOf(command));
}

const hexOf = <C extends Command>(command: C, value: Payload<C>): string =>
  formatPayload(MESSAGES[command] as unknown as MessageCodec<Payload<C>>, value).toString('hex');

describe('messages of the reference', () => {
  it.each(recorded.messages)('%s is written back to the same bytes', (command, hex) => {
    const codec = MESSAGES[command] as MessageCodec<unknown>;
    const value = parsePayload(codec, Buffer.from(hex, 'hex'));
    expect(formatPayload(codec, value).toString('hex')).toBe(hex);
  });

  it('identify the node', () => {
    expect(parsed('version')).toMatchObject({
      version: 70015,
      services: 0x40dn,
      receiver: NO_ADDRESS,
      receiverServices: 0n,
      sender: NO_ADDRESS,
      senderServices: 0x40dn,
      userAgent: '/LBRY:0.17.3.3/',
      startHeight: 200,
      relay: true,
    });
  });

  it('request data', () => {
    const sent = recorded.messages.filter(([command]) => command === 'sendcmpct');
    expect(sent.map(([, hex]) => parsePayload(MESSAGES.sendcmpct, Buffer.from(hex, 'hex')))).toEqual([
      { announce: false, version: 2n },
      { announce: false, version: 1n },
    ]);
    expect(parsed('getheaders').locator.at(-1)).toEqual(regtestParams.genesisHash);
    expect(parsed('notfound')).toEqual({ items: [{ type: INV.witnessTx, hash: Buffer.alloc(32, 3) }] });
    expect(parsed('inv').items.map(({ type }) => type)).toEqual(Array(8).fill(INV.tx));
  });

  it('report why something was not accepted', () => {
    const sent = recorded.messages.filter(([command]) => command === 'reject');
    const [first, , third] = sent.map(([, hex]) => parsePayload(MESSAGES.reject, Buffer.from(hex, 'hex')));
    expect(first).toEqual({ message: 'getdata', code: 1, reason: 'error parsing message', hash: null });
    expect(third).toMatchObject({ message: 'tx', code: 16, reason: 'bad-txns-vout-negative' });
    expect(third!.hash!.length).toBe(32);
  });
});

describe('a block of the reference', () => {
  it('has an equal compact block', () => {
    const { nonce } = parsed('cmpctblock');
    expect(hexOf('cmpctblock', buildCompactBlock(block, nonce, true))).toBe(
      payloadOf('cmpctblock').toString('hex'),
    );
  });

  it('is assembled from compact block, mempool and blocktxn', () => {
    const begun = PartialBlock.begin(parsed('cmpctblock'));
    if (begun.status !== 'ok') throw new Error(begun.status);
    const bytes = pickTransactions(block, [1, 2, 3, 4, 5], true)!;
    begun.partial.fill(bytes.map((tx, i) => ({ wtxid: wtxidAt(block.parsed, i + 1), bytes: tx })));
    const missing = begun.partial.missing();
    expect(missing).toEqual([6, 7, 8]);
    const { blockHash, txs } = parsed('blocktxn');
    expect(blockHash).toEqual(block.hash);
    expect(pickTransactions(block, missing, true)).toEqual(txs);
    const done = begun.partial.complete(txs);
    expect(done.status === 'ok' && done.block.raw.equals(block.raw)).toBe(true);
  });

  it('is sent without witness to a peer that does not want one', () => {
    expect(formatBlock(parseBlockBytes(block.raw), false).equals(payloadOf('block'))).toBe(true);
  });

  it('has an equal merkle block', () => {
    // The filter held the hash that four transactions with witness and the coinbase pay to, and the id of one more.
    const matches = provedTransactions(parsed('merkleblock').tree)!.txids.map(hashToHex);
    const places = Array.from({ length: block.parsed.txCount }, (_, tx) => tx);
    const byId = places.filter(
      (tx) =>
        matches.includes(hashToHex(txidAt(block.parsed, tx))) &&
        txidAt(block.parsed, tx).equals(wtxidAt(block.parsed, tx)),
    );
    expect([matches.length, byId.length]).toEqual([6, 1]);
    const filter = BloomFilter.create({ elements: 10, falsePositiveRate: 1e-6, tweak: 5, flags: 1 });
    filter.insert(hash160(Buffer.of(0x51)));
    filter.insert(txidAt(block.parsed, byId[0]!));
    const isMatch = (tx: number): Slices<boolean> =>
      filter.isRelevantAndUpdateInSlices(block.raw, block.parsed, tx);
    const made = atOnce(buildMerkleBlock(block, isMatch));
    expect(hexOf('merkleblock', made.message)).toBe(payloadOf('merkleblock').toString('hex'));
  });
});
