/**
 * The claim events of any block of the active chain, equal to the events reported when the block was connected
 * (`claimEvents.ts`). They are computed from the block's transactions and log, the item rows, and the rows of outputs that
 * were created and spent within the block. The block is not connected again.
 */
import type { ClaimOperation, WorkEvent } from '../../../claimtrie/claimWork.js';
import { spendCandidates } from '../../../claimtrie/blockTransactions.js';
import { pointKey, REMOVAL, type Item } from '../../../claimtrie/item.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import { ActiveClaim } from '../../../claimtrie/nameState.js';
import type { ClaimBlock, ClaimEvent, ClaimRules, ClaimSpend, ClaimTx } from '../../../claimtrie/types.js';
import { toLatin1 } from '../../../util/bytes.js';
import { assert } from '../../../util/assert.js';
import type { RowReader } from '../../rows/rows.js';
import { YieldTimer } from '../../../scheduler/yieldTimer.js';
import { describeEvents } from './claimEvents.js';
import { itemKey } from '../rows/claimKeys.js';
import type { ClaimInfo } from './claimQueries.js';
import { asFiled, ownerOf } from './fleetingItem.js';
import { itemsByOrdinal } from './itemHistory.js';
import { parseItemRow } from '../rows/itemRow.js';
import { readFleetingItems } from '../lbcd/lbcdFleeting.js';
import { readLog, type ItemRef, type LogEvent } from '../rows/logRow.js';
import { isRefileFork } from '../refileFork.js';

/** Number of transactions whose rows are read together. Arbitrary. */
const TRANSACTIONS_AT_ONCE = 256;

/**
 * The claim events of a block. `block` contains its claim operations. Empty for the normalization fork's block. The result
 * is invalid if the block is disconnected during the call.
 */
export async function readPastEvents(
  rows: RowReader,
  rules: ClaimRules,
  block: ClaimBlock,
): Promise<ClaimEvent[]> {
  if (isRefileFork(rules, block.height)) return [];
  const log = await readLog(rows, block.height);
  const reader = new PastBlockReader(rows, rules, block);
  return describeEvents(await reader.operations(), await reader.end(log));
}

class PastBlockReader {
  private readonly rows: RowReader;
  private readonly rules: ClaimRules;
  private readonly block: ClaimBlock;
  private readonly yieldTimer = new YieldTimer();

  constructor(rows: RowReader, rules: ClaimRules, block: ClaimBlock) {
    this.rows = rows;
    this.rules = rules;
    this.block = block;
  }

  /** The claim operations of the block's transactions, in their order. */
  async operations(): Promise<ClaimOperation[]> {
    const { transactions, height } = this.block;
    if (transactions.length === 0) return [];
    const fleeting = new Map<string, Item>();
    for (const item of await readFleetingItems(this.rows, height))
      fleeting.set(item.point, await asFiled(this.rows, this.rules, item));
    const operations: ClaimOperation[] = [];
    for (let at = 0; at < transactions.length; at += TRANSACTIONS_AT_ONCE) {
      const some = transactions.slice(at, at + TRANSACTIONS_AT_ONCE);
      const items = await this.itemsOf(some);
      for (const tx of some) this.addOperations(tx, items, fleeting, operations);
      if (this.yieldTimer.isDue) await this.yieldTimer.pause();
    }
    return operations;
  }

  private addOperations(
    { txid, spends, outputs }: ClaimTx,
    items: ReadonlyMap<string, Item>,
    fleeting: ReadonlyMap<string, Item>,
    operations: ClaimOperation[],
  ): void {
    const { height } = this.block;
    for (const spend of spends) {
      const point = pointKey(spend.txid, spend.n);
      const stored = items.get(point);
      const item = spend.coinHeight === height ? fleeting.get(point) : stored;
      if (item?.removed === height && item.removal === REMOVAL.spent)
        operations.push({ item, spentBy: txid });
    }
    for (const { n } of outputs) {
      const point = pointKey(txid, n);
      const made = fleeting.get(point) ?? items.get(point);
      if (made !== undefined) operations.push({ item: made, spentBy: null });
    }
  }

  /**
   * The items (claims and supports) of the transactions by outpoint: items that they spent, and items that they created and
   * that were unspent at the end of the block.
   */
  private async itemsOf(transactions: readonly ClaimTx[]): Promise<Map<string, Item>> {
    const { height } = this.block;
    const places: { name: string; since: number; point: string }[] = [];
    for (const { txid, spends, outputs } of transactions) {
      for (const spend of spends) {
        if (spend.coinHeight === height) continue;
        const point = pointKey(spend.txid, spend.n);
        for (const { name, since } of this.candidates(spend)) places.push({ name, since, point });
      }
      for (const { n, name } of outputs) {
        const raw = toLatin1(name);
        const point = pointKey(txid, n);
        for (const filed of new Set([raw, normalizeKey(raw), normalizeKey(normalizeKey(raw))]))
          places.push({ name: filed, since: height, point });
      }
    }
    const found = await this.rows.getMany(
      places.map(({ name, since, point }) => itemKey(name, since, point)),
    );
    const items = new Map<string, Item>();
    places.forEach(({ name, since, point }, i) => {
      const row = found[i];
      if (row === undefined) return;
      const item = parseItemRow(name, since, point, row);
      const isMade = since === height;
      if (isMade) items.set(point, this.asMade(item));
      else if (item.removed === height && item.removal === REMOVAL.spent) items.set(point, item);
    });
    return items;
  }

  /** Names under which the spent output may be stored. Normalization may have been applied twice. */
  private candidates(spend: ClaimSpend): { name: string; since: number }[] {
    const found = spendCandidates(this.rules, this.block.height, spend);
    return found.flatMap(({ name, since }) => {
      const twice = normalizeKey(name);
      return twice === name
        ? [{ name, since }]
        : [
            { name, since },
            { name: twice, since },
          ];
    });
  }

  /** An item (claim or support) that the block created, in its state at the end of the block. */
  private asMade(item: Item): Item {
    return item.activated > this.block.height ? { ...item, activated: 0 } : item;
  }

  /** The events at the end of the block, read from its log. Items and controlling claims are in their state at that time. */
  async end(log: readonly LogEvent[]): Promise<WorkEvent[]> {
    const events: WorkEvent[] = [];
    const groups = new Map<string, Map<number, Item>>();
    const find = async ({ name, since, ordinal }: ItemRef): Promise<Item> => {
      const group = `${since}:${name}`;
      let items = groups.get(group);
      if (!items) groups.set(group, (items = await itemsByOrdinal(this.rows, name, since)));
      const item = items.get(ordinal);
      assert(item, 'an item of the log of a block is missing');
      return item;
    };
    for (const event of log) {
      if (event.op === 'activate' || event.op === 'expire')
        events.push({ op: event.op, item: await find(event.ref) });
      else if (event.op === 'takeover') events.push(await this.takeover(event.name, event.before));
      if (this.yieldTimer.isDue) await this.yieldTimer.pause();
    }
    return events;
  }

  private async takeover(name: string, before: number): Promise<WorkEvent> {
    const { height } = this.block;
    const owner = await ownerOf(this.rows, this.rules, name, height);
    const former = await ownerOf(this.rows, this.rules, name, height - 1);
    return {
      op: 'takeover',
      name,
      before,
      owner: owner && asActive(owner),
      formerId: former ? toLatin1(former.claimId) : '',
    };
  }
}

function asActive(claim: ClaimInfo): ActiveClaim {
  const { txid, n, claimId, amount, height, effectiveAmount } = claim;
  return new ActiveClaim(
    pointKey(txid, n),
    false,
    toLatin1(claimId),
    amount,
    height,
    height,
    effectiveAmount,
  );
}
