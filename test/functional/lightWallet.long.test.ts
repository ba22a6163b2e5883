/**
 * Compares compact filters with those of lbcd: the same light wallet follows a chain with many claims from both by P2P, and
 * receives the same filters and filter headers.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { scriptForDestination } from '../../src/script/standard.js';
import { ClaimSource } from './support/claimSource.js';
import { LightWallet } from './support/lightWallet.js';
import { OPEN, OPEN_ADDRESS, peersOf, startPeer, until } from './support/network.js';
import { hashOf, shown } from './support/rawMessages.js';
import { referenceBinary, startLbcd } from './support/reference.js';

const lbcd = referenceBinary('LBCD');
const PREMINED = 130;
const LAST_HEIGHT = 345;
const OPEN_SCRIPT = Buffer.from(scriptForDestination(OPEN));

describe.runIf(lbcd)('compact filters beside lbcd', () => {
  const closers: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  it.each([1, 203])('are the same on chain %i, to a light wallet of both', async (seed) => {
    const them = await startLbcd(lbcd!);
    closers.push(() => them.stop());
    const node = await startPeer({
      args: [
        '-supportdelay=proportional',
        '-lightwallets',
        `-connect=127.0.0.1:${them.p2pPort}`,
        '-listen=1',
      ],
    });
    closers.push(() => node.stop());
    await until('the handshake', async () => (await peersOf(node)).some(({ version }) => version > 0));
    await node.rpc('generatetoaddress', [PREMINED, OPEN_ADDRESS]);
    const shares = seed > 200 ? { claims: 4, supports: 3, updates: 2, followed: 6 } : undefined;
    const source = new ClaimSource(node, seed, shares);
    for (let height = PREMINED; height < LAST_HEIGHT; height++) {
      if (height !== 249 && height !== 299)
        for (const hex of await source.take(height % 4)) await node.rpc('sendrawtransaction', [hex]);
      await node.rpc('generatetoaddress', [1, OPEN_ADDRESS]);
    }
    const tip = await node.rpc<string>('getbestblockhash');
    await until('the same tip', async () => (await them.rpc('getbestblockhash')) === tip);
    const genesis = hashOf(await node.rpc('getblockhash', [0]));
    const wallets: LightWallet[] = [];
    for (const port of [node.p2pPort, them.p2pPort]) {
      const wallet = await LightWallet.connect(port, genesis, [OPEN_SCRIPT]);
      closers.push(() => wallet.close());
      await wallet.sync();
      wallets.push(wallet);
    }
    const [ours, theirs] = wallets as [LightWallet, LightWallet];
    expect(ours.filterHeaders.map(shown)).toEqual(theirs.filterHeaders.map(shown));
    expect(ours.filters.map((filter) => filter.toString('hex'))).toEqual(
      theirs.filters.map((filter) => filter.toString('hex')),
    );
    expect(ours.found.length).toBeGreaterThan(LAST_HEIGHT - 10);
    expect(ours.found).toEqual(theirs.found);
    expect(ours.balanceSat).toBe(theirs.balanceSat);
  });
});
