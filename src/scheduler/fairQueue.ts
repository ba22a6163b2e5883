/**
 * A fair queue: holds waiting items of several clients, and the usage of each client. The next item belongs to the client
 * with the least usage; if usage is equal, the earliest item is next. `PeerQueue`, `ClientQueue` and `FairSlots` use it to
 * assign turns.
 */

export interface FairQueueOptions {
  /** A monotonic clock in ms. */
  readonly nowMs: () => number;
  /** Milliseconds in which the usage of a client decays to half. If absent, usage does not decay. */
  readonly halfLifeMs?: number;
  /** Initial usage of a new client in ms. */
  readonly entryMs?: number;
  /**
   * Maximum by which the usage of a returning client may be below that of the last served client, so that idle clients
   * cannot save up more. Unlimited if absent.
   */
  readonly creditMs?: number;
}

/**
 * Usage of a client. It is scaled by a power of two that grows with time. Decay therefore does not require updates of stored
 * values, and the order of clients does not change.
 */
interface Account {
  use: number;
  /** Number of the era to which the scale of `use` belongs. */
  era: number;
}

interface Waiting<Item> {
  readonly account: Account;
  weight: number;
  readonly items: { readonly item: Item; readonly arrival: number }[];
}

/**
 * Number of half-lives after which all usage is scaled down. Scaling by a larger power of two would exceed the range of
 * numbers.
 */
const ERA_HALF_LIVES = 256;

export class FairQueue<Item> {
  private readonly nowMs: () => number;
  private readonly halfLifeMs: number;
  private readonly entryMs: number;
  private readonly creditMs: number;
  private readonly accounts = new WeakMap<object, Account>();
  private readonly waiting = new Map<object, Waiting<Item>>();
  private era = 0;
  /** Highest usage of a client when one of its items was taken. */
  private mark = 0;
  private arrivals = 0;
  private count = 0;

  constructor({ nowMs, halfLifeMs = Infinity, entryMs = 0, creditMs = Infinity }: FairQueueOptions) {
    this.nowMs = nowMs;
    this.halfLifeMs = halfLifeMs;
    this.entryMs = entryMs;
    this.creditMs = creditMs;
  }

  /** Number of items that wait in the queue. */
  get size(): number {
    return this.count;
  }

  /** Whether no client other than `client` has waiting items. */
  isAlone(client: object): boolean {
    return this.waiting.size === 0 || (this.waiting.size === 1 && this.waiting.has(client));
  }

  /** Waiting items in no particular order. */
  *items(): Generator<Item> {
    for (const { items } of this.waiting.values()) for (const { item } of items) yield item;
  }

  /** Adds an item of a client. After the call, the client's usage counts `weight` times. */
  add(client: object, item: Item, weight = 1): void {
    const account = this.account(client);
    account.use = Math.max(account.use, this.mark - this.creditMs);
    let waiting = this.waiting.get(client);
    if (waiting === undefined) this.waiting.set(client, (waiting = { account, weight, items: [] }));
    waiting.weight = weight;
    waiting.items.push({ item, arrival: this.arrivals++ });
    this.count++;
  }

  /** Adds time in milliseconds to a client's usage. */
  charge(client: object, ms: number): void {
    const account = this.account(client);
    account.use += ms * this.scale();
  }

  /** Removes and returns the next item for which `isEligible` is true; undefined if there is none. */
  take(
    isEligible: (item: Item) => boolean = () => true,
  ): { readonly client: object; readonly item: Item } | undefined {
    this.age();
    let best: { readonly client: object; readonly waiting: Waiting<Item>; readonly at: number } | undefined;
    let least = Infinity;
    let first = Infinity;
    for (const [client, waiting] of this.waiting) {
      const { account, weight, items } = waiting;
      const score = account.use * weight;
      if (score > least) continue;
      const at = items.findIndex(({ item }) => isEligible(item));
      if (at < 0) continue;
      const { arrival } = items[at]!;
      if (score === least && arrival > first) continue;
      best = { client, waiting, at };
      least = score;
      first = arrival;
    }
    if (best === undefined) return undefined;
    const { client, waiting, at } = best;
    this.mark = Math.max(this.mark, waiting.account.use);
    return { client, item: this.cut(client, waiting, at) };
  }

  /** Removes a waiting item. */
  remove(client: object, item: Item): void {
    const waiting = this.waiting.get(client);
    const at = waiting?.items.findIndex((one) => one.item === item) ?? -1;
    if (waiting !== undefined && at >= 0) this.cut(client, waiting, at);
  }

  /**
   * Removes and returns the last item of the client with the most items. If several clients have the same number, the latest
   * item is removed.
   */
  takeLast(): Item | undefined {
    let most: [object, Waiting<Item>] | undefined;
    for (const entry of this.waiting) {
      const [, { items }] = entry;
      const other = most?.[1].items;
      const isMore =
        other === undefined ||
        items.length > other.length ||
        (items.length === other.length && items.at(-1)!.arrival > other.at(-1)!.arrival);
      if (isMore) most = entry;
    }
    return most && this.cut(most[0], most[1], most[1].items.length - 1);
  }

  private cut(client: object, { items }: Waiting<Item>, at: number): Item {
    const { item } = (at === 0 ? items.shift() : items.splice(at, 1)[0])!;
    if (items.length === 0) this.waiting.delete(client);
    this.count--;
    return item;
  }

  private account(client: object): Account {
    this.age();
    let account = this.accounts.get(client);
    if (account === undefined)
      this.accounts.set(client, (account = { use: this.entryMs * this.scale(), era: this.era }));
    this.rescale(account);
    return account;
  }

  /** Factor by which new usage is multiplied so that older usage, which is stored unchanged, weighs less. */
  private scale(): number {
    if (this.halfLifeMs === Infinity) return 1;
    return 2 ** (this.nowMs() / this.halfLifeMs - this.era * ERA_HALF_LIVES);
  }

  /**
   * Starts a new era if the current one has ended. Accounts of clients without waiting items are updated when they are used
   * next.
   */
  private age(): void {
    const era = Math.floor(this.nowMs() / this.halfLifeMs / ERA_HALF_LIVES);
    if (era === this.era) return;
    this.mark *= 2 ** ((this.era - era) * ERA_HALF_LIVES);
    this.era = era;
    for (const { account } of this.waiting.values()) this.rescale(account);
  }

  private rescale(account: Account): void {
    if (account.era === this.era) return;
    account.use *= 2 ** ((account.era - this.era) * ERA_HALF_LIVES);
    account.era = this.era;
  }
}
