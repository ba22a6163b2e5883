/** Wallets with a ledger and a hub: their state from a chain, and the same state after the loss of the ledger. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hash160 } from '../../../../src/crypto/hash.js';
import { systemClock, systemRandom } from '../../../../src/daemon/base/clock.js';
import type { OpenLedger, LedgerOptions } from '../../../../src/daemon/ledger/openLedger.js';
import { claimOutput, payKeyHash, type NewOutput } from '../../../../src/daemon/wallet/tx/newOutputs.js';
import { DaemonWallets } from '../../../../src/daemon/wallet/wallets.js';
import { encodeClaim } from '../../../../src/metadata/claim.js';
import { ClaimSchema } from '../../../../src/metadata/messages/claim_pb.js';
import { decodeDestination } from '../../../../src/script/address.js';
import { FakeChain, FakeHub } from '../../../support/fakeHub.js';
import { foreignOutPoint, made, regtest, transactionOf } from '../../../support/ledgerTransactions.js';
import { TestLedgers } from '../../../support/testLedger.js';

const ledgers = new TestLedgers();
const hubs: FakeHub[] = [];
let folder: string;
let chain: FakeChain;
let count = 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-hub-'));
  chain = new FakeChain();
});
afterEach(async () => {
  await ledgers.closeAll();
  for (const hub of hubs.splice(0)) await hub.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function startHub(on: FakeChain): Promise<FakeHub> {
  const hub = await FakeHub.start(on);
  hubs.push(hub);
  return hub;
}

/** Opens the wallets of the folder with a new ledger. */
async function openOn(
  hub: FakeHub,
  options: Partial<LedgerOptions> = {},
): Promise<{ wallets: DaemonWallets; ledger: OpenLedger }> {
  const { ledger } = await ledgers.open([hub], options);
  const wallets = await DaemonWallets.open(['default_wallet'], {
    folder,
    ledger,
    tools: { clock: systemClock, random: systemRandom },
    warn: (text) => expect.unreachable(text),
  });
  await wallets.begin();
  return { wallets, ledger };
}

/** Mines a payment of a foreign wallet in the next block. */
function mine(output: NewOutput): void {
  chain.mempool.push(made(transactionOf([foreignOutPoint(`${count++}`)], [output])));
  chain.mine();
}

function payTo(address: string): NewOutput {
  const destination = decodeDestination(address, regtest.addressPrefixes);
  if (destination?.type !== 'pubkeyhash') throw new Error(`${address} is of no key`);
  return payKeyHash(1000n, destination.hash);
}

/** Polls the ledger of the wallet until the condition is true. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('wallets on a hub', () => {
  it('return an address until it is used, also after their ledger was lost', async () => {
    const hub = await startHub(chain);
    const { wallets, ledger } = await openOn(hub);
    const account = wallets.default.account();
    const used = new Set<string>();
    for (let n = 1; n <= 25; n++) {
      const address = await account.nextReceivingAddress();
      expect(used.has(address)).toBe(false);
      used.add(address);
      mine(payTo(address));
      hub.tell();
      await until(async () => (await account.balance()).total === BigInt(n) * 1000n);
    }
    await ledgers.close(ledger);
    const again = (await openOn(hub)).wallets.default.account();
    expect((await again.balance()).total).toBe(25_000n);
    expect((await again.balance(5)).total).toBe(21_000n);
    expect((await again.balance(1000)).total).toBe(0n);
    expect(used.has(await again.nextReceivingAddress())).toBe(false);
  });

  it('find the next channel key again, if its channels were created elsewhere', async () => {
    const hub = await startHub(chain);
    const { wallets, ledger } = await openOn(hub);
    const account = wallets.default.account();
    const keys = [0, 1, 2].map((number) => account.account.key(2, number));
    for (const number of [1, 0]) {
      const { publicKey } = keys[number]!;
      const claim = create(ClaimSchema, { type: { case: 'channel', value: { publicKey } } });
      const value = encodeClaim({ channelId: null, signature: null, claim });
      mine(claimOutput(1000n, `@${number}`, value, hash160(account.keyAt(0, number).publicKey)));
    }
    hub.tell();
    await until(async () => (await account.balance()).claims === 2000n);
    expect((await account.channelKeys.next()).publicKey).toEqual(keys[2]!.publicKey);
    await ledgers.close(ledger);
    const again = (await openOn(hub)).wallets.default.account();
    expect(again.channelKeys.keyFor(keys[1]!.publicKey)).toEqual(keys[1]!.privateKey);
    expect((await again.channelKeys.next()).publicKey).toEqual(keys[2]!.publicKey);
  });

  it('are usable at the start while their only hub is behind their chain, and follow it later', async () => {
    const hub = await startHub(chain);
    const first = await openOn(hub, { folder });
    mine(payTo(await first.wallets.default.account().nextReceivingAddress()));
    chain.mine(2);
    hub.tell();
    await until(
      async () => first.ledger.height === 3 && (await first.wallets.default.balance()).total === 1000n,
    );
    await ledgers.close(first.ledger);

    const branch = chain.branch(0, 2);
    branch.mempool.length = 0;
    branch.mine();
    for (const shorter of [chain.branch(1, 1), branch]) {
      hub.chain = shorter;
      const { wallets, ledger } = await openOn(hub, { folder });
      expect(ledger.height).toBe(3);
      expect((await wallets.default.balance()).total).toBe(1000n);
      expect(ledger.isSynced(wallets.default.account().id)).toBe(false);
      await ledgers.close(ledger);
    }

    const { wallets, ledger } = await openOn(hub, { folder });
    hub.chain = chain;
    mine(payTo(await wallets.default.account().nextReceivingAddress()));
    hub.tell();
    await ledger.whenSynced();
    await until(async () => ledger.height === 4 && (await wallets.default.balance()).total === 2000n);
  });

  it('follow the configured servers', async () => {
    const first = await startHub(chain);
    const servers = [first.server];
    const { wallets, ledger } = await openOn(first, { servers: () => [...servers] });
    chain.mine(2);
    const other = await startHub(chain);
    const address = await wallets.default.account().nextReceivingAddress();
    mine(payTo(address));
    servers[0] = other.server;
    expect(await ledger.reconnect()).toBe(true);
    expect(ledger.status()).toMatchObject({ connected: `${other.server.host}:${other.server.port}` });
    await until(async () => (await wallets.default.balance()).total === 1000n);
    expect(ledger.status()).toMatchObject({
      connected: `${other.server.host}:${other.server.port}`,
      known_servers: 1,
      blocks: 3,
    });
  });
});
