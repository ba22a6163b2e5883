/**
 * Makes transactions of a wallet and sends them: coins are chosen and reserved, change is given, inputs are signed; what
 * was reserved is free again wherever that fails, and after a preview. Knows nothing of what the outputs say.
 * Source: lbry-sdk lbry/wallet/transaction.py `Transaction.create`, lbry/wallet/ledger.py `broadcast_or_release`;
 * sdk-facts 5.3.
 */
import { formatOutPoint, txid, type Transaction } from '../../primitives/transaction.js';
import { hashToHex, toHex, type Bytes } from '../../util/bytes.js';
import { KeyedQueue } from '../../util/keyedQueue.js';
import { inSlices } from '../../util/slices.js';
import { badValue, DaemonError, failure } from '../base/daemonError.js';
import type { OutPointRef } from '../ledger/txoQuery.js';
import type { ShownTransaction } from '../txo/outputJson.js';
import { TX_HEIGHT, Txo, type TxoNotes } from '../txo/txo.js';
import {
  fundDraft,
  signDraft,
  signingHash,
  spend,
  type Draft,
  type DraftInput,
  type FundingPort,
  type SpentOutput,
} from '../wallet/tx/draft.js';
import { payKeyHash, type NewOutput } from '../wallet/tx/newOutputs.js';
import { CoinChoice } from './coinChoice.js';
import { keyHashOf } from './destinations.js';
import { HeldOutputs } from './heldOutputs.js';
import type { AccountPort, MakingPorts, WalletPort } from './ports.js';

/** What a transaction is made of. */
export interface Plan {
  readonly wallet: WalletPort;
  /** Outputs that it spends whatever else it needs, in this order, first. */
  readonly given?: readonly GivenOutput[];
  readonly outputs: readonly NewOutput[];
  /** Pay what is missing. */
  readonly funding: readonly AccountPort[];
  /** Gets what is left. */
  readonly change: AccountPort;
  /** Changes what hangs on the first input, once that is known. */
  readonly finish?: (draft: Draft) => Draft | Promise<Draft>;
  /** Of the first output. */
  readonly notes?: TxoNotes;
  /** Done once the transaction is made, before it is sent; not for a preview. */
  readonly beforeSending?: () => Promise<void>;
  /** Private key to a key hash that no account has. */
  readonly extraKey?: { readonly pubkeyHash: Bytes; readonly privateKey: Bytes };
}

export interface GivenOutput {
  readonly txo: Txo;
  /** Coins are reserved, lest they are chosen as well. */
  readonly isCoin: boolean;
  /** Of a time lock. */
  readonly redeemScript?: Bytes;
}

/** A signed transaction, of which the coins are reserved. */
export interface MadeTransaction extends ShownTransaction {
  readonly reserved: readonly OutPointRef[];
  /** Lets others have its change address. */
  readonly freeChange: () => void;
}

export interface SendOptions {
  /** Made and shown, but not sent. */
  readonly preview: boolean;
}

/** After ten minutes there is hardly hope. Source: lbry-sdk lbry/wallet/ledger.py `wait`. */
const BLOCKING_MS = 600_000;

const spentOf = ({ txid: hash, nout: index, amountDewies, script }: Txo): SpentOutput => ({
  outPoint: { hash, index },
  amountDewies,
  script,
});

/** Bare: it goes to another thread. */
const placeOf = ({ txid: hash, nout }: OutPointRef): OutPointRef => ({ txid: hash, nout });

const refOf = ({ outPoint: { hash, index } }: SpentOutput): OutPointRef => ({ txid: hash, nout: index });

const keyOf = ({ txid: hash, nout }: OutPointRef): string => `${hashToHex(hash)}:${nout}`;

export class Maker {
  readonly ports: MakingPorts;
  /** Claims and the like that are being spent. */
  readonly held = new HeldOutputs();
  readonly #coins: CoinChoice;
  readonly #turns = new KeyedQueue();

  constructor(ports: MakingPorts) {
    this.ports = ports;
    this.#coins = new CoinChoice(ports.ledger.database, ports.random);
  }

  /**
   * Runs what makes a channel with the next key of the account; nobody else gets that key meanwhile: it is the same until a
   * channel with it stands in the database.
   */
  withNewChannelKey<Result>({ id }: AccountPort, run: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(`channel key ${id}`, run);
  }

  /** Runs what looks for claims of that name before it makes one; whoever does so meanwhile waits, and finds it. */
  withName<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(`name ${name}`, run);
  }

  /** The same for purchases of a claim. */
  withPurchase<Result>(claimId: string, run: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(`purchase ${claimId}`, run);
  }

  /** Makes the transaction and sends it, or releases it where it is a preview. Throws `InsufficientFundsError`. */
  async make(plan: Plan, { preview }: SendOptions): Promise<MadeTransaction> {
    const made = await this.build(plan);
    if (preview) await this.release(made);
    else await this.send(made, plan.beforeSending);
    return made;
  }

  /** The transaction, signed, its coins reserved: it must be sent or released. Throws `InsufficientFundsError`. */
  async build(plan: Plan): Promise<MadeTransaction> {
    const { database } = this.ports.ledger;
    const given = plan.given ?? [];
    const coins = given.filter(({ isCoin }) => isCoin).map(({ txo }) => placeOf(txo));
    if (plan.funding.length === 0) throw badValue('No account is there to pay from.');
    if (coins.length > 0 && !(await database.reserve(coins)))
      throw failure('One of the outputs is spent or reserved by another transaction.');
    const known = new Map(given.map(({ txo }) => [keyOf(txo), txo]));
    const changeHashes: Bytes[] = [];
    const freeChange = (): void => {
      for (const hash of changeHashes) plan.change.freeChangeKeyHash(hash);
    };
    const port = this.#fundingPort(plan, known, coins, changeHashes);
    const draft = await fundDraft(given.map(draftInput), plan.outputs, port);
    const reserved = draft.inputs.map(({ spent }) => refOf(spent));
    try {
      const finished = plan.finish ? await plan.finish(draft) : draft;
      const tx = await this.#sign(finished, plan);
      const spent = reserved.map((ref) => known.get(keyOf(ref)) ?? null);
      const outputs = shownOutputs(tx, plan.notes);
      return { tx, height: TX_HEIGHT.notBroadcast, spent, outputs, reserved, freeChange };
    } catch (error) {
      freeChange();
      await database.release(reserved);
      throw error;
    }
  }

  /** Where it fails, what the transaction had reserved is free again. */
  async send(made: MadeTransaction, before?: () => Promise<void>): Promise<void> {
    try {
      await before?.();
      await this.ports.ledger.broadcast(made.tx);
      made.freeChange();
    } catch (error) {
      await this.release(made);
      throw error;
    }
  }

  async release({ reserved, freeChange }: MadeTransaction): Promise<void> {
    freeChange();
    await this.ports.ledger.database.release(reserved);
  }

  /** Resolves when the wallet has seen the transaction come back. Throws `TimeoutError`. */
  async waitFor({ tx }: MadeTransaction): Promise<void> {
    const hash = txid(tx);
    if (await this.ports.ledger.taken(hash, BLOCKING_MS)) return;
    throw new DaemonError('TimeoutError', `Timed out waiting for transaction. ${hashToHex(hash)}`);
  }

  /** Notes key hashes that change goes to in `changeHashes`. */
  #fundingPort(
    plan: Plan,
    known: Map<string, Txo>,
    given: readonly OutPointRef[],
    changeHashes: Bytes[],
  ): FundingPort {
    const { ledger, settings } = this.ports;
    const spendable = plan.funding.filter(({ isSpendable }) => isSpendable);
    // Where none can, the answer is the reference's: the signature fails for want of the key.
    const accountIds = (spendable.length > 0 ? spendable : plan.funding).map(({ id }) => id);
    const reserved = [...given];
    return {
      feePerNameChar: settings.feePerNameChar,
      choose: async (deficit) => {
        const coins = await this.#coins.choose(accountIds, deficit, settings.strategy);
        reserved.push(...coins.map(placeOf));
        return coins.map(({ txid: hash, nout, amountDewies, height, address }) => {
          const { script } = payKeyHash(amountDewies, keyHashOf(address, ledger.params));
          const txo = new Txo({ txid: hash, nout, height, amountDewies, script, firstOutPoint: null });
          known.set(keyOf(txo), txo);
          return spentOf(txo);
        });
      },
      release: () => ledger.database.release(reserved),
      changeKeyHash: async () => {
        const hash = await plan.change.nextChangeKeyHash();
        changeHashes.push(hash);
        return hash;
      },
    };
  }

  async #sign(draft: Draft, plan: Plan): Promise<Transaction> {
    const keys = new Map<string, Bytes>();
    for (const input of draft.inputs) {
      const hash = signingHash(input);
      if (hash === undefined || keys.has(toHex(hash))) continue;
      const key = await this.#keyTo(hash, plan);
      if (key !== null) keys.set(toHex(hash), key);
    }
    return inSlices(signDraft(draft, (hash) => keys.get(toHex(hash)) ?? null));
  }

  async #keyTo(hash: Bytes, { wallet, extraKey }: Plan): Promise<Bytes | null> {
    if (extraKey && toHex(extraKey.pubkeyHash) === toHex(hash)) return extraKey.privateKey;
    for (const account of wallet.accounts) {
      const key = await account.privateKeyOf(hash);
      if (key !== null) return key;
    }
    return null;
  }
}

function draftInput({ txo, redeemScript }: GivenOutput): DraftInput {
  return redeemScript ? { spent: spentOf(txo), redeemScript } : spend(spentOf(txo));
}

function shownOutputs(tx: Transaction, notes: TxoNotes | undefined): Txo[] {
  const hash = txid(tx);
  const [first] = tx.inputs;
  const firstOutPoint = first ? formatOutPoint(first.prevout) : null;
  return tx.outputs.map(
    ({ value, script }, nout) =>
      new Txo(
        { txid: hash, nout, height: TX_HEIGHT.notBroadcast, amountDewies: value, script, firstOutPoint },
        nout === 0 ? notes : undefined,
      ),
  );
}
