/**
 * Builds and sends transactions of a wallet: selects and reserves coins, adds change, and signs inputs. Reservations are
 * released after a failure and after a preview. The content of outputs (claims, supports) does not concern this module.
 * Source: lbry-sdk lbry/wallet/transaction.py `Transaction.create`, lbry/wallet/ledger.py `broadcast_or_release`.
 */
import { MAX_CLAIM_NAME_SIZE, MAX_CLAIM_SCRIPT_SIZE } from '../../consensus/limits.js';
import { formatOutPoint, txid, type Transaction } from '../../primitives/transaction.js';
import { hashToHex, toHex, type Bytes } from '../../util/bytes.js';
import { KeyedQueue } from '../../scheduler/keyedQueue.js';
import { inSlices } from '../../scheduler/slices.js';
import { claimNameLength, claimPrefixLength } from '../../script/claimScript.js';
import { badValue, DaemonError, failure } from '../base/daemonError.js';
import type { OutPointRef } from '../ledger/txoQuery.js';
import type { TransactionJson } from '../txo/outputJson.js';
import { TX_HEIGHT, Txo, type TxoNotes } from '../txo/txo.js';
import {
  draftSize,
  fundDraft,
  signDraft,
  signingHash,
  spend,
  type TxDraft,
  type DraftInput,
  type FundingPort,
  type DraftSpentOutput,
} from '../wallet/tx/draft.js';
import type { SelectionStrategy } from '../wallet/tx/coinSelection.js';
import { type NewOutput } from '../wallet/tx/newOutputs.js';
import { InputChoice } from './inputChoice.js';
import { payTo } from './destinations.js';
import { HeldOutputs } from './heldOutputs.js';
import type { AccountPort, TxBuildingPorts, WalletPort } from './ports.js';

/** Description of a transaction to build. */
export interface Plan {
  readonly wallet: WalletPort;
  /** Outputs that the transaction must spend. They are its first inputs, in this order. */
  readonly given?: readonly GivenOutput[];
  readonly outputs: readonly NewOutput[];
  /** Accounts whose coins pay the missing amount. */
  readonly funding: readonly AccountPort[];
  /** Account that receives the change. */
  readonly change: AccountPort;
  /** Changes data that depends on the first input (such as signatures). Called once the first input is known. */
  readonly finish?: (draft: TxDraft) => TxDraft | Promise<TxDraft>;
  /** Notes that are added to the first output of the result. */
  readonly notes?: TxoNotes;
  /** Called after the transaction is built and before it is sent; not called for a preview. */
  readonly beforeSending?: () => Promise<void>;
  /** Private key for a key hash that does not belong to an account, for example of a time lock. */
  readonly extraKey?: { readonly pubkeyHash: Bytes; readonly privateKey: Bytes };
  /**
   * If false, the call fails immediately if there are not enough coins, even if unsent transactions may give change. Calls
   * that build several transactions before they send the first one must set it; otherwise they would wait for their own
   * transactions.
   */
  readonly waitsForChange?: boolean;
}

export interface GivenOutput {
  readonly txo: Txo;
  /** Whether the output is a coin. A coin must be reserved, so that coin selection does not select it again. */
  readonly isCoin: boolean;
  /** Redeem script of a time lock, if the output has one. */
  readonly redeemScript?: Bytes;
}

/** A signed transaction that was not broadcast. The outputs that it spends are reserved. */
export interface MadeTransaction extends TransactionJson {
  readonly reserved: readonly OutPointRef[];
  /**
   * Must be called after the transaction is sent or released. Other transactions may then use its change address and its
   * change.
   */
  readonly settled: () => void;
}

export interface SendOptions {
  /** If true, the transaction is built and returned, but not broadcast. */
  readonly preview: boolean;
}

/** Milliseconds that a blocking call waits for the transaction: ten minutes. Source: lbry-sdk lbry/wallet/ledger.py `wait`. */
const BLOCKING_MS = 600_000;

/** Maximum size in bytes of a standard transaction without a witness. Source: lbrycrd policy.h `MAX_STANDARD_TX_WEIGHT`. */
const MAX_STANDARD_SIZE = 100_000;

interface UnsentTransaction {
  /** Ids of the accounts that pay the transaction or get its change. */
  readonly accountIds: ReadonlySet<string>;
  /**
   * Resolves to true when the transaction was broadcast or its outputs were released, or to false if it ended without having
   * reserved outputs.
   */
  readonly freesCoins: Promise<boolean>;
}

const isInsufficientFunds = (error: unknown): boolean =>
  error instanceof DaemonError && error.name === 'InsufficientFundsError';

function tooLarge(size: number, { inputs, outputs }: TxDraft): DaemonError {
  const why =
    inputs.length > outputs.length
      ? `it would spend ${inputs.length} outputs. Spend fewer at once, or join small ones first: txo_spend with ` +
        '--type=other for coins, or with the type of claims or supports, makes several transactions of --batch_size outputs'
      : `it would have ${outputs.length} outputs. Pay to fewer addresses at once`;
  return failure(
    `The transaction would have ${size} bytes, and nodes relay at most ${MAX_STANDARD_SIZE}: ${why}.`,
  );
}

/**
 * Rejects claims and supports whose size is invalid in a block. lbry-sdk signs and sends them, and the hub rejects the
 * transaction.
 */
function refuseClaimSizes(outputs: readonly NewOutput[]): void {
  for (const { script } of outputs) {
    const nameSize = claimNameLength(script);
    if (nameSize > MAX_CLAIM_NAME_SIZE)
      throw failure(
        `The name has ${nameSize} bytes, and a claim may have a name of at most ${MAX_CLAIM_NAME_SIZE}.`,
      );
    const size = claimPrefixLength(script);
    if (size > MAX_CLAIM_SCRIPT_SIZE)
      throw failure(
        `The name and the metadata have ${size} bytes in the output script, and a claim or support may have at most ` +
          `${MAX_CLAIM_SCRIPT_SIZE}. Shorten the metadata.`,
      );
  }
}

const spentOf = ({ txid: hash, nout: index, amountDewies, script }: Txo): DraftSpentOutput => ({
  outPoint: { hash, index },
  amountDewies,
  script,
});

/** Creates a plain object, because the outpoint is sent to another thread. */
const placeOf = ({ txid: hash, nout }: OutPointRef): OutPointRef => ({ txid: hash, nout });

const refOf = ({ outPoint: { hash, index } }: DraftSpentOutput): OutPointRef => ({ txid: hash, nout: index });

const keyOf = ({ txid: hash, nout }: OutPointRef): string => `${hashToHex(hash)}:${nout}`;

export class TxBuilder {
  readonly ports: TxBuildingPorts;
  /** Locks on the claims and supports that unsent transactions spend. */
  readonly held = new HeldOutputs();
  readonly #coins: InputChoice;
  readonly #turns = new KeyedQueue();
  /**
   * Transactions that select or hold coins and are neither sent nor released yet. Other transactions may wait for their
   * change or released coins.
   */
  readonly #unsent = new Set<UnsentTransaction>();

  constructor(ports: TxBuildingPorts) {
    this.ports = ports;
    this.#coins = new InputChoice(ports.ledger.database, ports.random);
  }

  /**
   * Runs the creation of a channel with the account's next key. Other callers wait, because the account returns the same
   * next key until the database contains a channel with that key.
   */
  withNewChannelKey<Result>({ id }: AccountPort, run: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(`channel key ${id}`, run);
  }

  /**
   * Runs a function that checks whether the wallet has a claim with a name before it creates one. A concurrent call for the
   * same name waits for the first call, and then finds the new claim.
   */
  withName<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(`name ${name}`, run);
  }

  /** Like `withName`, for a function that checks whether a claim was bought before it buys the claim. */
  withPurchase<Result>(claimId: string, run: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(`purchase ${claimId}`, run);
  }

  /** Builds the transaction and sends it, or releases it for a preview. Throws `InsufficientFundsError`. */
  async make(plan: Plan, { preview }: SendOptions): Promise<MadeTransaction> {
    const made = await this.build(plan);
    if (preview) await this.release(made);
    else await this.send(made, plan.beforeSending);
    return made;
  }

  /**
   * Builds and signs a transaction and reserves its coins. The caller must send or release it. If there are not enough
   * coins, the call waits for the change of unsent transactions of the same accounts. Rejects with `InsufficientFundsError`.
   * Also rejects, before signing, if the transaction exceeds the relay limit or a claim has an invalid size.
   */
  async build(plan: Plan): Promise<MadeTransaction> {
    for (;;) {
      const before = this.#unsentOf(plan);
      const own = this.#addUnsent(plan);
      try {
        return await this.#build(plan, own);
      } catch (error) {
        // The attempt failed, so this transaction holds no coins any more. Other transactions must not wait for it;
        // otherwise two transactions could wait for each other.
        own.end();
        if (plan.waitsForChange === false || !isInsufficientFunds(error)) throw error;
        const frees = [...before, ...this.#unsentOf(plan)].map(async ({ freesCoins }) => {
          if (!(await freesCoins)) throw error;
        });
        // If a transaction with reserved outputs was broadcast or released, outputs may be available, and the build is
        // repeated. If none had reserved outputs, the error is final.
        await Promise.any(frees).catch(() => {
          throw error;
        });
      }
    }
  }

  /**
   * Unsent transactions that share a funding account with the plan. The plan may later use the outputs that they release, or
   * their change.
   */
  #unsentOf({ funding }: Plan): UnsentTransaction[] {
    return [...this.#unsent].filter(({ accountIds }) => funding.some(({ id }) => accountIds.has(id)));
  }

  async #build(plan: Plan, own: { hasCoins: boolean; end(): void }): Promise<MadeTransaction> {
    const { database } = this.ports.ledger;
    const known = new Map((plan.given ?? []).map(({ txo }) => [keyOf(txo), txo]));
    const changeHashes: Bytes[] = [];
    refuseClaimSizes(plan.outputs);
    const draft = await this.#funded(plan, known, changeHashes);
    own.hasCoins = true;
    const settled = (): void => {
      for (const hash of changeHashes) plan.change.freeChangeKeyHash(hash);
      own.end();
    };
    const reserved = draft.inputs.map(({ spent }) => refOf(spent));
    try {
      const finished = plan.finish ? await plan.finish(draft) : draft;
      refuseClaimSizes(finished.outputs);
      const tx = await this.#sign(finished, plan);
      const spent = reserved.map((ref) => known.get(keyOf(ref)) ?? null);
      const outputs = shownOutputs(tx, plan.notes);
      return { tx, height: TX_HEIGHT.notBroadcast, spent, outputs, reserved, settled };
    } catch (error) {
      await database.release(reserved).finally(settled);
      throw error;
    }
  }

  #addUnsent({ funding, change }: Plan): { hasCoins: boolean; end(): void } {
    let settle: (hadCoins: boolean) => void = () => undefined;
    const freesCoins = new Promise<boolean>((resolve) => (settle = resolve));
    const unsent = { accountIds: new Set([change.id, ...funding.map(({ id }) => id)]), freesCoins };
    this.#unsent.add(unsent);
    const own = {
      hasCoins: false,
      end: (): void => {
        this.#unsent.delete(unsent);
        settle(own.hasCoins);
      },
    };
    return own;
  }

  /**
   * Selects and reserves coins for a draft. If the transaction exceeds the relay limit, the selection is repeated with as
   * few coins as possible. Rejects if the transaction still exceeds the limit.
   */
  async #funded(plan: Plan, known: Map<string, Txo>, changeHashes: Bytes[]): Promise<TxDraft> {
    const { database } = this.ports.ledger;
    const given = plan.given ?? [];
    const coins = given.filter(({ isCoin }) => isCoin).map(({ txo }) => placeOf(txo));
    if (plan.funding.length === 0) throw badValue('There is no account to pay from.');
    for (const strategy of [this.ports.settings.strategy, 'largest'] as const) {
      if (coins.length > 0 && !(await database.reserve(coins)))
        throw failure('One of the outputs is spent or reserved by another transaction.');
      const port = this.#fundingPort(plan, strategy, known, coins, changeHashes);
      const draft = await fundDraft(given.map(draftInput), plan.outputs, port);
      const size = draftSize(draft);
      if (size <= MAX_STANDARD_SIZE) return draft;
      await database.release(draft.inputs.map(({ spent }) => refOf(spent)));
      for (const hash of changeHashes.splice(0)) plan.change.freeChangeKeyHash(hash);
      const isPaidByCoins = draft.inputs.length > given.length;
      if (strategy === 'largest' || !isPaidByCoins) throw tooLarge(size, draft);
    }
    throw new Error('no strategy');
  }

  /** Broadcasts the transaction. If that fails, releases the reserved outputs. */
  async send(made: MadeTransaction, before?: () => Promise<void>): Promise<void> {
    try {
      await before?.();
      await this.ports.ledger.broadcast(made.tx);
      made.settled();
    } catch (error) {
      await this.release(made);
      throw error;
    }
  }

  async release({ reserved, settled }: MadeTransaction): Promise<void> {
    await this.ports.ledger.database.release(reserved).finally(settled);
  }

  /** Resolves when a hub lists the transaction in a history of the wallet. Throws `TimeoutError`. */
  async waitFor({ tx }: MadeTransaction): Promise<void> {
    const hash = txid(tx);
    if (await this.ports.ledger.taken(hash, BLOCKING_MS)) return;
    throw new DaemonError('TimeoutError', `Timed out waiting for transaction. ${hashToHex(hash)}`);
  }

  /**
   * Creates the port through which a draft selects outputs and gets change addresses. The key hashes of change are added to
   * `changeHashes`.
   */
  #fundingPort(
    plan: Plan,
    strategy: SelectionStrategy | 'largest',
    known: Map<string, Txo>,
    given: readonly OutPointRef[],
    changeHashes: Bytes[],
  ): FundingPort {
    const { ledger, settings } = this.ports;
    const spendable = plan.funding.filter(({ isSpendable }) => isSpendable);
    // If no funding account can sign, all of them are used. Signing then fails because of the missing key, with the same
    // error as in the reference.
    const accountIds = (spendable.length > 0 ? spendable : plan.funding).map(({ id }) => id);
    const reserved = [...given];
    return {
      feePerNameChar: settings.feePerNameChar,
      choose: async (deficit) => {
        const coins = await this.#coins.choose(accountIds, deficit, strategy);
        reserved.push(...coins.map(placeOf));
        return coins.map(({ txid: hash, nout, amountDewies, height, address }) => {
          const { script } = payTo(amountDewies, address, ledger.params);
          const txo = new Txo({ txid: hash, nout, height, amountDewies, script, firstOutPoint: null });
          known.set(keyOf(txo), txo);
          return spentOf(txo);
        });
      },
      release: () => ledger.database.release(reserved),
      changeIsWitness: plan.change.paysToWitness ?? false,
      changeKeyHash: async () => {
        const hash = await plan.change.nextChangeKeyHash();
        changeHashes.push(hash);
        return hash;
      },
    };
  }

  async #sign(draft: TxDraft, plan: Plan): Promise<Transaction> {
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
