/**
 * The claim index of a real node: a reorganisation, an index that is enabled on an existing chain, and a kill while it is filled.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ecdsaBackend } from '../../src/crypto/ecdsa.js';
import { hash160, sha256 } from '../../src/crypto/hash.js';
import { regtestParams } from '../../src/params/regtest.js';
import { formatTransaction, txid, type Transaction } from '../../src/primitives/transaction.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import { buildClaimPrefix, buildSupportPrefix, claimIdOf } from '../../src/script/claimScript.js';
import { scriptForDestination } from '../../src/script/standard.js';
import { hashFromHex, hashToHex, toHex } from '../../src/util/bytes.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';
import { runToEnd } from './support/process.js';
import { longIt } from '../support/long.js';

/** A script that is always true. Anyone can spend an output that pays to its hash. */
const REDEEM = Buffer.of(0x51);
const OPEN = { type: 'scripthash', hash: hash160(REDEEM) } as const;
const OPEN_ADDRESS = encodeDestination(OPEN, addressPrefixesOf(regtestParams));
const OPEN_SCRIPT = scriptForDestination(OPEN);
const KEY = sha256(Buffer.from('a channel'));
const AMOUNT = 1_000_000n;
const STREAM = Buffer.of(0x0a, 0);

interface Claim {
  claim_id: string;
  canonical_url: string;
  height: number;
  support_amount: number;
  is_channel_signature_valid?: boolean;
  signing_channel?: { claim_id: string };
  reposted_claim?: { claim_id: string };
  value?: unknown;
  error?: { name: string; text: string };
}

describe('-claimindex', () => {
  let folder: string;
  let node: RegtestNode;
  let coinbase = 1;
  const start = async (...args: string[]): Promise<void> => {
    node = await startRegtest({ dataDir: folder, args });
  };
  const resolve = async (...urls: string[]): Promise<Claim[]> => {
    const answer = await node.rpc<Record<string, Claim>>('resolve', [urls, true]);
    return urls.map((url) => answer[url]!);
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'lbcnode-claims-'));
    await start('-claimindex');
    await node.rpc('generatetoaddress', [10, OPEN_ADDRESS]);
    await node.rpc('generatetoaddress', [100, ADDRESS]);
  });
  afterAll(async () => {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Sends a transaction that spends an unused coinbase. `outputsOf` makes the outputs from the first input. */
  async function send(outputsOf: (firstInput: Buffer) => Buffer[]): Promise<Transaction> {
    const block = await node.rpc<string>('getblockhash', [coinbase++]);
    const { tx: ids } = await node.rpc<{ tx: string[] }>('getblock', [block]);
    const { value } = await node.rpc<{ value: number }>('gettxout', [ids[0], 0]);
    const hash = hashFromHex(ids[0]!);
    const outputs = outputsOf(Buffer.concat([hash, Buffer.alloc(4)]));
    const change = BigInt(Math.round(value * 1e8)) - AMOUNT * BigInt(outputs.length) - 1_000_000n;
    const tx: Transaction = {
      version: 2,
      inputs: [
        {
          prevout: { hash, index: 0 },
          scriptSig: Buffer.from([1, ...REDEEM]),
          sequence: 0xffffffff,
          witness: [],
        },
      ],
      outputs: [
        ...outputs.map((prefix) => ({ value: AMOUNT, script: Buffer.concat([prefix, OPEN_SCRIPT]) })),
        { value: change, script: OPEN_SCRIPT },
      ],
      lockTime: 0,
    };
    await node.rpc('sendrawtransaction', [toHex(formatTransaction(tx))]);
    return tx;
  }

  let channelId: Buffer;
  let streamId: Buffer;
  const printed = (id: Buffer): string => hashToHex(id);

  it('includes a claim with its block, and removes it with the block', async () => {
    const key = ecdsaBackend().publicKeyOf(KEY, true);
    const channel = await send(() => [
      buildClaimPrefix(Buffer.from('@c'), Buffer.concat([Buffer.of(0, 0x12, 35, 0x0a, 33), key])),
    ]);
    channelId = claimIdOf(txid(channel), 0);
    await node.rpc('generatetoaddress', [1, ADDRESS]);
    const stream = await send((firstInput) => {
      const digest = sha256(Buffer.concat([firstInput, channelId, STREAM]));
      const signature = ecdsaBackend().sign(digest, KEY, null).compact;
      return [
        buildClaimPrefix(Buffer.from('Foo'), Buffer.concat([Buffer.of(1), channelId, signature, STREAM])),
      ];
    });
    streamId = claimIdOf(txid(stream), 0);
    expect((await resolve('foo'))[0]!.error).toEqual({
      name: 'NOT_FOUND',
      text: 'Could not find claim at "foo".',
    });
    await node.rpc('generatetoaddress', [1, ADDRESS]);
    await send(() => [
      buildClaimPrefix(Buffer.from('again'), Buffer.concat([Buffer.of(0, 0x22, 22, 0x0a, 20), streamId])),
      buildSupportPrefix(Buffer.from('foo'), streamId),
    ]);
    const [block] = await node.rpc<string[]>('generatetoaddress', [1, ADDRESS]);
    const digits = printed(streamId).slice(0, 1);
    const channelDigits = printed(channelId).slice(0, 1);
    const [found, again, alone] = await resolve('lbry://@c/Foo', 'again', '@c');
    expect(found).toMatchObject({
      claim_id: printed(streamId),
      canonical_url: `lbry://@c#${channelDigits}/Foo#${digits}`,
      support_amount: 0.01,
      reposted: 1,
      is_channel_signature_valid: true,
      value_type: 'stream',
      value: {},
      signing_channel: { claim_id: printed(channelId), claims_in_channel: 1 },
    });
    expect(again).toMatchObject({
      value_type: 'repost',
      reposted_claim: { claim_id: printed(streamId), signing_channel: { claim_id: printed(channelId) } },
    });
    expect(alone).toMatchObject({ claim_id: printed(channelId), value: { public_key: toHex(key) } });
    expect(await node.rpc('getclaim', [printed(streamId)])).toEqual(found);

    await node.rpc('invalidateblock', [block]);
    const [before, gone] = await resolve('@c/Foo', 'again');
    expect(before).toMatchObject({ support_amount: 0, reposted: 0 });
    expect(gone).toHaveProperty('error');
    await node.rpc('reconsiderblock', [block]);
    expect(await resolve('lbry://@c/Foo', 'again', '@c')).toEqual([found, again, alone]);
  });

  longIt('is built in the background, with kills in between, with the same answers', async () => {
    const urls = ['@c/foo', '@c', 'foo', 'again', `foo#${printed(streamId)}`];
    await node.stop();
    await start();
    await expect(node.rpc('resolve', ['foo'])).rejects.toThrow('Start with -claimindex');
    await node.rpc('generatetoaddress', [60, ADDRESS]);
    await node.stop();
    const died = runToEnd(folder, ['-claimindex'], { LBCNODE_CRASH_AT: 'fill:block-written@20' });
    expect(died.signal).toBe('SIGKILL');
    await start('-claimindex');
    await node.rpc('generatetoaddress', [3, ADDRESS]);
    await node.kill();
    await start('-claimindex');
    const height = await node.rpc<number>('getblockcount');
    for (;;) {
      const info = await node.rpc<{ synced: boolean }>('getclaimindexinfo');
      if (info.synced) break;
    }
    expect(await node.rpc('getclaimindexinfo')).toMatchObject({
      synced: true,
      height,
      tip_height: height,
      progress: 1,
      claims: { total: 3, streams: 1, channels: 1, collections: 0, reposts: 1, unknown: 0 },
    });
    const filled = await resolve(...urls);
    expect(filled[0]).toMatchObject({ claim_id: printed(streamId), is_channel_signature_valid: true });
    await node.stop();
    await start('-reindex-chainstate', '-claimindex');
    expect(await resolve(...urls)).toEqual(filled);
  });
});
