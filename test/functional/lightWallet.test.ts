/**
 * A light wallet on `-lightwallets`: it connects by P2P, follows headers, filter headers and filters, and finds its
 * payments, its spends and its claims.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatTransaction, txid } from '../../src/primitives/transaction.js';
import { buildClaimPrefix, buildSupportPrefix } from '../../src/script/claimScript.js';
import { hashFromHex, hashToHex, toHex } from '../../src/util/bytes.js';
import { hash160 } from '../../src/crypto/hash.js';
import { scriptForDestination, type Destination } from '../../src/script/standard.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import { regtestParams } from '../../src/params/regtest.js';
import { OPEN, startPeer, until } from './support/network.js';
import { LightWallet, matches } from './support/lightWallet.js';
import { ADDRESS, type RegtestNode } from './support/node.js';
import { hashOf, shown } from './support/rawMessages.js';

const TIP = 1110;
/** The redeem script `2`. The wallet can spend outputs that pay to its hash. */
const KEY_SCRIPT = Buffer.of(0x52);
const OWN: Destination = { type: 'scripthash', hash: hash160(KEY_SCRIPT) };
const OWN_SCRIPT = scriptForDestination(OWN);
const OWN_ADDRESS = encodeDestination(OWN, addressPrefixesOf(regtestParams));
const OPEN_SCRIPT = scriptForDestination(OPEN);

describe('-lightwallets', () => {
  let node: RegtestNode;
  let wallet: LightWallet;
  const spend = (
    prevout: string,
    outputs: { value: bigint; script: Buffer }[],
  ): { hex: Buffer; id: string } => {
    const tx = {
      version: 2,
      inputs: [
        {
          prevout: { hash: hashFromHex(prevout), index: 0 },
          scriptSig: Buffer.concat([Buffer.of(1), KEY_SCRIPT]),
          sequence: 0xffffffff,
          witness: [],
        },
      ],
      outputs,
      lockTime: 0,
    };
    return { hex: Buffer.from(formatTransaction(tx)), id: hashToHex(txid(tx)) };
  };
  const coinbaseAt = async (height: number): Promise<string> => {
    const hash = await node.rpc<string>('getblockhash', [height]);
    return (await node.rpc<{ tx: string[] }>('getblock', [hash])).tx[0]!;
  };
  beforeAll(async () => {
    node = await startPeer({ args: ['-lightwallets'] });
    // The wallet mines blocks 7 and 8.
    await node.rpc('generatetoaddress', [6, ADDRESS]);
    await node.rpc('generatetoaddress', [2, OWN_ADDRESS]);
    await node.rpc('generatetoaddress', [TIP - 8, ADDRESS]);
    const genesis = hashOf(await node.rpc('getblockhash', [0]));
    wallet = await LightWallet.connect(node.p2pPort, genesis, [OWN_SCRIPT]);
  });
  afterAll(async () => {
    wallet?.close();
    await node?.stop();
  });

  it('turns index and service bit on', async () => {
    expect(await node.rpc('getindexinfo')).toEqual({
      'basic block filter index': { synced: true, best_block_height: TIP },
    });
  });

  it('lets a wallet find its payments by downloading only a few blocks', async () => {
    await wallet.sync();
    expect(wallet.hashes).toHaveLength(TIP + 1);
    expect(shown(wallet.filterHeaders[TIP]!)).toBe(
      (await node.rpc<{ header: string }>('getblockfilter', [shown(wallet.hashes[TIP]!)])).header,
    );
    const paid = [{ n: 0, valueSat: 100_000_000n }];
    expect(wallet.found).toEqual([
      { height: 7, txid: await coinbaseAt(7), received: paid, spent: [] },
      { height: 8, txid: await coinbaseAt(8), received: paid, spent: [] },
    ]);
    // A filter has false positives: one in 784,931 elements.
    expect(wallet.fetched.length).toBeLessThanOrEqual(4);
    expect(wallet.balanceSat).toBe(200_000_000n);
  });

  it('finds its spends, and claims by the spent outputs', async () => {
    const coin = await coinbaseAt(7);
    const prefix = buildClaimPrefix(Buffer.from('light'), Buffer.from('value'));
    const claim = spend(coin, [
      { value: 50_000_000n, script: Buffer.concat([prefix, OWN_SCRIPT]) },
      { value: 49_000_000n, script: Buffer.from(OPEN_SCRIPT) },
    ]);
    await wallet.broadcast(claim.hex);
    await until('the transaction', async () =>
      (await node.rpc<string[]>('getrawmempool')).includes(claim.id),
    );
    await node.rpc('generatetoaddress', [1, ADDRESS]);
    await wallet.sync();
    expect(wallet.found.at(-1)).toEqual({
      height: TIP + 1,
      txid: claim.id,
      received: [],
      spent: [`${coin}:0`],
    });
    expect(wallet.balanceSat).toBe(100_000_000n);
  });

  it('contains whole claim scripts in filters: a support is found only by its whole script', async () => {
    const claimId = Buffer.alloc(20, 7);
    const script = Buffer.concat([buildSupportPrefix(Buffer.from('light'), claimId), OWN_SCRIPT]);
    const coin = await coinbaseAt(8);
    const support = spend(coin, [{ value: 99_000_000n, script }]);
    await node.rpc('sendrawtransaction', [toHex(support.hex)]);
    await node.rpc('generatetoaddress', [1, ADDRESS]);
    await wallet.sync();
    const [filter, hash] = [wallet.filters[TIP + 2]!, wallet.hashes[TIP + 2]!];
    expect(matches(filter, hash, [script])).toBe(true);
    // The spent coin belongs to the wallet, so its script is in the filter too. The filter of the next block has neither
    // script.
    expect(matches(filter, hash, [OWN_SCRIPT])).toBe(true);
    const spent = spend(support.id, [{ value: 98_000_000n, script: Buffer.from(OPEN_SCRIPT) }]);
    await node.rpc('sendrawtransaction', [toHex(spent.hex)]);
    await node.rpc('generatetoaddress', [1, ADDRESS]);
    await wallet.sync();
    const next = [wallet.filters[TIP + 3]!, wallet.hashes[TIP + 3]!] as const;
    expect(matches(...next, [script])).toBe(true);
    expect(matches(...next, [OWN_SCRIPT])).toBe(false);
  });

  it('leaves data outputs out', async () => {
    const script = Buffer.concat([Buffer.of(0x6a, 0x03), Buffer.from('abc')]);
    const hash = (await node.rpc<string[]>('generatetoaddress', [1, OWN_ADDRESS]))[0]!;
    await wallet.sync();
    expect(wallet.found.at(-1)).toMatchObject({ height: TIP + 4 });
    expect(matches(wallet.filters[TIP + 4]!, hashOf(hash), [OWN_SCRIPT])).toBe(true);
    expect(matches(wallet.filters[TIP + 4]!, hashOf(hash), [script])).toBe(false);
  });

  it('follows a reorganisation', async () => {
    await node.rpc('invalidateblock', [await node.rpc('getblockhash', [TIP + 4])]);
    await node.rpc('generatetoaddress', [3, ADDRESS]);
    const other = await LightWallet.connect(node.p2pPort, wallet.hashes[0]!, [OWN_SCRIPT]);
    await other.sync();
    expect(shown(other.hashes.at(-1)!)).toBe(await node.rpc('getbestblockhash'));
    expect(other.found.some(({ height }) => height === TIP + 4)).toBe(false);
    expect(other.balanceSat).toBe(0n);
    other.close();
  });
});
