/**
 * Raw transactions with a real node: created, signed, sent and mined for every kind of address, with and without a claim. Also
 * the operations of a claim built offline, and PSBTs with two signers.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hash160, sha256 } from '../../src/crypto/hash.js';
import { regtestParams } from '../../src/params/regtest.js';
import { parseTransaction } from '../../src/primitives/transaction.js';
import {
  abandonTransaction,
  buildTransaction,
  claimIdOf,
  claimOutput,
  paymentOutput,
  scriptForAddress,
  signTransaction,
  supportOutput,
  transactionId,
  updateOutput,
  type OutputDraft,
  type SpentOutput,
} from '../../src/client/index.js';
import { addressPrefixesOf, encodeDestination } from '../../src/script/address.js';
import { scriptForDestination, type Destination } from '../../src/script/standard.js';
import { encodeSecret } from '../../src/script/wif.js';
import { formatPsbt, parsePsbt } from '../../src/signing/psbtCodec.js';
import { signPsbtInput } from '../../src/signing/psbtRoles.js';
import { MemoryKeyStore, signingKeyOf, type SigningKey } from '../../src/signing/signingProvider.js';
import { fromHex, toHex } from '../../src/util/bytes.js';
import { Reader } from '../../src/util/reader.js';
import { ADDRESS, startRegtest, type RegtestNode } from './support/node.js';

const network = 'regtest';
const prefixes = addressPrefixesOf(regtestParams);
const KEYS: SigningKey[] = ['a', 'b', 'c'].map((name) => signingKeyOf(sha256(Buffer.from(name)), true));
const WIFS = KEYS.map((key) => encodeSecret(key.privateKey, true, prefixes));
const keyHash = hash160(KEYS[0]!.publicKey);
const P2PKH: Destination = { type: 'pubkeyhash', hash: keyHash };
const P2WPKH: Destination = { type: 'witness_v0_keyhash', hash: keyHash };
const NESTED: Destination = { type: 'scripthash', hash: hash160(scriptForDestination(P2WPKH)) };
const address = encodeDestination(P2PKH, prefixes);

/** Amount of each output, and the fee of a transaction, in satoshis. */
const AMOUNT = 5_000_000n;
const FEE = 20_000n;

interface Signed {
  hex: string;
  complete: boolean;
}

describe('signing of raw transactions', () => {
  let node: RegtestNode;
  /** Height of the next coinbase to spend. */
  let next = 1;
  beforeAll(async () => {
    node = await startRegtest({ args: ['-txindex'] });
    // Witnesses count from block 150 on.
    await node.rpc('generatetoaddress', [155, address]);
  });
  afterAll(() => node.stop());

  const mine = (): Promise<unknown> => node.rpc('generatetoaddress', [1, ADDRESS]);

  async function coinbase(): Promise<SpentOutput> {
    const block = await node.rpc<{ tx: string[] }>('getblock', [await node.rpc('getblockhash', [next++])]);
    const { value } = await node.rpc<{ value: number }>('gettxout', [block.tx[0], 0]);
    const script = scriptForAddress(address, network);
    return { txid: block.tx[0]!, vout: 0, amountSat: BigInt(Math.round(value * 1e8)), script };
  }

  /** Spends a coinbase for these outputs and mines the transaction. The rest goes to a change output. */
  async function fund(outputs: readonly OutputDraft[]): Promise<string> {
    const coin = await coinbase();
    const sum = outputs.reduce((total, { value }) => total + value, FEE);
    const change = paymentOutput({ network, address, amountSat: coin.amountSat - sum });
    const hex = buildTransaction({ inputs: [coin], outputs: [...outputs, change] });
    return send(hex, [coin]);
  }

  /** Signs a transaction offline, sends it and mines it. */
  async function send(hex: string, spent: readonly SpentOutput[]): Promise<string> {
    const signed = signTransaction({ network, hex, spent, privateKeys: WIFS });
    expect(signed.problems).toEqual([]);
    const txid = await node.rpc<string>('sendrawtransaction', [signed.hex]);
    expect(txid).toBe(transactionId(signed.hex));
    await mine();
    return txid;
  }

  const multisig = (type: string): Promise<{ address: string; redeemScript: string }> =>
    node.rpc('createmultisig', [2, KEYS.map((key) => toHex(key.publicKey)), type]);

  /** Addresses of all kinds, with the redeem script if spending needs one. */
  async function kinds(): Promise<{ address: string; redeemScript?: string }[]> {
    const several = await Promise.all(['legacy', 'p2sh-segwit', 'bech32'].map(multisig));
    return [
      { address },
      { address: encodeDestination(P2WPKH, prefixes) },
      { address: encodeDestination(NESTED, prefixes), redeemScript: toHex(scriptForDestination(P2WPKH)) },
      ...several,
    ];
  }

  it('spends every kind of address, claim or not, with given keys', async () => {
    const all = await kinds();
    const outputs = all.flatMap(({ address: to }) => {
      const payment = { network, address: to, amountSat: AMOUNT } as const;
      return [paymentOutput(payment), claimOutput({ ...payment, name: 'kinds', value: to })];
    });
    const txid = await fund(outputs);
    expect(await node.rpc('getclaimsforname', ['kinds'])).toMatchObject({ claims: { length: all.length } });
    const sent: string[] = [];
    for (const [vout, { script }] of outputs.entries()) {
      const hex = await node.rpc('createrawtransaction', [[{ txid, vout }], [{ [ADDRESS]: 0.0498 }]]);
      const { redeemScript } = all[vout >> 1]!;
      const prev = { txid, vout, scriptPubKey: toHex(script), redeemScript, amount: 0.05 };
      const signed = await node.rpc<Signed>('signrawtransactionwithkey', [hex, WIFS, [prev]]);
      expect(signed).toMatchObject({ complete: true });
      expect(await node.rpc('testmempoolaccept', [[signed.hex]])).toMatchObject([{ allowed: true }]);
      sent.push(await node.rpc('sendrawtransaction', [signed.hex]));
    }
    const [hash] = await node.rpc<string[]>('generatetoaddress', [1, ADDRESS]);
    const { tx } = await node.rpc<{ tx: string[] }>('getblock', [hash]);
    expect(new Set(tx.slice(1))).toEqual(new Set(sent));
    expect(await node.rpc('getclaimsforname', ['kinds'])).toMatchObject({ claims: { length: 0 } });
  });

  it('creates, updates and abandons a claim by transactions that are built offline', async () => {
    const common = { network, address, amountSat: AMOUNT, name: 'life' } as const;
    const claims = async (): Promise<{ claimId: string; value: string; effectiveAmount: number }[]> =>
      (await node.rpc<{ claims: never[] }>('getclaimsforname', ['life'])).claims;
    const first = claimOutput({ ...common, value: 'one' });
    const txid = await fund([first]);
    const claimId = claimIdOf(txid, 0);
    expect(await claims()).toMatchObject([{ claimId }]);

    const support = supportOutput({ ...common, claimId });
    const supportId = await fund([support]);
    const update = updateOutput({ ...common, value: 'two', claimId, amountSat: AMOUNT - FEE });
    const claimed: SpentOutput = { txid, vout: 0, amountSat: first.value, script: first.script };
    const updateId = await send(buildTransaction({ inputs: [claimed], outputs: [update] }), [claimed]);
    expect(await claims()).toMatchObject([{ claimId, value: Buffer.from('two').toString('hex') }]);
    expect(await node.rpc('getclaimbyid', [claimId])).toMatchObject({ supports: { length: 1 } });

    for (const output of [
      { txid: supportId, vout: 0, amountSat: support.value, script: support.script },
      { txid: updateId, vout: 0, amountSat: update.value, script: update.script },
    ]) {
      await send(abandonTransaction({ network, output, address, feeSat: FEE }), [output]);
    }
    expect(await claims()).toEqual([]);
  });

  it('combines signatures that two signers of an unconfirmed claim created separately', async () => {
    const { address: to, redeemScript } = await multisig('bech32');
    const coin = await coinbase();
    const claim = claimOutput({ network, address: to, amountSat: AMOUNT, name: 'two', value: 'signers' });
    const parent = signTransaction({
      network,
      hex: buildTransaction({ inputs: [coin], outputs: [claim] }),
      spent: [coin],
      privateKeys: WIFS,
    });
    const txid = await node.rpc<string>('sendrawtransaction', [parent.hex, true]);
    const hex = await node.rpc('createrawtransaction', [[{ txid, vout: 0 }], { [ADDRESS]: '0.0498' }]);
    const prev = { txid, vout: 0, scriptPubKey: toHex(claim.script), redeemScript, amount: '0.05' };
    const parts: string[] = [];
    for (const key of [WIFS[0], WIFS[2]]) {
      const part = await node.rpc<Signed>('signrawtransactionwithkey', [hex, [key], [prev]]);
      expect(part.complete).toBe(false);
      parts.push(part.hex);
    }
    const combined = await node.rpc('combinerawtransaction', [parts]);
    await node.rpc('sendrawtransaction', [combined]);
    await mine();
    expect(await node.rpc('getrawmempool')).toEqual([]);
  });

  it('spends by PSBTs of two signers of three, who know the spent output only', async () => {
    const { address: to, redeemScript } = await multisig('p2sh-segwit');
    const output = paymentOutput({ network, address: to, amountSat: AMOUNT });
    const txid = await fund([output]);
    const raw = await node.rpc<string>('getrawtransaction', [txid]);
    const blank = await node.rpc<string>('createpsbt', [[{ txid, vout: 0 }], [{ [ADDRESS]: 0.0498 }]]);
    const parts = [KEYS[2]!, KEYS[0]!].map((key) => {
      const psbt = parsePsbt(Buffer.from(blank, 'base64'));
      psbt.inputs[0]!.nonWitnessUtxo = parseTransaction(new Reader(fromHex(raw)));
      const store = new MemoryKeyStore();
      store.addKey(key);
      store.addScript(fromHex(redeemScript));
      const hash = sha256(fromHex(redeemScript));
      store.addScript(scriptForDestination({ type: 'witness_v0_scripthash', hash }));
      expect(signPsbtInput(psbt, 0, store).complete).toBe(false);
      return formatPsbt(psbt).toString('base64');
    });
    expect(await node.rpc('finalizepsbt', [parts[0]])).toMatchObject({ complete: false });
    const merged = await node.rpc('combinepsbt', [parts]);
    expect(await node.rpc('decodepsbt', [merged])).toMatchObject({
      inputs: [{ witness_utxo: { amount: 0.05, scriptPubKey: { address: to } } }],
      fee: 0.0002,
    });
    const final = await node.rpc<Signed>('finalizepsbt', [merged]);
    expect(final.complete).toBe(true);
    const spent = await node.rpc('sendrawtransaction', [final.hex]);
    await mine();
    expect(await node.rpc('getrawtransaction', [spent, true])).toMatchObject({ confirmations: 1 });
  });

  it('verifies its own signed messages', async () => {
    const signature = await node.rpc('signmessagewithprivkey', [WIFS[0], 'a message']);
    expect(await node.rpc('verifymessage', [address, signature, 'a message'])).toBe(true);
  });
});
