/**
 * A naive model of the claim index: arrays of all claims, copied for each block. Each answer is found by a loop over all of
 * them. The naive model of the claim trie gives the live claims, and the maker of a claim gives the meaning of its value.
 */
import type { ClaimBlock, ClaimRules } from '../../src/claimtrie/types.js';
import type { BlockClaimChanges, ClaimRecord } from '../../src/index/claims/claimReader.js';
import type { Intent, LifeTx, Meaning, Signer } from './claimIndexLife.js';
import { ClaimModel, claimsOf, normalized, pointOf, type ModelItem, type ModelState } from './claimModel.js';

interface Place {
  height: number;
  position: number;
  nout: number;
}

/** A live claim. Ids and keys are hex, ids in wire order. */
export interface NaiveClaim {
  id: string;
  first: Place;
  latest: Place;
  point: string;
  rawName: string;
  group: string;
  kind: Meaning;
  channelId: string | null;
  /** The key with which its signature is valid. */
  signedBy: string | null;
  isValid: boolean;
  repostedId: string | null;
  publicKey: string | null;
}

interface NaiveState {
  claims: NaiveClaim[];
  changes: { touched: Set<string>; deleted: Set<string>; trending: Map<string, [bigint, bigint]> };
}

const printed = (id: string): string => Buffer.from(id, 'hex').reverse().toString('hex');
const wire = printed;
const sum = (items: readonly ModelItem[]): bigint => items.reduce((total, { amount }) => total + amount, 0n);
const groupOf = (name: string): string => normalized(normalized(name));
const before = (a: Place, b: Place): number =>
  a.height - b.height || a.position - b.position || a.nout - b.nout;

export interface NaiveTx extends LifeTx {
  readonly txid: Buffer;
  readonly position: number;
}

export interface NaiveResolved {
  claim: string | null;
  channel: string | null;
  reposted: string | null;
  repostedChannel: string | null;
  text: string | null;
}

export class ClaimIndexModel {
  readonly trie: ClaimModel;
  private readonly rules: ClaimRules;
  private readonly states: NaiveState[] = [];

  constructor(rules: ClaimRules) {
    this.rules = rules;
    this.trie = new ClaimModel(rules);
    this.states.push({
      claims: [],
      changes: { touched: new Set(), deleted: new Set(), trending: new Map() },
    });
  }

  get claims(): readonly NaiveClaim[] {
    return this.states.at(-1)!.claims;
  }

  /** Changes of effective amounts in the latest block: before and after. */
  get latestTrending(): ReadonlyMap<string, readonly [bigint, bigint]> {
    return this.states.at(-1)!.changes.trending;
  }

  get items(): ModelState {
    return this.trie.tip;
  }

  /** Removes states that are more than this number of blocks in the past. */
  forget(keep: number): void {
    const count = this.states.length - keep;
    if (count <= 0) return;
    this.states.splice(0, count);
    this.trie.states.splice(0, count);
  }

  disconnect(): void {
    this.states.pop();
    this.trie.disconnect();
  }

  /** The root after the block, which must equal the one in the header. */
  connect(height: number, txs: readonly NaiveTx[], intents: ReadonlyMap<string, Intent>): string {
    const former = this.trie.tip;
    const block: ClaimBlock = { height, transactions: txs.map(claimTx) };
    const root = this.trie.connect(block);
    const state = this.trie.tip;
    const old = this.claims;
    const made = this.walk(height, txs, intents, old, state.filed);
    const claims: NaiveClaim[] = [];
    for (const item of state.items) {
      if (item.support) continue;
      const kept = old.find(({ id, point }) => id === item.claimId && point === item.point);
      claims.push(kept ? { ...kept } : made.find(({ point }) => point === item.point)!);
    }
    for (const claim of claims) {
      const channel = claims.find(({ id }) => id === claim.channelId);
      claim.isValid = claim.signedBy !== null && channel?.publicKey === claim.signedBy;
    }
    this.states.push({ claims, changes: this.changesOf(former, state, old, claims, txs) });
    return root;
  }

  /**
   * The outputs of the block that create or update claims, in order. Of the updates of a claim, only those that the trie
   * stored.
   */
  private walk(
    height: number,
    txs: readonly NaiveTx[],
    intents: ReadonlyMap<string, Intent>,
    old: readonly NaiveClaim[],
    filed: ReadonlySet<string>,
  ): NaiveClaim[] {
    const made: NaiveClaim[] = [];
    const current = new Map(old.map((claim) => [claim.id, claim]));
    for (const { txid, position, outputs } of txs) {
      for (const { n, operation, claimId, name } of outputs) {
        if (operation !== 'claim' && operation !== 'update') continue;
        const point = pointOf(txid, n);
        if (!filed.has(point)) continue;
        const id = claimId.toString('hex');
        const was = current.get(id);
        const intent = intents.get(`${txid.toString('hex')}:${n}`)!;
        const latest = { height, position, nout: n };
        const rawName = name.toString('latin1');
        const claim: NaiveClaim = {
          id,
          first: was?.first ?? latest,
          latest,
          point,
          rawName,
          group: groupOf(rawName),
          kind: intent.kind,
          channelId: intent.channelId,
          signedBy: intent.signedBy,
          isValid: false,
          repostedId: intent.repostedId,
          publicKey: intent.publicKey,
        };
        current.set(id, claim);
        made.push(claim);
      }
    }
    return made;
  }

  /** A claim's effective amount in a state of the trie. */
  private effective(state: ModelState, id: string): bigint {
    const item = state.items.find(({ claimId, support }) => !support && claimId === id);
    if (!item) return 0n;
    return claimsOf(state, item.name).find((claim) => claim.item === item)?.effective ?? 0n;
  }

  private changesOf(
    former: ModelState,
    state: ModelState,
    old: readonly NaiveClaim[],
    claims: readonly NaiveClaim[],
    txs: readonly NaiveTx[],
  ): NaiveState['changes'] {
    const touched = new Set<string>();
    const moved = new Set<string>();
    const written = claims.filter(
      ({ id, point }) => !old.some((claim) => claim.id === id && claim.point === point),
    );
    const gone = old.filter(({ id }) => !claims.some((claim) => claim.id === id));
    const replaced = old.filter(({ id }) => written.some((claim) => claim.id === id));
    for (const { id } of written) {
      touched.add(id);
      moved.add(id);
    }
    const has = (list: readonly ModelItem[], { point, active }: ModelItem): boolean =>
      list.some((item) => item.point === point && item.active === active);
    const spent = new Set(txs.flatMap(({ spends }) => spends.map((coin) => pointOf(coin.txid, coin.n))));
    for (const [list, other] of [
      [former.items, state.items],
      [state.items, former.items],
    ] as const) {
      for (const item of list) {
        if (has(other, item)) continue;
        if (!item.support) {
          if (claims.some(({ id }) => id === item.claimId)) touched.add(item.claimId);
          continue;
        }
        const claim = claims.find(({ id }) => id === item.claimId);
        if (claim?.group !== groupOf(item.name)) continue;
        touched.add(claim.id);
        const isNew = list === state.items && !other.some(({ point }) => point === item.point);
        if (isNew || (list === former.items && spent.has(item.point))) moved.add(claim.id);
      }
    }
    const counts = (list: readonly NaiveClaim[], id: string): number =>
      list.filter(({ channelId, isValid }) => isValid && channelId === id).length;
    for (const { id } of claims) {
      if (counts(old, id) !== counts(claims, id)) touched.add(id);
      for (const claim of [...written, ...gone, ...replaced]) if (claim.repostedId === id) touched.add(id);
    }
    for (const claim of claims) {
      const was = old.find(({ id }) => id === claim.id);
      if (was && was.isValid !== claim.isValid) touched.add(claim.id);
      for (const other of [...written, ...gone]) if (claim.repostedId === other.id) touched.add(claim.id);
      const names = [...new Set([...former.owners.keys(), ...state.owners.keys()])];
      for (const name of names) {
        const [a, b] = [former.owners.get(name)?.takeover ?? 0, state.owners.get(name)?.takeover ?? 0];
        if (a !== b && groupOf(name) === claim.group) touched.add(claim.id);
      }
    }
    const trending = new Map<string, [bigint, bigint]>();
    for (const id of moved) trending.set(id, [this.effective(former, id), this.effective(state, id)]);
    return { touched, deleted: new Set(gone.map(({ id }) => id)), trending };
  }

  /** The changes of the latest block, as sorted texts. */
  latestChanges(): string[] {
    const { touched, deleted, trending } = this.states.at(-1)!.changes;
    return describeChanges(touched, deleted, trending);
  }

  private prefixOf(claim: NaiveClaim): string {
    const older = this.claims.filter(
      (other) => other.group === claim.group && before(other.first, claim.first) < 0,
    );
    const id = printed(claim.id);
    for (let digits = 1; digits <= 10; digits++)
      if (!older.some((other) => printed(other.id).startsWith(id.slice(0, digits))))
        return id.slice(0, digits);
    return id;
  }

  private shortUrl(claim: NaiveClaim): string {
    const bytes = Buffer.from(claim.rawName, 'latin1');
    const text = bytes.toString();
    return `${Buffer.from(text).equals(bytes) ? text : claim.rawName}#${this.prefixOf(claim)}`;
  }

  /** Every field of a live claim, in the shape of the index's answers. */
  record(id: string): Record<string, unknown> | null {
    const claim = this.claims.find((other) => other.id === id);
    if (!claim) return null;
    const { tip } = this.trie;
    const item = tip.items.find(({ support, claimId }) => !support && claimId === id)!;
    const owner = tip.owners.get(item.name);
    const channel = claim.isValid ? this.claims.find((other) => other.id === claim.channelId)! : null;
    const supports = tip.items.filter(
      ({ support, claimId, name }) => support && claimId === id && groupOf(name) === claim.group,
    );
    const { originalExpiration, extendedExpiration, extendedExpirationForkHeight } = this.rules;
    const ends = item.height + originalExpiration;
    const short = this.shortUrl(claim);
    return {
      claimId: id,
      name: Buffer.from(claim.rawName, 'latin1').toString('hex'),
      normalizedName: Buffer.from(claim.group, 'latin1').toString('hex'),
      txid: claim.point.slice(0, 64),
      nout: claim.latest.nout,
      height: claim.latest.height,
      position: claim.latest.position,
      amountSat: item.amount,
      creationHeight: claim.first.height,
      creationPosition: claim.first.position,
      creationNout: claim.first.nout,
      activationHeight: item.validAt,
      expirationHeight: ends < extendedExpirationForkHeight ? ends : item.height + extendedExpiration,
      takeoverHeight: owner?.takeover ?? 0,
      isControlling: owner?.claimId === id,
      effectiveAmountSat: this.effective(tip, id),
      supportAmountSat: sum(supports),
      kind: claim.kind,
      channelId: claim.channelId,
      isSignatureValid: claim.isValid,
      repostedId: claim.repostedId,
      isRepostedGone:
        claim.repostedId !== null && !this.claims.some(({ id: other }) => other === claim.repostedId),
      repostCount: this.claims.filter(({ repostedId }) => repostedId === id).length,
      claimsInChannel: this.claims.filter(({ isValid, channelId }) => isValid && channelId === id).length,
      shortUrl: short,
      canonicalUrl: channel ? `${this.shortUrl(channel)}/${short}` : short,
    };
  }

  /**
   * The supports of channels for a claim, and for all claims that it signed: sorted texts of channel, amount and number of
   * supports.
   */
  supportSums(id: string, withSigned: boolean, supporters: ReadonlyMap<string, Signer>): string[] {
    const sums = new Map<string, { amountSat: bigint; count: number }>();
    for (const claim of this.claims) {
      if (claim.id !== id && !(withSigned && claim.isValid && claim.channelId === id)) continue;
      for (const { support, claimId, name, point, amount } of this.trie.tip.items) {
        if (!support || claimId !== claim.id || groupOf(name) !== claim.group) continue;
        const signer = supporters.get(point);
        const channel = this.claims.find((other) => other.id === signer?.channelId);
        if (!signer || signer.signedBy === null || channel?.publicKey !== signer.signedBy) continue;
        const sum = sums.get(channel.id) ?? { amountSat: 0n, count: 0 };
        sums.set(channel.id, { amountSat: sum.amountSat + amount, count: sum.count + 1 });
      }
    }
    return [...sums].map(([channel, { amountSat, count }]) => `${channel} ${amountSat} ${count}`).sort();
  }

  /** The claim to which a URL with these parts resolves. */
  resolve(url: string, parts: readonly UrlPart[]): NaiveResolved {
    const nothing = { claim: null, channel: null, reposted: null, repostedChannel: null };
    const first = this.segment(parts[0]!);
    if (!first) {
      const isChannel = parts[0]!.name.startsWith('@');
      return { ...nothing, text: `Could not find ${isChannel ? 'channel in' : 'claim at'} "${url}".` };
    }
    let claim: NaiveClaim | undefined = first;
    if (parts.length === 2) {
      const { name, digits } = parts[1]!;
      claim = this.claims
        .filter(
          ({ isValid, channelId, group }) =>
            isValid && channelId === first.id && group === groupOf(bytesOf(name)),
        )
        .sort((a, b) => before(a.latest, b.latest))
        .find(({ id }) => printed(id).startsWith(digits ?? ''));
      if (!claim) return { ...nothing, text: `Could not find claim at "${url}".` };
    }
    const channelOf = (of: NaiveClaim | undefined): string | null =>
      of?.isValid === true ? of.channelId : null;
    const reposted = this.claims.find(({ id }) => id === claim.repostedId);
    return {
      claim: claim.id,
      channel: channelOf(claim),
      reposted: reposted?.id ?? null,
      repostedChannel: channelOf(reposted),
      text: null,
    };
  }

  private segment({ name, digits, place }: UrlPart): NaiveClaim | undefined {
    if (digits?.length === 40) return this.claims.find(({ id }) => id === wire(digits));
    const raw = bytesOf(name);
    const mine = this.claims.filter(({ group }) => group === groupOf(raw));
    const { tip } = this.trie;
    if (digits !== undefined)
      return mine.sort((a, b) => before(a.first, b.first)).find(({ id }) => printed(id).startsWith(digits));
    if (place !== undefined) {
      const weight = (claim: NaiveClaim): bigint => this.effective(tip, claim.id);
      const compare = (a: NaiveClaim, b: NaiveClaim): number =>
        weight(a) > weight(b) ? -1 : weight(a) < weight(b) ? 1 : before(a.latest, b.latest);
      return mine.sort(compare)[place - 1];
    }
    const filed = tip.height >= this.rules.normalizationForkHeight ? normalized(raw) : raw;
    const owner = tip.owners.get(filed);
    return this.claims.find(({ id }) => id === owner?.claimId);
  }
}

export interface UrlPart {
  name: string;
  digits?: string;
  place?: number;
}

function bytesOf(name: string): string {
  return Buffer.from(name).toString('latin1');
}

function claimTx({ txid, spends, outputs, position }: NaiveTx): ClaimBlock['transactions'][number] {
  return {
    txid,
    txOffset: position,
    spends: spends.flatMap((coin) =>
      coin.operation === null
        ? []
        : [
            {
              txid: coin.txid,
              n: coin.n,
              coinHeight: coin.height,
              kind: coin.operation,
              hasMetadata: coin.hasMetadata,
              name: coin.name,
              claimId: coin.claimId,
              amount: coin.value,
            },
          ],
    ),
    outputs: outputs.flatMap(({ n, operation, name, claimId, value, hasMetadata }) =>
      operation === null
        ? []
        : [
            {
              n,
              kind: operation,
              hasMetadata,
              name,
              amount: value,
              ...(operation === 'claim' ? {} : { claimId }),
            },
          ],
    ),
  };
}

/** A record of the index as the model writes it. */
export function plainRecord(record: ClaimRecord | null): Record<string, unknown> | null {
  if (record === null) return null;
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [
      key,
      value instanceof Uint8Array ? Buffer.from(value).toString('hex') : (value as unknown),
    ]),
  );
}

function describeChanges(
  touched: Iterable<string>,
  deleted: Iterable<string>,
  trending: Iterable<readonly [string, readonly [bigint, bigint]]>,
): string[] {
  return [
    ...[...touched].map((id) => `touched ${id}`),
    ...[...deleted].map((id) => `deleted ${id}`),
    ...[...trending].map(([id, [a, b]]) => `trending ${id} ${a} ${b}`),
  ].sort();
}

export function plainChanges({ touched, deleted, trending }: BlockClaimChanges): string[] {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  return describeChanges(
    touched.map(hex),
    deleted.map(hex),
    trending.map(({ claimId, formerSat, latterSat }) => [hex(claimId), [formerSat, latterSat]] as const),
  );
}
