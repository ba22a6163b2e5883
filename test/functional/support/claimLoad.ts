/**
 * Blocks full of claims of few names, with equal amounts and heights: many claims, updates and supports in one transaction, and
 * several transactions a block, with coins that anyone can spend. Equal seeds give equal blocks.
 */
import { formatTransaction, txid, type TxInput, type TxOutput } from '../../../src/primitives/transaction.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  claimIdOf,
} from '../../../src/script/claimScript.js';
import { scriptForDestination } from '../../../src/script/standard.js';
import { hashFromHex, hashToHex, toHex, type Bytes } from '../../../src/util/bytes.js';
import { randomOf } from '../../support/claimLife.js';
import { OPEN } from './network.js';

const OPEN_SCRIPT = scriptForDestination(OPEN);
const FEE_SAT = 100_000n;
/** Maximum number of outputs of a transaction. */
const MOST_OUTPUTS = 14;

interface Coin {
  readonly hash: Bytes;
  readonly index: number;
  readonly value: bigint;
  /** The output of a claim or of a support. */
  readonly stake?: { readonly name: string; readonly claimId: Buffer; readonly isSupport: boolean };
}

export class ClaimLoad {
  readonly random: (count: number) => number;
  readonly names: readonly string[];
  /** Ids of all claims so far, in printed order. */
  readonly claimIds: string[] = [];
  readonly txids: string[] = [];
  private coins: Coin[] = [];
  private stakes: Coin[] = [];
  /** Claims of the latest block, which the next block can spend. */
  private fresh: Coin[] = [];

  constructor(seed: number, names: readonly string[]) {
    this.random = randomOf(seed);
    this.names = names;
  }

  /** A mature coinbase that pays to `OPEN`. */
  addCoin(printedTxid: string, value: bigint): void {
    this.coins.push({ hash: hashFromHex(printedTxid), index: 0, value });
  }

  /** Saves the spendable outputs. The returned function restores them. */
  save(): () => void {
    const [coins, stakes, fresh] = [[...this.coins], [...this.stakes], [...this.fresh]];
    return () => {
      [this.coins, this.stakes, this.fresh] = [coins, stakes, fresh];
    };
  }

  /** The transactions of a block in hex. A transaction can spend supports and change of those before it. */
  block(count: number): string[] {
    const made: string[] = [];
    this.stakes.push(...this.fresh.splice(0));
    // Most blocks have operations of one name only.
    const only = this.random(3) > 0 ? this.name() : null;
    for (let n = 0; n < count && this.coins.length > 0; n++) made.push(this.transaction(only));
    return made;
  }

  private name(): string {
    return this.names[this.random(this.names.length)]!;
  }

  private transaction(only: string | null): string {
    const { coins, stakes } = this;
    const coin = coins.splice(this.random(coins.length), 1)[0]!;
    const spent: Coin[] = [coin];
    const outputs: (TxOutput & { stake?: NonNullable<Coin['stake']> | 'new'; name?: string })[] = [];
    let left = coin.value - FEE_SAT;
    for (let n = this.random(5) + (stakes.length > 150 ? 6 : 0); n > 0 && stakes.length > 0; n--) {
      const old = stakes.splice(this.random(stakes.length), 1)[0]!;
      spent.push(old);
      left += old.value;
      const { name, claimId, isSupport } = old.stake!;
      if (isSupport || this.random(3) === 0) continue;
      const value = this.amount();
      const prefix = buildUpdatePrefix(Buffer.from(name), claimId, this.value());
      outputs.push({ value, script: Buffer.concat([prefix, OPEN_SCRIPT]), stake: old.stake! });
    }
    for (let n = 1 + this.random(MOST_OUTPUTS); n > 0; n--) {
      const value = this.amount();
      const claims = [...stakes, ...this.fresh].filter(({ stake }) => !stake!.isSupport);
      const target = claims[this.random(claims.length || 1)];
      if (target !== undefined && this.random(2) === 0) {
        const { name, claimId } = target.stake!;
        const prefix = buildSupportPrefix(Buffer.from(name), claimId);
        outputs.push({
          value,
          script: Buffer.concat([prefix, OPEN_SCRIPT]),
          stake: { name, claimId, isSupport: true },
        });
      } else {
        const name = only ?? this.name();
        const prefix = buildClaimPrefix(Buffer.from(name), this.value());
        outputs.push({ value, script: Buffer.concat([prefix, OPEN_SCRIPT]), stake: 'new', name });
      }
    }
    // The change output is inserted at a random position.
    for (const output of outputs) left -= output.value;
    outputs.splice(this.random(outputs.length + 1), 0, { value: left, script: OPEN_SCRIPT });
    const inputs = spent.map(({ hash, index }): TxInput => ({
      prevout: { hash, index },
      scriptSig: Buffer.of(1, 0x51),
      sequence: 0xffffffff,
      witness: [],
    }));
    const tx = {
      version: 2,
      inputs,
      outputs: outputs.map(({ value, script }) => ({ value, script })),
      lockTime: 0,
    };
    const hash = txid(tx);
    outputs.forEach(({ value, stake, name }, index) => {
      if (stake === undefined) coins.push({ hash, index, value });
      else if (stake !== 'new') (stake.isSupport ? stakes : this.fresh).push({ hash, index, value, stake });
      else {
        const claimId = claimIdOf(hash, index);
        this.claimIds.push(hashToHex(claimId));
        this.fresh.push({ hash, index, value, stake: { name: name!, claimId, isSupport: false } });
      }
    });
    this.txids.push(hashToHex(hash));
    return toHex(formatTransaction(tx));
  }

  /** Few different amounts, so that many are equal. */
  private amount(): bigint {
    return 20_000n * BigInt(1 + this.random(4));
  }

  /** The value of a claim; subclasses may return others. */
  protected value(): Buffer {
    return Buffer.of(this.random(256), this.random(256));
  }
}
