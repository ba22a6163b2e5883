/** An endless, repeatable sequence of claim operations with coins that anyone can spend, for networks of real nodes. */
import { formatTransaction, txid, type TxOutput } from '../../../src/primitives/transaction.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  claimIdOf,
} from '../../../src/script/claimScript.js';
import { scriptForDestination } from '../../../src/script/standard.js';
import { hashFromHex, toHex, type Bytes } from '../../../src/util/bytes.js';
import { OPEN } from './network.js';

interface Coin {
  readonly hash: Bytes;
  readonly index: number;
  readonly value: bigint;
}

/** A claim or support on the chain; both are spent in the same way. */
interface Stake extends Coin {
  readonly name: Buffer;
  readonly claimId: Buffer;
  readonly isClaim: boolean;
}

interface Chain {
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
}

const OPEN_SCRIPT = scriptForDestination(OPEN);
const FEE_SAT = 20_000n;

/** Names. Some of them normalize to the same name, and some share their first bytes. */
export const NAMES = [
  'a',
  'A',
  'ab',
  'abc',
  'abd',
  'B',
  'straße',
  'STRASSE',
  'é',
  'e\u0301',
  'É',
  '@channel',
  'zoë',
];

/** Out of ten operations: the numbers of new claims, supports and updates. The others abandon something. */
export interface Shares {
  readonly claims: number;
  readonly supports: number;
  readonly updates: number;
  /** The number of operations that the same block updates or abandons; default: none. */
  readonly followed?: number;
}

const SHARES: Shares = { claims: 4, supports: 3, updates: 2 };

export class ClaimSource {
  private readonly chain: Chain;
  private readonly stakes: Stake[] = [];
  private readonly shares: Shares;
  private nextCoinbase: number;
  private seed: number;

  /** The chain's coinbases from `firstCoinbase` on must pay to `OPEN_ADDRESS`. */
  constructor(chain: Chain, seed = 1, shares = SHARES, firstCoinbase = 1) {
    this.nextCoinbase = firstCoinbase;
    this.chain = chain;
    this.seed = seed;
    this.shares = shares;
  }

  /**
   * Transactions in hex. They spend outputs of one another only where an operation is updated or abandoned in the same block.
   * All must be in a block before the next call. All names satisfy `allows`.
   */
  async take(count: number, allows: (name: Buffer) => boolean = () => true): Promise<string[]> {
    const made: Stake[] = [];
    const taken: string[] = [];
    for (let operations = 0; operations < count; operations++) {
      taken.push(await this.operation(made, allows));
      const { followed = 0 } = this.shares;
      while (followed > 0 && made.length > 0 && this.below(10) < followed) taken.push(this.follow(made));
    }
    this.stakes.push(...made);
    return taken;
  }

  private below(limit: number): number {
    this.seed = (Math.imul(this.seed, 1103515245) + 12345) >>> 0;
    return (this.seed >>> 8) % limit;
  }

  /** Two bytes, because some nodes do not relay a single byte that could be pushed as a number. */
  private value(): Buffer {
    return Buffer.of(this.below(256), this.below(256));
  }

  private async operation(made: Stake[], allows: (name: Buffer) => boolean): Promise<string> {
    const pick = this.below(10);
    const claims = this.stakes.filter(({ isClaim, name }) => isClaim && allows(name));
    const target = claims[this.below(claims.length || 1)];
    const { claims: claimShare, supports, updates } = this.shares;
    if (!target || pick < claimShare) return this.claim(made, allows);
    if (pick < claimShare + supports) return this.support(target, made);
    if (pick < claimShare + supports + updates) return this.update(target, made);
    return this.abandon(this.stakes[this.below(this.stakes.length)]!);
  }

  private async claim(made: Stake[], allows: (name: Buffer) => boolean): Promise<string> {
    const names = NAMES.map((name) => Buffer.from(name)).filter(allows);
    const name = names[this.below(names.length)]!;
    const prefix = buildClaimPrefix(name, this.value());
    const { hex, hash, value } = await this.stakeSome(prefix);
    made.push({ hash, index: 0, value, name, claimId: claimIdOf(hash, 0), isClaim: true });
    return hex;
  }

  private async support({ name, claimId }: Stake, made: Stake[]): Promise<string> {
    const { hex, hash, value } = await this.stakeSome(buildSupportPrefix(name, claimId));
    made.push({ hash, index: 0, value, name, claimId, isClaim: false });
    return hex;
  }

  /** Spends an output of the same block. */
  private follow(made: Stake[]): string {
    const [fresh] = made.splice(this.below(made.length), 1) as [Stake];
    if (fresh.isClaim && this.below(2) === 0) return this.update(fresh, made);
    return this.abandon(fresh);
  }

  private update(old: Stake, made: Stake[]): string {
    this.drop(old);
    const prefix = buildUpdatePrefix(old.name, old.claimId, this.value());
    const value = old.value - FEE_SAT;
    const { hex, hash } = spend(old, [{ value, script: Buffer.concat([prefix, OPEN_SCRIPT]) }]);
    made.push({ ...old, hash, index: 0, value });
    return hex;
  }

  private abandon(old: Stake): string {
    this.drop(old);
    return spend(old, [{ value: old.value - FEE_SAT, script: OPEN_SCRIPT }]).hex;
  }

  private drop(stake: Stake): void {
    const at = this.stakes.indexOf(stake);
    if (at >= 0) this.stakes.splice(at, 1);
  }

  private async stakeSome(prefix: Buffer): Promise<{ hex: string; hash: Bytes; value: bigint }> {
    const value = 1_000_000n * BigInt(1 + this.below(20));
    return { ...(await this.stake(prefix, value)), value };
  }

  /** A transaction whose output 0 has the stake after this prefix, and output 1 the rest of a coin. */
  async stake(prefix: Buffer, value: bigint): Promise<{ hex: string; hash: Bytes; coin: Bytes }> {
    const coin = await this.coin();
    const staked = { value, script: Buffer.concat([prefix, OPEN_SCRIPT]) };
    const rest = { value: coin.value - value - FEE_SAT, script: OPEN_SCRIPT };
    return { ...spend(coin, [staked, rest]), coin: coin.hash };
  }

  private async coin(): Promise<Coin> {
    const block = await this.chain.rpc<string>('getblockhash', [this.nextCoinbase++]);
    const { tx } = await this.chain.rpc<{ tx: string[] }>('getblock', [block]);
    const { value } = await this.chain.rpc<{ value: number }>('gettxout', [tx[0], 0]);
    return { hash: hashFromHex(tx[0]!), index: 0, value: BigInt(Math.round(value * 1e8)) };
  }
}

/** A transaction in hex that spends the stake in output 0. `value` is the amount of the stake in satoshis. */
export function abandonStake(hash: Bytes, value: bigint): string {
  return spend({ hash, index: 0, value }, [{ value: value - FEE_SAT, script: OPEN_SCRIPT }]).hex;
}

function spend({ hash, index }: Coin, outputs: TxOutput[]): { hex: string; hash: Bytes } {
  const input = {
    prevout: { hash, index },
    scriptSig: Buffer.of(1, 0x51),
    sequence: 0xffffffff,
    witness: [],
  };
  const tx = { version: 2, inputs: [input], outputs, lockTime: 0 };
  return { hex: toHex(formatTransaction(tx)), hash: txid(tx) };
}
