/** What spending keeps of a wallet in memory: whose turn it is, sizes of inputs, scripts of coins. None of it is on disk. */
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

/** Outputs that are read between two pauses. */
const OUTPUTS_AT_ONCE = 64;

/**
 * Scripts of the wallet's outputs. Most are those of their destinations; of the others the ledger does not hold them, and they
 * are read from the rows, once. Those of claims are not kept.
 */
export class CoinScripts {
  private readonly ledger: Ledger;
  private readonly scripts = new WeakMap<OwnOutput, Buffer>();
  /** The outputs read last, since those of one transaction follow one another. */
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

  /** Reads what is unspent, so that `of` has it. */
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

export class SpendState {
  /** One payment at a time: between choosing coins and noting that they are spent no other caller may choose. */
  readonly turn = new SerialQueue();
  isClosed = false;
  readonly sizes: InputSizes;
  readonly scripts: CoinScripts;
  /** When transactions are announced again, 0 before that was thought of; and when they were last. */
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
 * Runs a task that makes and commits a transaction, one at a time for each wallet: what one chooses the next finds spent.
 * Rejects with `SpendError` once the wallet is being closed. Source: the reference's `cs_wallet` around `CreateTransaction` and
 * `CommitTransaction`.
 */
export function inSpendTurn<T>(wallet: Wallet, task: () => Promise<T>): Promise<T> {
  const { isClosed, turn } = spendStateOf(wallet);
  if (isClosed) return Promise.reject(new SpendError('The wallet is being unloaded.'));
  return turn.run(task);
}

/** Lets no one spend any more; resolves when nothing is under way. */
export async function endSpending(wallet: Wallet): Promise<void> {
  const state = spendStateOf(wallet);
  state.isClosed = true;
  await state.turn.idle();
}
