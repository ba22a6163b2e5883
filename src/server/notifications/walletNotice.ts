/**
 * Notifications about open wallets: their transactions up to the requested number of confirmations, their balances, and
 * events of their claims and supports. docs/notifications.md describes the messages.
 */
import { inNextRound } from '../../scheduler/rounds.js';
import { hashToHex, fromLatin1, toLatin1 } from '../../util/bytes.js';
import { coins } from '../../util/json/json.js';
import { stringifyJson } from '../../util/json/jsonStream.js';
import { MINE } from '../../wallet/keys/isMine.js';
import { balance } from '../../wallet/ledger/balances.js';
import { outputKey, type Entry } from '../../wallet/ledger/entry.js';
import type { Wallet } from '../../wallet/wallet.js';
import type { Wallets } from '../../wallet/wallets.js';
import type { BlockNotice } from './blockNotice.js';
import type { NotificationListener, RemovedTransaction } from './stream.js';

export interface WalletNotice {
  readonly wallet: string;
  /**
   * Number of confirmations of the transaction in the message. A subscriber gets the message if it requested at least this
   * number. A message with 0 or 1 confirmation goes to all subscribers.
   */
  readonly depth: number;
  /** The message. */
  readonly json: string;
}

export interface WalletAudience {
  /** Maximum number of confirmations that a subscriber of the wallet requested; 0 without a subscriber. */
  depthWanted(wallet: string): number;
  tell(notice: WalletNotice): void;
}

export class WalletWatch implements NotificationListener {
  private readonly wallets: Pick<Wallets, 'all' | 'caughtUp'>;
  private readonly audience: WalletAudience;
  /** Wallets whose balance is checked at the end of this event loop turn. */
  private readonly changed = new Set<Wallet>();
  private blocks: BlockNotice[] = [];
  private isWaiting = false;
  private readonly balances = new WeakMap<Wallet, string>();

  constructor(wallets: Pick<Wallets, 'all' | 'caughtUp' | 'listen'>, audience: WalletAudience) {
    this.wallets = wallets;
    this.audience = audience;
    wallets.listen({
      transactionChanged: (wallet, entry, isNew) => {
        if (audience.depthWanted(wallet.name) === 0) return;
        this.tellTransaction(wallet, entry, isNew);
        this.look(wallet);
      },
    });
  }

  /** Stores the block until the wallets have processed it, since only then the claims of wallets are known. */
  blockChanged(block: BlockNotice): void {
    if (!this.wallets.all().some(({ name }) => this.audience.depthWanted(name) > 0)) return;
    this.blocks.push(block);
    this.look(null);
  }

  tipChanged(): void {
    for (const wallet of this.wallets.all()) {
      if (this.audience.depthWanted(wallet.name) === 0) continue;
      const behind = wallet.events.caughtUp();
      if (behind === null) this.tellDepths(wallet);
      else void behind.then(() => this.tellDepths(wallet));
    }
  }

  /** Reports transactions with a new number of confirmations, after the wallet has followed the chain to a new tip. */
  private tellDepths(wallet: Wallet): void {
    wallet.events.finish();
    const wanted = this.audience.depthWanted(wallet.name);
    // At a new tip, coinbase outputs mature and transactions with a lock height become final. Both change the balance.
    this.look(wallet);
    const { followedHeight, ledger, node } = wallet;
    for (let depth = 2; depth <= wanted && depth <= followedHeight + 1; depth++) {
      const hash = node.chain.hashAt(followedHeight - depth + 1);
      if (hash === null) break;
      for (const entry of ledger.inBlock(hash)) this.tellTransaction(wallet, entry, false);
    }
  }

  /**
   * A transaction that leaves the mempool stays in the wallet unchanged, but its outputs do not count in the balance until
   * it is in a block.
   */
  transactionRemoved({ txid }: Pick<RemovedTransaction[0], 'txid'>, reason: RemovedTransaction[1]): void {
    // A transaction that left the mempool because a block confirms it is reported with the block, not here.
    if (reason === 'block') return;
    const key = toLatin1(txid);
    for (const wallet of this.wallets.all())
      if (this.audience.depthWanted(wallet.name) > 0 && wallet.ledger.has(key)) this.look(wallet);
  }

  private tellTransaction(wallet: Wallet, entry: Entry, isNew: boolean): void {
    const { ledger, node, name } = wallet;
    const confirmations = ledger.depth(entry);
    let amountSat = -ledger.debit(entry, MINE.spendable);
    for (const { mine, valueSat } of entry.outputs) if ((mine & MINE.spendable) !== 0) amountSat += valueSat;
    const hash = entry.state === 'confirmed' ? node.chain.hashAt(entry.height) : null;
    const data = {
      event: 'transaction',
      wallet: name,
      txid: hashToHex(fromLatin1(entry.key)),
      new: isNew,
      confirmations,
      abandoned: entry.state === 'abandoned' ? true : undefined,
      blockhash: hash === null ? undefined : hashToHex(hash),
      height: hash === null ? undefined : entry.height,
      amount: coins(amountSat),
    };
    this.audience.tell({ wallet: name, depth: confirmations, json: stringifyJson(data) });
  }

  private look(wallet: Wallet | null): void {
    if (wallet !== null) this.changed.add(wallet);
    if (this.isWaiting) return;
    this.isWaiting = true;
    inNextRound(() => {
      const behind = this.wallets.caughtUp();
      if (behind === null) this.tellChanges();
      else void behind.then(() => this.tellChanges());
    });
  }

  private tellChanges(): void {
    this.isWaiting = false;
    const { blocks } = this;
    this.blocks = [];
    const wallets = this.wallets.all().filter(({ name }) => this.audience.depthWanted(name) > 0);
    for (const { events } of wallets) events.finish();
    for (const block of blocks) for (const one of wallets) this.tellClaims(one, block);
    const changed = wallets.filter((one) => this.changed.has(one));
    this.changed.clear();
    for (const one of changed) {
      // If a wallet is sending a transaction, its balance is compared after the end of the sending.
      if (one.announcements.isHolding) one.announcements.whenFree(() => this.look(one));
      else this.tellBalance(one);
    }
  }

  /** Notifies about claims whose output belongs to the wallet. */
  private tellClaims({ name, ledger }: Wallet, block: BlockNotice): void {
    for (const { event, json } of block.claims) {
      const { txid, n } = event;
      if (txid === undefined || n === undefined) continue;
      if (((ledger.output(outputKey(toLatin1(txid), n))?.mine ?? 0) & MINE.spendable) === 0) continue;
      const data = `{"event":"claim","wallet":${JSON.stringify(name)},"claim":${json}}`;
      this.audience.tell({ wallet: name, depth: 1, json: data });
    }
  }

  /** Reports the wallet's balance if it differs from the balance that was reported last. */
  private tellBalance(wallet: Wallet): void {
    const { trusted, pending, immature } = balance(wallet.ledger, wallet.balanceOptions);
    const json = stringifyJson({
      event: 'balance',
      wallet: wallet.name,
      balance: coins(trusted),
      unconfirmed_balance: coins(pending),
      immature_balance: coins(immature),
    });
    if (this.balances.get(wallet) === json) return;
    this.balances.set(wallet, json);
    this.audience.tell({ wallet: wallet.name, depth: 1, json });
  }
}
