/** Keys and scripts that are added after the transactions that pay to them. The coins are spendable and counted at once. */
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hash160, sha256 } from '../../../../src/crypto/hash.js';
import { OP } from '../../../../src/script/opcodes.js';
import { buildScript } from '../../../../src/script/script.js';
import { scriptForDestination, scriptForPublicKey } from '../../../../src/script/standard.js';
import { ecdsaBackend } from '../../../../src/crypto/ecdsa.js';
import type { Bytes } from '../../../../src/util/bytes.js';
import { plainMetadata } from '../../../../src/wallet/keys/keyRecords.js';
import { setNewSeed } from '../../../../src/wallet/keys/newSeed.js';
import { balance } from '../../../../src/wallet/ledger/balances.js';
import { OtherDestinations } from '../../../../src/wallet/ledger/otherDestinations.js';
import { importScript, isSpendable } from '../../../../src/wallet/transfer/imports.js';
import type { Wallet } from '../../../../src/wallet/wallet.js';
import { newScripts, payment, ScanWorld, standOf } from './scanWorld.js';

let world: ScanWorld;
beforeEach(() => {
  world = new ScanWorld();
});
afterEach(() => world.close());

const seedOf = (wallet: Wallet): Buffer =>
  Buffer.from(wallet.keyring.signingKey(wallet.hd.state!.seedId)!.privateKey);

const spendableSat = ({ ledger }: Wallet): bigint =>
  balance(ledger, { spendsUnconfirmedChange: true, isFinal: () => true }).trusted;

async function watch(wallet: Wallet, scripts: readonly Bytes[]): Promise<void> {
  await wallet.change((batch) => {
    for (const script of scripts) importScript(wallet, batch, script, '');
  });
}

/** The state of the wallet must be the same after it was closed and opened again. */
async function expectLasting(wallet: Wallet, name: string): Promise<void> {
  const stand = standOf(wallet);
  await world.shut(wallet);
  expect(standOf(await world.load(name))).toEqual(stand);
}

describe('coins of watched addresses', () => {
  /** A wallet that watches scripts of another wallet with the same seed, to which payments were made. */
  async function watcher(): Promise<{ wallet: Wallet; seed: Buffer }> {
    const source = await world.make('source');
    const scripts = newScripts(source, 3);
    const seed = seedOf(source);
    const wallet = await world.make('watcher');
    await watch(wallet, scripts);
    world.mine([payment(scripts), payment([scripts[0]!])]);
    await wallet.events.caughtUp();
    expect(spendableSat(wallet)).toBe(0n);
    return { wallet, seed };
  }

  it('are spendable when the call that set their seed has returned', async () => {
    const { wallet, seed } = await watcher();
    await setNewSeed(wallet, { privateKey: seed, compressed: true }, true);
    expect(spendableSat(wallet)).toBe(4000n);
    await expectLasting(wallet, 'watcher');
  });

  it('are spendable after the pool was filled from the seed set before', async () => {
    const { wallet, seed } = await watcher();
    await setNewSeed(wallet, { privateKey: seed, compressed: true }, false);
    expect(spendableSat(wallet)).toBe(0n);
    // Each new address after the first makes a key for the one that left the pool before.
    for (let n = 0; n < 2; n++) await wallet.keys.take(false);
    expect(spendableSat(wallet)).toBe(2000n);
    await wallet.keys.topUp(8);
    expect(spendableSat(wallet)).toBe(4000n);
    await expectLasting(wallet, 'watcher');
  });

  it('are spendable if a block uses keys of the pool, so that new ones are created', async () => {
    const { wallet, seed } = await watcher();
    await setNewSeed(wallet, { privateKey: seed, compressed: true }, false);
    const reserved = wallet.keypool.reserve(false)!;
    wallet.keypool.giveBack(reserved);
    const pooled = scriptForDestination({ type: 'pubkeyhash', hash: hash160(reserved.key.publicKey) });
    world.mine([payment([pooled])]);
    await wallet.events.caughtUp();
    // Payments to the key pool, and to the first watched key of the seed.
    expect(spendableSat(wallet)).toBe(3000n);
    await expectLasting(wallet, 'watcher');
  });
});

describe('outputs of known transactions', () => {
  const key = () => {
    const privateKey = randomBytes(32);
    const publicKey = ecdsaBackend().publicKeyOf(privateKey, true);
    return { privateKey, publicKey, id: hash160(publicKey) };
  };
  const p2sh = (script: Bytes) => scriptForDestination({ type: 'scripthash', hash: hash160(script) });
  const p2wsh = (script: Bytes) =>
    scriptForDestination({ type: 'witness_v0_scripthash', hash: sha256(script) });

  it.each(['keys first', 'scripts first'])(
    'belong to the wallet in every form, %s, and after a restart',
    async (order) => {
      const [one, two] = [key(), key()];
      const program = scriptForDestination({ type: 'witness_v0_keyhash', hash: one.id });
      const multisig = buildScript(OP.OP_2, one.publicKey, two.publicKey, OP.OP_2, OP.OP_CHECKMULTISIG);
      const outputs = [
        scriptForDestination({ type: 'pubkeyhash', hash: one.id }),
        scriptForPublicKey(one.publicKey),
        program,
        p2sh(program),
        p2sh(multisig),
        p2wsh(multisig),
        p2sh(p2wsh(multisig)),
        scriptForDestination({ type: 'pubkeyhash', hash: two.id }),
      ];
      const wallet = await world.make('some');
      const [own] = newScripts(wallet, 1);
      world.mine([payment([own!, ...outputs])]);
      await wallet.events.caughtUp();
      expect(spendableSat(wallet)).toBe(1000n);
      const steps = [
        ...[one, two].map(
          ({ privateKey, publicKey }) =>
            () =>
              wallet.change((batch) => wallet.keyring.addKey(batch, privateKey, publicKey, plainMetadata(1))),
        ),
        ...[p2wsh(multisig), multisig].map(
          (script) => () => wallet.change((batch) => wallet.keyring.addScript(batch, script)),
        ),
      ];
      if (order === 'scripts first') steps.reverse();
      for (const step of steps) {
        await step();
        // The coins in memory must equal those from a loop over all outputs.
        const mine = [...wallet.ledger.all()].flatMap((entry) => {
          const { outputs: all } = wallet.ledger.transaction(entry);
          return all.filter(({ script }) => isSpendable(wallet, script));
        });
        expect(spendableSat(wallet)).toBe(BigInt(mine.length) * 1000n);
      }
      expect(spendableSat(wallet)).toBe(1000n * BigInt(outputs.length + 1));
      await expectLasting(wallet, 'some');
    },
  );
});

describe('the set of other destinations', () => {
  it('finds every added destination', () => {
    const set = new OtherDestinations();
    const hashes = Array.from({ length: 5000 }, () => randomBytes(20));
    for (const hash of hashes) expect(set.has(hash)).toBe(false);
    set.add(Buffer.alloc(20));
    for (const hash of [...hashes, ...hashes]) set.add(hash);
    for (const hash of [...hashes, Buffer.alloc(32)]) expect(set.has(hash)).toBe(true);
  });
});
