/**
 * Generates the transactions of a chain, one after the other. Each transaction spends outputs of earlier transactions and is
 * signed. Stores the spendable outputs. Returns for each transaction the data that the claim trie needs.
 */
import type { ClaimOutput, ClaimSpend } from '../../claimtrie/types.js';
import { sha256d } from '../../crypto/hash.js';
import { decodedClaimDigest } from '../../metadata/channelSignature.js';
import {
  formatOutPoint,
  formatTransaction,
  hasWitness,
  SEQUENCE_FINAL,
  type Transaction,
} from '../../primitives/transaction.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  claimIdOf,
  type ClaimKind,
} from '../../script/claimScript.js';
import { OP } from '../../script/opcodes.js';
import { buildScript } from '../../script/script.js';
import { PrecomputedSighash, SIGHASH, SIG_VERSION, signatureHash } from '../../script/sighash.js';
import { concatBytes, EMPTY_BYTES, fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import type { Draw } from './draw.js';
import type { Key, KeyRing } from './keyRing.js';
import type { Names } from './names.js';
import { Pool, type Channel, type PoolCoin, type StakeCoin } from './pool.js';
import * as MAIN from './proportions.js';
import { sealed, type Values } from './values.js';

/** Maximum number of coins, claims, supports and channels that are kept for later transactions. */
const MOST = { coins: 200_000, claims: 100_000, supports: 30_000, channels: 5_000 } as const;
/** Minimum amount in satoshis of an output that is spent later. The fee would consume a smaller amount. */
const LEAST_AMOUNT_SAT = 50_000;
/** Number of coins below which every transaction spends only one coin, so that the number of coins grows. */
const FEW_COINS = 500;
/**
 * Bytes that precede the claim id in the receipt of a purchase: the byte `P` and the field header. Source: lbry-sdk
 * purchase.py.
 */
const RECEIPT_HEAD = Buffer.from('500a14', 'hex');
/** Main network height from which one support in two contains data, like the support in block 1,000,000. Estimate. */
const SUPPORT_DATA_FROM = 1_000_000;

/** Data of a claim or support output that is added to the claim trie. */
interface Claimed {
  readonly kind: ClaimKind;
  readonly name: Buffer;
  /** Claim id; null for a new claim. */
  readonly claimId: Buffer | null;
  readonly hasMetadata: boolean;
  /** Key with which a channel signs. Null if the claim is not a channel. */
  readonly channelKey: Key | null;
}

interface Output {
  readonly amountSat: number;
  readonly script: Buffer;
  /** Key that can spend the output; null for an output that is never spent. */
  readonly key: Key | null;
  readonly isWitness?: boolean;
  readonly claimed?: Claimed;
}

export interface PoolTransaction {
  readonly bytes: Buffer;
  readonly txid: Buffer;
  /** Wtxid as latin1. */
  readonly wtxKey: string;
  readonly feeSat: number;
  /** Number of inputs. Each has one signature. */
  readonly inputs: number;
  readonly claims: { readonly spends: ClaimSpend[]; readonly outputs: ClaimOutput[] };
}

export class TransactionMaker {
  private readonly draw: Draw;
  private readonly ring: KeyRing;
  private readonly names: Names;
  private readonly values: Values;
  private readonly coins: Pool<PoolCoin>;
  private readonly claims: Pool<StakeCoin>;
  private readonly supports: Pool<StakeCoin>;
  private readonly channels: Pool<Channel>;
  private height = 0;
  private mainHeight = 0;
  private isSegwit = false;

  constructor(draw: Draw, ring: KeyRing, names: Names, values: Values) {
    this.draw = draw;
    this.ring = ring;
    this.names = names;
    this.values = values;
    this.coins = new Pool(draw, MOST.coins);
    this.claims = new Pool(draw, MOST.claims);
    this.supports = new Pool(draw, MOST.supports);
    this.channels = new Pool(draw, MOST.channels);
  }

  /** Begins a block. `mainHeight` is the height of the main network to which the block corresponds. */
  begin(height: number, mainHeight: number, isSegwit: boolean): void {
    this.height = height;
    this.mainHeight = mainHeight;
    this.isSegwit = isSegwit;
  }

  addCoin(coin: PoolCoin): void {
    if (coin.amountSat >= LEAST_AMOUNT_SAT) this.coins.add(coin);
  }

  anyKey(): Key {
    return this.draw.of(this.ring.keys);
  }

  /**
   * Creates the next transaction. If its type needs an output that does not exist yet, the transaction gets another type.
   * Null if no coins are available.
   */
  make(kind: MAIN.TransactionKind): PoolTransaction | null {
    switch (kind) {
      case 'payment':
      case 'payout':
      case 'purchase':
        return this.pay(kind);
      case 'claim':
      case 'channel':
        return this.claim(kind === 'channel');
      case 'update':
        return this.update();
      case 'support':
        return this.support();
      case 'abandon':
        return this.abandon();
    }
  }

  private pay(kind: 'payment' | 'payout' | 'purchase'): PoolTransaction | null {
    const inputs = this.takeCoins();
    if (inputs === null) return null;
    const { least, most } = MAIN.PAYOUT_OUTPUTS;
    const count = kind === 'payout' ? least + this.draw.below(most - least) : 1;
    let left = restOf(inputs);
    const outputs: Output[] = [];
    for (let i = 0; i < count && left > 2 * LEAST_AMOUNT_SAT; i++) {
      const amountSat = this.amountOf(MAIN.PAYMENT_AMOUNTS, left);
      outputs.push(this.plainOutput(amountSat));
      left -= amountSat;
    }
    const bought = kind === 'purchase' ? this.claims.any() : undefined;
    if (bought !== undefined) {
      const script = buildScript(OP.OP_RETURN, concatBytes(RECEIPT_HEAD, fromLatin1(bought.stake.idKey)));
      outputs.push({ amountSat: 0, script, key: null });
    }
    return this.finish(inputs, [...outputs, this.plainOutput(left)]);
  }

  private claim(isChannel: boolean): PoolTransaction | null {
    const inputs = this.takeCoins();
    if (inputs === null) return null;
    const amountSat = this.amountOf(MAIN.CLAIM_AMOUNTS, restOf(inputs));
    const taken = this.draw.oneIn(MAIN.NAME_SHAPES.takenOneIn) ? this.claims.any() : undefined;
    const text = isChannel ? this.names.channel() : this.names.claim();
    const name = Buffer.from(taken === undefined ? text : this.names.respelled(nameOf(taken).toString()));
    const channelKey = isChannel ? this.anyKey() : null;
    const value = this.valueOf(inputs[0]!, channelKey);
    const claimed = { kind: 'claim', name, claimId: null, hasMetadata: false, channelKey } as const;
    return this.stake(inputs, buildClaimPrefix(name, value), claimed, amountSat);
  }

  private update(): PoolTransaction | null {
    const former = this.claims.take();
    if (former === undefined) return this.claim(false);
    const coins = this.takeCoins();
    if (coins === null) {
      this.claims.add(former);
      return null;
    }
    const inputs = [former, ...coins];
    const { channelKey } = former.stake;
    const [name, claimId] = [nameOf(former), idOf(former)];
    const value = this.valueOf(former, channelKey);
    const claimed = { kind: 'update', name, claimId, hasMetadata: false, channelKey } as const;
    return this.stake(inputs, buildUpdatePrefix(name, claimId, value), claimed, former.amountSat);
  }

  private support(): PoolTransaction | null {
    const target = this.claims.any();
    if (target === undefined) return this.claim(false);
    const inputs = this.takeCoins();
    if (inputs === null) return null;
    const amountSat = this.amountOf(MAIN.SUPPORT_AMOUNTS, restOf(inputs));
    const channel = this.channels.any();
    const hasMetadata = channel !== undefined && this.mainHeight >= SUPPORT_DATA_FROM && this.draw.oneIn(2);
    const [name, claimId] = [nameOf(target), idOf(target)];
    const value = hasMetadata ? this.signedBy(channel, inputs[0]!, EMPTY_BYTES) : undefined;
    const claimed = { kind: 'support', name, claimId, hasMetadata, channelKey: null } as const;
    return this.stake(inputs, buildSupportPrefix(name, claimId, value), claimed, amountSat);
  }

  private abandon(): PoolTransaction | null {
    const stake = this.draw.oneIn(2) ? (this.supports.take() ?? this.claims.take()) : this.claims.take();
    if (stake === undefined) return this.pay('payment');
    return this.finish([stake], [this.plainOutput(restOf([stake]))]);
  }

  /** Creates a transaction whose first output has a claim prefix and whose second output is the change. */
  private stake(
    inputs: readonly PoolCoin[],
    prefix: Bytes,
    claimed: Claimed,
    amountSat: number,
  ): PoolTransaction {
    const key = this.anyKey();
    const script = concatBytes(prefix, key.script);
    const output = { amountSat, script, key, claimed };
    return this.finish(inputs, [output, this.plainOutput(restOf(inputs) - amountSat)]);
  }

  private valueOf(firstInput: PoolCoin, channelKey: Key | null): Buffer {
    if (channelKey !== null) return sealed(this.values.channel(channelKey.publicKey), null);
    const reposted = this.claims.any();
    const message = this.values.claim(reposted === undefined ? null : idOf(reposted));
    const channel = this.draw.oneIn(MAIN.UNSIGNED_ONE_IN) ? undefined : this.channels.any();
    return channel === undefined ? sealed(message, null) : this.signedBy(channel, firstInput, message);
  }

  private signedBy({ idKey, key }: Channel, firstInput: PoolCoin, message: Bytes): Buffer {
    const channelId = fromLatin1(idKey);
    const outPoint = formatOutPoint({ hash: fromLatin1(firstInput.txKey), index: firstInput.n });
    const digest = decodedClaimDigest({ version: 2, channelId, message }, outPoint, null)!;
    return sealed(message, { channelId, signature: this.ring.signCompact(digest, key) });
  }

  private plainOutput(amountSat: number): Output {
    const key = this.anyKey();
    const isWitness = this.isSegwit && this.draw.oneIn(MAIN.WITNESS_ONE_IN);
    return { amountSat, script: isWitness ? key.witnessScript : key.script, key, isWitness };
  }

  /** Returns a random amount of the list, but at most half of the remaining amount. */
  private amountOf(amounts: readonly number[], leftSat: number): number {
    return Math.min(this.draw.of(amounts), Math.floor(leftSat / 2));
  }

  /** Removes coins from the pool that can pay their fee and two outputs. Null if the pool has not enough coins. */
  private takeCoins(): PoolCoin[] | null {
    const { draw, coins } = this;
    const wanted = coins.size < FEW_COINS ? 1 : draw.share(MAIN.INPUT_COUNTS);
    const taken: PoolCoin[] = [];
    while (taken.length < wanted || restOf(taken) < 2 * LEAST_AMOUNT_SAT) {
      const coin = draw.oneIn(MAIN.CHAINED_ONE_IN) ? coins.takeNewest() : coins.take();
      if (coin === undefined) break;
      taken.push(coin);
    }
    if (taken.length > 0 && restOf(taken) >= 2 * LEAST_AMOUNT_SAT) return taken;
    for (const coin of taken) coins.add(coin);
    return null;
  }

  private finish(inputs: readonly PoolCoin[], outputs: readonly Output[]): PoolTransaction {
    const tx = unsigned(inputs, outputs);
    this.sign(tx, inputs);
    const stripped = formatTransaction(tx, false);
    const txid = sha256d(stripped);
    const bytes = hasWitness(tx) ? formatTransaction(tx) : stripped;
    const wtxKey = toLatin1(bytes === stripped ? txid : sha256d(bytes));
    const claims = { spends: spendsOf(inputs), outputs: outputs.flatMap(claimOutputOf) };
    const txKey = toLatin1(txid);
    outputs.forEach((output, n) => this.keep(output, txid, { txKey, n }));
    const feeSat = sumOf(inputs) - outputs.reduce((sum, { amountSat }) => sum + amountSat, 0);
    return { bytes, txid, wtxKey, feeSat, inputs: inputs.length, claims };
  }

  private sign(tx: Transaction, inputs: readonly PoolCoin[]): void {
    const shared = new PrecomputedSighash(tx);
    inputs.forEach(({ key, stake, amountSat, isWitness }, n) => {
      const version = isWitness ? SIG_VERSION.WITNESS_V0 : SIG_VERSION.BASE;
      // The script code of a P2WPKH input is the P2PKH script of the same key (BIP143).
      const code = stake === null ? key.script : fromLatin1(stake.scriptKey);
      const hash = signatureHash(code, tx, n, SIGHASH.ALL, BigInt(amountSat), version, shared);
      const signature = concatBytes(this.ring.sign(hash, key), Buffer.of(SIGHASH.ALL));
      if (isWitness) tx.inputs[n]!.witness = [signature, key.publicKey];
      else tx.inputs[n]!.scriptSig = buildScript(signature, key.publicKey);
    });
  }

  private keep(output: Output, txid: Buffer, at: { readonly txKey: string; readonly n: number }): void {
    const { amountSat, script, key, isWitness = false, claimed } = output;
    if (key === null) return;
    const coin = { ...at, amountSat, key, isWitness };
    if (claimed === undefined) {
      this.addCoin({ ...coin, stake: null });
      return;
    }
    const { kind, name, hasMetadata, channelKey } = claimed;
    const idKey = toLatin1(claimed.claimId ?? claimIdOf(txid, at.n));
    const pool = kind === 'support' ? this.supports : this.claims;
    const [nameKey, scriptKey] = [toLatin1(name), toLatin1(script)];
    const { height } = this;
    pool.add({ ...coin, stake: { kind, hasMetadata, nameKey, idKey, height, scriptKey, channelKey } });
    if (kind === 'claim' && channelKey !== null) this.channels.add({ idKey, key: channelKey });
  }
}

function nameOf({ stake }: StakeCoin): Buffer {
  return fromLatin1(stake.nameKey);
}

function idOf({ stake }: StakeCoin): Buffer {
  return fromLatin1(stake.idKey);
}

function sumOf(inputs: readonly PoolCoin[]): number {
  return inputs.reduce((sum, { amountSat }) => sum + amountSat, 0);
}

/** Sum of the inputs minus the fee for these inputs, in satoshis. */
function restOf(inputs: readonly PoolCoin[]): number {
  return sumOf(inputs) - inputs.length * MAIN.FEE_AN_INPUT_SAT;
}

function unsigned(inputs: readonly PoolCoin[], outputs: readonly Output[]): Transaction {
  return {
    version: 1,
    inputs: inputs.map(({ txKey, n }) => ({
      prevout: { hash: fromLatin1(txKey), index: n },
      scriptSig: EMPTY_BYTES,
      sequence: SEQUENCE_FINAL,
      witness: [],
    })),
    outputs: outputs.map(({ amountSat, script }) => ({ value: BigInt(amountSat), script })),
    lockTime: 0,
  };
}

function spendsOf(inputs: readonly PoolCoin[]): ClaimSpend[] {
  const spends: ClaimSpend[] = [];
  for (const { stake, txKey, n, amountSat } of inputs) {
    if (stake === null) continue;
    const { kind, hasMetadata, height } = stake;
    const [txid, name, claimId] = [txKey, stake.nameKey, stake.idKey].map(fromLatin1) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    spends.push({ txid, n, coinHeight: height, kind, hasMetadata, name, claimId, amount: BigInt(amountSat) });
  }
  return spends;
}

function claimOutputOf({ claimed, amountSat }: Output, n: number): ClaimOutput[] {
  if (claimed === undefined) return [];
  const { kind, hasMetadata, name, claimId } = claimed;
  const amount = BigInt(amountSat);
  return [{ n, kind, hasMetadata, name, amount, ...(claimId === null ? {} : { claimId }) }];
}
