/** State of a wallet for spending: the queue of payments, input sizes, and scripts of coins. The state is in memory only. */
import { SerialQueue } from '../../scheduler/serialQueue.js';
import type { Slices } from '../../util/slices.js';
import type { TxOutput } from '../../primitives/transaction.js';
import type { Bytes } from '../../util/bytes.js';
import { scriptForDestination } from '../../script/standard.js';
import { keyedDestination } from '../destinationKey.js';
import { MINE_STAKE } from '../keys/isMine.js';
import { txKeyOf, type Entry, type OwnOutput } from '../ledger/entry.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Wallet } from '../wallet.js';
import { InputSizes } from './inputSizes.js';
import { SpendError } from './spendError.js';

/** Number of outputs that are read between two yields to the event loop. */
const OUTPUTS_AT_ONCE = 64;

/**
 * Scripts of the wallet's outputs. Most outputs have the standard script of their destination. Other scripts are not in the
 * ledger. They are read from the transaction rows once and cached, except for scripts of claims.
 */
export class CoinScripts {
  private readonly ledger: Ledger;
  private readonly scripts = new WeakMap<OwnOutput, Buffer>();
  /**
   * Outputs of the last transaction that was read, because several outputs of one transaction are often requested in
   * sequence.
   */
  private last: { readonly key: string; readonly outputs: readonly TxOutput[] } | null = null;

  constructor(ledger: Ledger) {
    this.ledger = ledger;
  }

  of(entry: Entry, output: OwnOutput): Bytes {
    if (output.isPlain) return scriptForDestination(keyedDestination(output.to));
    const known = this.scripts.get(output);
    if (known !== undefined) return known;
    if (this.last?.key !== entry.key)
      this.last = { key: entry.key, outputs: this.ledger.transaction(entry).outputs };
    const script = Buffer.from(this.last.outputs[output.n]!.script);
    if ((output.mine & MINE_STAKE) === 0) this.scripts.set(output, script);
    return script;
  }

  /** Reads the scripts of unspent outputs into the cache, so that `of` is fast. */
  *learn(): Slices<void> {
    let seen = 0;
    for (const [key, output] of this.ledger.unspentOutputs()) {
      if (!output.isPlain && (output.mine & MINE_STAKE) === 0)
        this.of(this.ledger.entry(txKeyOf(key))!, output);
      if (++seen % OUTPUTS_AT_ONCE === 0) yield;
    }
    this.last = null;
  }
}

class SpendState {
  /**
   * Queue that runs one payment at a time. Other callers therefore cannot select the same coins before these are marked as
   * spent.
   */
  readonly turn = new SerialQueue();
  isClosed = false;
  readonly sizes: InputSizes;
  readonly scripts: CoinScripts;
  /**
   * `nextResendSec`: time of the next rebroadcast; 0 if it is not determined yet. `lastResendSec`: time of the last
   * rebroadcast.
   */
  nextResendSec = 0;
  lastResendSec = 0;

  constructor({ keyring, ledger }: Wallet) {
    this.sizes = new InputSizes(keyring);
    this.scripts = new CoinScripts(ledger);
  }
}

const states = new WeakMap<Wallet, SpendState>();

export function spendStateOf(wallet: Wallet): SpendState {
  let state = states.get(wallet);
  if (state === undefined) states.set(wallet, (state = new SpendState(wallet)));
  return state;
}

/**
 * Runs a task that creates and commits a transaction. The tasks of a wallet run one at a time, so that two tasks cannot
 * select the same coins. Rejects with `SpendError` if the wallet is being closed. Source: the reference's `cs_wallet` around
 * `CreateTransaction` and `CommitTransaction`.
 */
export function inSpendTurn<T>(wallet: Wallet, task: () => Promise<T>): Promise<T> {
  const { isClosed, turn } = spendStateOf(wallet);
  if (isClosed) return Promise.reject(new SpendError('The wallet is being unloaded.'));
  return turn.run(task);
}

/** Prevents further spending. Resolves when no payment is running. */
export async function endSpending(wallet: Wallet): Promise<void> {
  const state = spendStateOf(wallet);
  state.isClosed = true;
  await state.turn.idle();
}
