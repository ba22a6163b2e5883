/**
 * Computes the state of a wallet from the blocks and the mempool of a node. The wallet is only asked for its addresses. Follows
 * the chain through reorganisations.
 */
import type { RegtestNode } from './node.js';

export type WalletCall = <T = unknown>(method: string, params?: readonly unknown[]) => Promise<T>;

interface DecodedOutput {
  readonly value: number;
  readonly n: number;
  readonly scriptPubKey: { readonly hex: string; readonly addresses?: readonly string[] };
}
interface DecodedTx {
  readonly txid: string;
  readonly vin: readonly { readonly txid?: string; readonly vout?: number }[];
  readonly vout: readonly DecodedOutput[];
}
interface DecodedBlock {
  readonly hash: string;
  readonly height: number;
  readonly previousblockhash?: string;
  readonly tx: readonly DecodedTx[];
}
interface Coin {
  readonly point: string;
  readonly valueSat: bigint;
  readonly address: string | null;
  readonly isStake: boolean;
  readonly height: number;
  readonly isCoinbase: boolean;
}
interface Step {
  readonly hash: string;
  readonly made: readonly string[];
  readonly spent: readonly Coin[];
}

const MATURITY = 100;
/** The opcodes of claims, updates and supports. */
const STAKE = /^b[567]/;
const satoshis = (value: number): bigint => BigInt(Math.round(value * 1e8));
const pointOf = (txid: string, n: number): string => `${txid}:${n}`;

/** The unspent outputs of a node's chain, and those after the transactions of its mempool. */
export class ChainCount {
  private readonly node: RegtestNode;
  private readonly coins = new Map<string, Coin>();
  private readonly steps: Step[] = [];
  private readonly unconfirmed = new Map<string, DecodedTx>();

  constructor(node: RegtestNode) {
    this.node = node;
  }

  /** The same state for the node after a restart. */
  of(node: RegtestNode): ChainCount {
    const moved = new ChainCount(node);
    for (const [point, coin] of this.coins) moved.coins.set(point, coin);
    moved.steps.push(...this.steps);
    return moved;
  }

  get height(): number {
    return this.steps.length - 1;
  }

  async follow(): Promise<void> {
    const missing: DecodedBlock[] = [];
    let hash = await this.node.rpc<string>('getbestblockhash');
    for (;;) {
      const at = this.steps.findLastIndex((step) => step.hash === hash);
      if (at >= 0) {
        while (this.steps.length > at + 1) this.disconnect();
        break;
      }
      const block = await this.node.rpc<DecodedBlock>('getblock', [hash, 2]);
      missing.push(block);
      if (block.previousblockhash === undefined) {
        while (this.steps.length > 0) this.disconnect();
        break;
      }
      hash = block.previousblockhash;
    }
    for (const block of missing.reverse()) this.connect(block);
    const ids = new Set(await this.node.rpc<string[]>('getrawmempool'));
    for (const id of this.unconfirmed.keys()) if (!ids.has(id)) this.unconfirmed.delete(id);
    for (const id of ids) {
      if (this.unconfirmed.has(id)) continue;
      this.unconfirmed.set(id, await this.node.rpc<DecodedTx>('getrawtransaction', [id, true]));
    }
  }

  private connect(block: DecodedBlock): void {
    const made: string[] = [];
    const spent: Coin[] = [];
    block.tx.forEach((tx, index) => {
      for (const { txid, vout } of index === 0 ? [] : tx.vin) {
        const point = pointOf(txid!, vout!);
        const coin = this.coins.get(point);
        if (coin === undefined) throw new Error(`${point} is spent and was never made`);
        this.coins.delete(point);
        spent.push(coin);
      }
      for (const coin of coinsOf(tx, block.height, index === 0)) {
        this.coins.set(coin.point, coin);
        made.push(coin.point);
      }
    });
    this.steps.push({ hash: block.hash, made, spent });
  }

  private disconnect(): void {
    const { made, spent } = this.steps.pop()!;
    const gone = new Set(made);
    for (const coin of spent) if (!gone.has(coin.point)) this.coins.set(coin.point, coin);
    for (const point of made) this.coins.delete(point);
  }

  confirmed(): IterableIterator<Coin> {
    return this.coins.values();
  }

  pending(): IterableIterator<DecodedTx> {
    return this.unconfirmed.values();
  }

  coin(point: string): Coin | undefined {
    return this.coins.get(point);
  }

  isPending(txid: string): boolean {
    return this.unconfirmed.has(txid);
  }
}

function coinsOf(tx: DecodedTx, height: number, isCoinbase: boolean): Coin[] {
  return tx.vout
    .filter(({ scriptPubKey }) => !scriptPubKey.hex.startsWith('6a'))
    .map(({ value, n, scriptPubKey }) => ({
      point: pointOf(tx.txid, n),
      valueSat: satoshis(value),
      address: scriptPubKey.addresses?.length === 1 ? scriptPubKey.addresses[0]! : null,
      isStake: STAKE.test(scriptPubKey.hex),
      height,
      isCoinbase,
    }));
}

export interface Recount {
  readonly balanceSat: bigint;
  readonly unconfirmedSat: bigint;
  readonly immatureSat: bigint;
  /** Outputs that the wallet may spend by itself, without claims and supports: sorted ids with numbers. */
  readonly spendable: readonly string[];
}

/** Computes the state for one wallet. The owner of an address does not change as long as keys exist before they are paid. */
export class WalletCount {
  private readonly call: WalletCall;
  private readonly mine = new Map<string, boolean>();

  constructor(call: WalletCall) {
    this.call = call;
  }

  private async isMine(address: string | null): Promise<boolean> {
    if (address === null) return false;
    let mine = this.mine.get(address);
    if (mine === undefined) {
      mine = (await this.call<{ ismine: boolean }>('getaddressinfo', [address])).ismine;
      this.mine.set(address, mine);
    }
    return mine;
  }

  /** `stuck`: the wallet's own unconfirmed transactions that are not in the mempool. Their inputs count as spent. */
  async recount(chain: ChainCount, stuck: readonly DecodedTx[]): Promise<Recount> {
    const spent = new Set<string>();
    for (const tx of [...chain.pending(), ...stuck])
      for (const { txid, vout } of tx.vin) spent.add(pointOf(txid!, vout!));
    let balanceSat = 0n;
    let unconfirmedSat = 0n;
    let immatureSat = 0n;
    const spendable: string[] = [];
    for (const coin of chain.confirmed()) {
      if (!(await this.isMine(coin.address))) continue;
      if (coin.isCoinbase && chain.height - coin.height < MATURITY) {
        immatureSat += coin.valueSat;
        continue;
      }
      if (spent.has(coin.point)) continue;
      balanceSat += coin.valueSat;
      if (!coin.isStake) spendable.push(coin.point);
    }
    const made = new Map<string, Coin>();
    for (const tx of chain.pending()) for (const coin of coinsOf(tx, -1, false)) made.set(coin.point, coin);
    for (const tx of chain.pending()) {
      const inputs = tx.vin.map(({ txid, vout }) => pointOf(txid!, vout!));
      let isOwn = true;
      for (const point of inputs) {
        const coin = made.get(point) ?? chain.coin(point);
        if (coin === undefined || !(await this.isMine(coin.address))) isOwn = false;
      }
      for (const coin of coinsOf(tx, -1, false)) {
        if (spent.has(coin.point) || !(await this.isMine(coin.address))) continue;
        if (isOwn) balanceSat += coin.valueSat;
        else unconfirmedSat += coin.valueSat;
        if (!coin.isStake) spendable.push(coin.point);
      }
    }
    return { balanceSat, unconfirmedSat, immatureSat, spendable: spendable.sort() };
  }

  /** Unconfirmed transactions that are not in the mempool and not abandoned, according to the wallet. */
  async stuck(chain: ChainCount, tip: string): Promise<DecodedTx[]> {
    interface Listed {
      readonly txid: string;
      readonly confirmations: number;
      readonly abandoned?: boolean;
    }
    const { transactions } = await this.call<{ transactions: Listed[] }>('listsinceblock', [tip]);
    // Only the sending entries of an abandoned transaction say that it is abandoned.
    const givenUp = new Set(
      transactions.filter(({ abandoned }) => abandoned === true).map(({ txid }) => txid),
    );
    const ids = new Set(
      transactions
        .filter(
          ({ txid, confirmations }) => confirmations === 0 && !givenUp.has(txid) && !chain.isPending(txid),
        )
        .map(({ txid }) => txid),
    );
    const found: DecodedTx[] = [];
    for (const id of ids) {
      const { hex } = await this.call<{ hex: string }>('gettransaction', [id]);
      found.push(await this.call<DecodedTx>('decoderawtransaction', [hex]));
    }
    return found;
  }
}
