/**
 * A naive model of the claim trie's rules: plain lists, copied for each block; each root is computed from the start. It is slow
 * and simple. It shares no code with the claim trie except the normalization of names.
 */
import { createHash } from 'node:crypto';
import { normalizeName } from '../../src/claimtrie/normalize.js';
import type { ClaimBlock, ClaimEntryKind, ClaimRules, ClaimTx } from '../../src/claimtrie/types.js';

export interface ModelItem {
  support: boolean;
  /** The name under which the trie stores it. */
  name: string;
  rawName: string;
  point: string;
  claimId: string;
  amount: bigint;
  height: number;
  /** While it is pending, the height at which it becomes active; then the height at which it became active. */
  validAt: number;
  active: boolean;
}

interface Owner {
  claimId: string;
  takeover: number;
}

export interface ModelState {
  height: number;
  items: ModelItem[];
  owners: Map<string, Owner>;
  /** Outputs that transactions of the block added. Later transactions of the block may have spent some of them. */
  filed: Set<string>;
  root: string;
}

const sha = (data: Buffer): Buffer => createHash('sha256').update(data).digest();

/** Double hashes by their data. Most parts of a trie are the same in the next block. */
const doubles = new Map<string, Buffer>();
const MAX_DOUBLES = 50_000;

function double(...parts: Buffer[]): Buffer {
  const data = Buffer.concat(parts);
  const key = data.toString('latin1');
  const known = doubles.get(key);
  if (known !== undefined) return known;
  const hash = sha(sha(data));
  if (doubles.size === MAX_DOUBLES) doubles.clear();
  doubles.set(key, hash);
  return hash;
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const number32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(32);
  bytes[0] = value;
  return bytes;
};

export function normalized(name: string): string {
  return Buffer.from(normalizeName(latin1(name))).toString('latin1');
}

function claimIdOf(txid: Buffer, n: number): string {
  const index = Buffer.alloc(4);
  index.writeUInt32BE(n);
  return createHash('ripemd160')
    .update(sha(Buffer.concat([txid, index])))
    .digest('hex');
}

function merkle(hashes: Buffer[]): Buffer {
  if (hashes.length === 1) return hashes[0]!;
  const next: Buffer[] = [];
  for (let i = 0; i < hashes.length; i += 2) next.push(double(hashes[i]!, hashes[i + 1] ?? hashes[i]!));
  return merkle(next);
}

export class ClaimModel {
  readonly rules: ClaimRules;
  readonly states: ModelState[] = [];

  constructor(rules: ClaimRules) {
    this.rules = rules;
    const root = number32(1).toString('hex');
    this.states.push({ height: 0, items: [], owners: new Map(), filed: new Set(), root });
  }

  /** The root before the latest block. */
  rootBefore(): string {
    return this.states.at(-2)!.root;
  }

  get tip(): ModelState {
    return this.states.at(-1)!;
  }

  disconnect(): void {
    this.states.pop();
  }

  connect(block: ClaimBlock): string {
    const before = this.tip;
    const state: ModelState = {
      height: block.height,
      items: before.items.map((item) => ({ ...item })),
      owners: new Map(before.owners),
      filed: new Set(),
      root: '',
    };
    new Step(this.rules, before, state).run(block);
    state.root = rootOf(this.rules, state).toString('hex');
    this.states.push(state);
    return state.root;
  }
}

/** Active claims of a name, the best first, with their effective amounts. */
export function claimsOf(state: ModelState, name: string): { item: ModelItem; effective: bigint }[] {
  const mine = state.items.filter((item) => item.active && item.name === name);
  return mine
    .filter((item) => !item.support)
    .map((item) => {
      let effective = item.amount;
      for (const other of mine)
        if (other.support && other.claimId === item.claimId) effective += other.amount;
      return { item, effective };
    })
    .sort(
      (a, b) =>
        (a.effective === b.effective ? 0 : a.effective > b.effective ? -1 : 1) ||
        a.item.height - b.item.height ||
        (a.item.point < b.item.point ? -1 : 1),
    );
}

export function claimedNames(state: ModelState): string[] {
  const names = new Set(state.items.filter((item) => item.active && !item.support).map((item) => item.name));
  return [...names].sort();
}

/** Every node: names with claims and points where names branch; the root unless the trie is empty. */
export function nodesOf(names: readonly string[]): Set<string> {
  const nodes = new Set(names);
  if (names.length > 0) nodes.add('');
  for (let i = 1; i < names.length; i++) {
    const [a, b] = [names[i - 1]!, names[i]!];
    let common = 0;
    while (common < a.length && a[common] === b[common]) common++;
    nodes.add(b.slice(0, common));
  }
  return nodes;
}

class Step {
  private readonly rules: ClaimRules;
  private readonly before: ModelState;
  private readonly state: ModelState;
  private readonly checks = new Set<string>();
  private readonly height: number;

  constructor(rules: ClaimRules, before: ModelState, state: ModelState) {
    this.rules = rules;
    this.before = before;
    this.state = state;
    this.height = state.height;
  }

  run(block: ClaimBlock): void {
    const { rules, height, state } = this;
    for (const tx of block.transactions) this.transaction(tx);
    if (height === rules.normalizationForkHeight) this.refile();
    const fork = rules.extendedExpirationForkHeight;
    // An output whose original term ended before the fork while it was pending does not expire after the fork.
    const expires = (item: ModelItem): boolean =>
      height < fork
        ? item.height + rules.originalExpiration === height
        : item.height + rules.extendedExpiration === height &&
          (item.height >= fork || item.height + rules.originalExpiration >= fork);
    for (const support of [false, true]) {
      for (const item of state.items.filter((other) => !other.active && other.validAt === height)) {
        if (item.support === support) this.activate(item);
      }
      for (const item of state.items.filter((other) => other.active && expires(other))) {
        const filed = height > rules.normalizationForkHeight ? normalized(item.name) === item.name : true;
        if (item.support === support && filed) this.remove(item);
      }
    }
    for (const name of this.checks) this.check(name);
    for (const name of state.owners.keys()) {
      if (!state.items.some((item) => item.active && !item.support && item.name === name))
        state.owners.delete(name);
    }
  }

  private matching(name: string): string {
    return this.height > this.rules.normalizationForkHeight ? normalized(name) : name;
  }

  private isNode(name: string): boolean {
    return nodesOf(claimedNames(this.state)).has(name);
  }

  private delay(name: string): number {
    const owned = (): number => {
      const owner = this.before.owners.get(name);
      if (this.state.items.some((item) => item.active && !item.support && item.name === name))
        return this.height - owner!.takeover;
      return owner && !this.isNode(name) ? this.height - owner.takeover : 0;
    };
    return Math.min(Math.floor(owned() / 32), 4032);
  }

  private queueName(name: string, due: number): string {
    const fork = this.rules.normalizationForkHeight;
    return this.height > fork || due > fork ? normalized(name) : name;
  }

  private transaction(tx: ClaimTx): void {
    const counts = (item: { kind: ClaimEntryKind; hasMetadata: boolean }): boolean =>
      item.kind !== 'support' || !item.hasMetadata || this.height >= this.rules.allClaimsForkHeight;
    const spent: { claimId: string; name: string }[] = [];
    for (const spend of tx.spends.filter(counts)) {
      const raw = Buffer.from(spend.name).toString('latin1');
      const point = pointOf(Buffer.from(spend.txid), spend.n);
      const queue = this.queueName(raw, spend.coinHeight + this.delay(raw));
      const find = (active: boolean, name: string): ModelItem | undefined =>
        this.state.items.find((item) => item.active === active && item.name === name && item.point === point);
      const item = find(false, queue) ?? find(true, this.matching(raw));
      if (!item) continue;
      if (item.active) this.remove(item);
      else this.state.items.splice(this.state.items.indexOf(item), 1);
      if (!item.support) spent.push({ claimId: item.claimId, name: this.matching(raw) });
    }
    for (const output of tx.outputs.filter(counts)) {
      const rawName = Buffer.from(output.name).toString('latin1');
      const claimId = output.claimId
        ? Buffer.from(output.claimId).toString('hex')
        : claimIdOf(Buffer.from(tx.txid), output.n);
      if (output.kind === 'update') {
        const at = spent.findIndex(
          (claim) => claim.claimId === claimId && claim.name === this.matching(rawName),
        );
        if (at < 0) continue;
        spent.splice(at, 1);
      }
      const support = output.kind === 'support';
      const name = this.matching(rawName);
      let delay = 0;
      if (this.before.owners.get(name)?.claimId !== claimId) {
        delay = support && this.rules.supportDelay === 100 ? 100 : this.delay(name);
      }
      const validAt = this.height + delay;
      const point = pointOf(Buffer.from(tx.txid), output.n);
      this.state.filed.add(point);
      this.state.items.push({
        support,
        name: this.queueName(rawName, validAt),
        rawName,
        point,
        claimId,
        amount: output.amount,
        height: this.height,
        validAt,
        active: false,
      });
    }
  }

  private activate(item: ModelItem): void {
    if (this.height >= this.rules.normalizationForkHeight) item.name = normalized(item.name);
    item.active = true;
    item.validAt = this.height;
    if (!item.support || this.isNode(item.name)) this.checks.add(item.name);
  }

  private remove(item: ModelItem): void {
    if (!item.support || this.isNode(item.name)) this.checks.add(item.name);
    this.state.items.splice(this.state.items.indexOf(item), 1);
  }

  private refile(): void {
    const nodes = nodesOf(claimedNames(this.before));
    for (const name of nodes) {
      const target = normalized(name);
      if (target === name) continue;
      this.checks.add(target);
      for (const item of this.state.items) {
        if (!item.active || item.name !== name) continue;
        const term =
          this.height < this.rules.extendedExpirationForkHeight
            ? this.rules.originalExpiration
            : this.rules.extendedExpiration;
        if (item.height + term > this.height) item.name = target;
      }
    }
  }

  private check(name: string): void {
    const { state } = this;
    const before = this.before.owners.get(name);
    const best = claimsOf(state, name)[0]?.item;
    const happened = !best || !before || best.claimId !== before.claimId;
    if (happened) {
      for (const item of state.items.filter((other) => !other.active && other.name === name)) {
        if (this.height >= this.rules.normalizationForkHeight) item.name = normalized(item.name);
        item.active = true;
        item.validAt = this.height;
      }
    }
    const winner = claimsOf(state, name)[0]?.item;
    if (winner) {
      const takeover = happened ? this.height : before!.takeover;
      state.owners.set(name, { claimId: winner.claimId, takeover });
    }
  }
}

export function pointOf(txid: Buffer, n: number): string {
  const index = Buffer.alloc(4);
  index.writeUInt32BE(n);
  return txid.toString('hex') + index.toString('hex');
}

function valueHash(point: string, takeover: number): Buffer {
  const height = Buffer.alloc(8);
  height.writeUInt32BE(takeover, 4);
  const n = Buffer.from(point.slice(64), 'hex').readUInt32BE();
  return double(
    double(Buffer.from(point.slice(0, 64), 'hex')),
    double(Buffer.from(String(n))),
    double(height),
  );
}

export function rootOf(rules: ClaimRules, state: ModelState): Buffer {
  const names = claimedNames(state);
  if (names.length === 0) return number32(1);
  const allClaims = state.height + 1 >= rules.allClaimsForkHeight;
  const nodes = nodesOf(names);
  /** Hash of a node and of the last step of its path. */
  const hash = (path: string, below: string[]): Buffer => {
    const children = new Map<number, string[]>();
    for (const name of below) {
      if (name.length === path.length) continue;
      const byte = name.charCodeAt(path.length);
      children.set(byte, [...(children.get(byte) ?? []), name]);
    }
    const hashes: [number, Buffer][] = [];
    for (const [byte, group] of [...children].sort((a, b) => a[0] - b[0])) {
      let child = path + String.fromCharCode(byte);
      while (!nodes.has(child)) child = group[0]!.slice(0, child.length + 1);
      let value = hash(child, group);
      if (!allClaims) {
        for (let i = child.length - 1; i > path.length; i--)
          value = double(Buffer.from([child.charCodeAt(i)]), value);
      }
      hashes.push([byte, value]);
    }
    const takeover = state.owners.get(path)?.takeover ?? 0;
    const values = claimsOf(state, path).map(({ item }) => valueHash(item.point, takeover));
    if (!allClaims) {
      const parts = hashes.flatMap(([byte, value]) => [Buffer.from([byte]), value]);
      return double(...parts, ...values.slice(0, 1));
    }
    const left = hashes.length > 0 ? merkle(hashes.map(([, value]) => value)) : number32(2);
    return double(left, values.length > 0 ? merkle(values) : number32(3));
  };
  return hash('', names);
}
