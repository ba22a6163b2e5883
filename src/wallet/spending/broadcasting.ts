/**
 * Rebroadcasts the wallet's unconfirmed transactions: adds them to the mempool when the wallet is opened, and announces them
 * to peers from time to time, in case peers have lost them. Source: lbrycrd wallet/wallet.cpp `ReacceptWalletTransactions`,
 * `ResendWalletTransactions`, `RelayWalletTransaction`.
 */
import { randomInt } from 'node:crypto';
import { fromLatin1, type Bytes } from '../../util/bytes.js';
import type { Entry } from '../ledger/entry.js';
import type { NodePort } from '../port.js';
import type { Wallet } from '../wallet.js';
import { spendStateOf } from './spendState.js';

/** Maximum number of seconds until the next rebroadcast. */
const MAX_WAIT_SEC = 30 * 60;
/** Transactions that were received less than this number of seconds before the last block are not rebroadcast yet. */
const GRACE_SEC = 5 * 60;
/** Milliseconds between the checks whether a rebroadcast is due. */
const TICK_MS = 15_000;

function waiting({ ledger }: Wallet): Entry[] {
  const found: Entry[] = [];
  for (const entry of ledger.unsettled())
    if (entry.state === 'unconfirmed' && !entry.isCoinbase) found.push(entry);
  return found;
}

/** Adds unconfirmed transactions to the mempool, in order of arrival. Transactions that the mempool rejects stay unconfirmed. */
export async function reacceptTransactions(wallet: Wallet): Promise<void> {
  if (!wallet.options.broadcasts) return;
  const entries = waiting(wallet).sort((a, b) => a.orderPos - b.orderPos);
  for (const entry of entries) if (!entry.inMempool) await submit(wallet, entry);
}

/**
 * Adds a transaction to the mempool. Returns whether the mempool accepted it. A transaction that was abandoned, mined or
 * removed in between is skipped.
 */
async function submit({ ledger, node, options }: Wallet, entry: Entry): Promise<boolean> {
  if (entry.state !== 'unconfirmed' || ledger.entry(entry.key) !== entry) return false;
  return (await node.mempool.submit(ledger.transaction(entry), options.maxTxFeeSat)) === null;
}

/**
 * Announces the unconfirmed transactions that were received up to a time. Returns the ids of the announced transactions in
 * wire order. The ids are sorted by time, and at equal times by their bytes, as in the reference.
 */
export async function resendBefore(wallet: Wallet, timeSec: number): Promise<Bytes[]> {
  const entries = waiting(wallet)
    .filter(({ row }) => row.timeReceivedSec <= timeSec)
    .sort((a, b) => a.row.timeReceivedSec - b.row.timeReceivedSec || (a.key < b.key ? -1 : 1));
  const sent: Bytes[] = [];
  for (const entry of entries) {
    const txid = fromLatin1(entry.key);
    if (entry.inMempool) wallet.node.mempool.announce(txid);
    else if (!(await submit(wallet, entry))) continue;
    sent.push(txid);
  }
  return sent;
}

/**
 * Rebroadcasts unconfirmed transactions if the planned time has come. A rebroadcast happens rarely and at random times, so
 * that the sender is not revealed, and only after a new block. `bestBlockSec` is the arrival time of the last block. Source:
 * `ResendWalletTransactions`.
 */
export async function resendWhenDue(
  wallet: Wallet,
  bestBlockSec: number,
  chooseWait = (): number => randomInt(MAX_WAIT_SEC),
): Promise<void> {
  const state = spendStateOf(wallet);
  const nowSec = wallet.node.nowSec();
  if (nowSec < state.nextResendSec || !wallet.options.broadcasts) return;
  const isFirst = state.nextResendSec === 0;
  state.nextResendSec = nowSec + chooseWait();
  await wallet.events.caughtUp();
  if (isFirst || bestBlockSec < state.lastResendSec) return;
  state.lastResendSec = nowSec;
  const sent = await resendBefore(wallet, bestBlockSec - GRACE_SEC);
  if (sent.length > 0)
    wallet.node.log.info(`${wallet.logName} rebroadcast ${sent.length} unconfirmed transactions`);
}

/** Runs the rebroadcasts of all wallets of a node. */
export class Rebroadcaster {
  private readonly node: NodePort;
  private readonly wallets: () => readonly Wallet[];
  private bestBlockSec = 0;
  private timer: NodeJS.Timeout | null = null;
  private off: () => void = () => undefined;
  private running: Promise<void> | null = null;

  constructor(node: NodePort, wallets: () => readonly Wallet[]) {
    this.node = node;
    this.wallets = wallets;
  }

  /** Starts the broadcasts. Has no effect after the first call. */
  start(): void {
    if (this.timer !== null) return;
    this.off = this.node.listen({
      blockConnected: () => undefined,
      blockDisconnected: () => undefined,
      transactionAdded: () => undefined,
      transactionRemoved: () => undefined,
      tipChanged: () => void (this.bestBlockSec = this.node.nowSec()),
    });
    this.timer = setInterval(() => void this.tick(), TICK_MS);
    this.timer.unref();
  }

  /** During the initial block download nothing is rebroadcast, because old transactions still look unconfirmed. */
  private async tick(): Promise<void> {
    if (this.running !== null || this.node.chain.isInitialDownload()) return;
    this.running = this.resend();
    await this.running;
    this.running = null;
  }

  private async resend(): Promise<void> {
    for (const wallet of this.wallets()) {
      try {
        await wallet.events.use(() => resendWhenDue(wallet, this.bestBlockSec));
      } catch (error) {
        this.node.log.warn(`${wallet.logName} Rebroadcasting failed: ${String(error)}`);
      }
    }
  }

  /** Resolves when no rebroadcast is running. */
  async stop(): Promise<void> {
    this.off();
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    await this.running;
  }
}
