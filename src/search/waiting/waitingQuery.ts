/**
 * Search in the columns of mempool claims: the candidate positions, the tests for conditions, and the order. Conditions have
 * the same meaning as in SQL (`conditionSql.ts`).
 */
import { hashFromHex, toLatin1 } from '../../util/bytes.js';
import type { WaitingClaims } from '../../index/waiting/waitingClaims.js';
import { storedText } from '../query/claimRow.js';
import { CLAIM_TYPES, textKey, type ClaimDocument } from '../document/document.js';
import type { OrderTerm } from '../query/order.js';
import type { Bound, Condition } from '../query/searchQuery.js';
import { isSimilar, matchesText, type TextNode } from '../query/textQuery.js';
import type { WaitingColumns, WaitingDocument } from './waitingColumns.js';

/** Tests whether the document at a position satisfies a condition or text. */
export type PlaceTest = (place: number, entry: WaitingDocument) => boolean;

const IDS: Readonly<Record<string, (document: ClaimDocument) => string | null>> = {
  claim_id: (document) => document.claimId,
  channel_id: (document) => document.channelId,
  reposted_claim_id: (document) => document.repostedId,
  sd_hash: (document) => document.sdHash,
};

const TEXTS: Readonly<Record<string, (document: ClaimDocument) => string | null>> = {
  normalized_name: (document) => storedText(document.normalizedName),
  title: ({ title }) => title && storedText(title),
  author: ({ author }) => author && storedText(author),
  media_type: ({ mediaType }) => mediaType && storedText(mediaType),
  fee_currency: (document) => document.feeCurrency,
  public_key_id: (document) => document.publicKeyId,
};

const CLAIM_ID = /^[0-9a-f]{40}$/;
const ALWAYS: PlaceTest = () => true;
const NEVER: PlaceTest = () => false;

/** Returns the test for a condition. Claims hidden by censorship are handled elsewhere. */
export function conditionTest(condition: Condition, columns: WaitingColumns): PlaceTest {
  switch (condition.kind) {
    case 'range':
      return rangeTest(condition.column, condition.bounds, condition.orMissing === true, columns);
    case 'numbers':
      return numbersTest(condition.column, condition.values.map(Number), columns);
    case 'keys':
      return numbersTest(condition.column, condition.values.map(textKey), columns);
    case 'texts':
      return valuesTest(TEXTS[condition.column]!, condition.values);
    case 'ids':
      return valuesTest(IDS[condition.column]!, condition.values);
    case 'idPrefix': {
      const idOf = IDS[condition.column]!;
      return (_place, { document }) => idOf(document)?.startsWith(condition.digits) ?? false;
    }
    case 'bool':
      return numbersTest(condition.column, [condition.value ? 1 : 0], columns);
    case 'notClaims': {
      const ids = new Set(condition.ids.filter((id) => CLAIM_ID.test(id)));
      return ids.size === 0 ? ALWAYS : (_place, { document }) => !ids.has(document.claimId);
    }
    case 'notChannels': {
      const ids = new Set(condition.ids);
      return (_place, { document: { claimId, channelId } }) =>
        !ids.has(claimId) && (channelId === null || !ids.has(channelId));
    }
    case 'labels':
      return labelsTest(condition.how, condition.labels, columns);
    case 'signed':
      return (_place, { document }) => document.signature !== null;
    case 'unsignedOrValid':
      return (_place, { document: { signature, isSignatureValid } }) =>
        signature === null || isSignatureValid === condition.valid;
    case 'hasSource':
      return (_place, { document }) => hasSource(document, condition.value);
    case 'notShorts': {
      const [ratio, duration] = [Number(condition.aspectRatio), Number(condition.durationSec)];
      return (_place, { document: { contentAspectRatio, durationSec } }) =>
        contentAspectRatio === null ||
        durationSec === null ||
        contentAspectRatio > ratio ||
        durationSec > duration;
    }
    case 'censored':
      return condition.types.includes(0) ? ALWAYS : NEVER;
  }
}

function hasSource(document: ClaimDocument, value: boolean): boolean {
  const { type, repostedType } = document;
  if (type !== CLAIM_TYPES.stream && type !== CLAIM_TYPES.repost) return true;
  return document.hasSource === value || (type === CLAIM_TYPES.repost && repostedType !== CLAIM_TYPES.stream);
}

function rangeTest(
  column: string,
  bounds: readonly Bound[],
  orMissing: boolean,
  columns: WaitingColumns,
): PlaceTest {
  const numbers = columns.numbers(column);
  // Mempool claims have no value for some columns, such as the trending score.
  if (numbers === null) return orMissing ? ALWAYS : NEVER;
  let [low, high] = [-Infinity, Infinity];
  let [isLowIn, isHighIn] = [true, true];
  for (const { op, value } of bounds) {
    if (op[0] === '>') [low, isLowIn] = [Number(value), op === '>='];
    else [high, isHighIn] = [Number(value), op === '<='];
  }
  return (place) => {
    const number = numbers.values[place]!;
    if (Number.isNaN(number)) return orMissing;
    return (isLowIn ? number >= low : number > low) && (isHighIn ? number <= high : number < high);
  };
}

function numbersTest(column: string, wanted: readonly number[], columns: WaitingColumns): PlaceTest {
  const numbers = columns.numbers(column);
  if (numbers === null) return NEVER;
  if (wanted.length === 1) return (place) => numbers.values[place] === wanted[0];
  const set = new Set(wanted);
  return (place) => set.has(numbers.values[place]!);
}

function valuesTest(
  valueOf: (document: ClaimDocument) => string | null,
  wanted: readonly string[],
): PlaceTest {
  const set: ReadonlySet<string | null> = new Set(wanted);
  return (_place, { document }) => set.has(valueOf(document));
}

function labelsTest(
  how: 'any' | 'all' | 'none',
  labels: readonly string[],
  columns: WaitingColumns,
): PlaceTest {
  const sets = labels.map((label) => columns.labeled(label));
  if (how === 'all') return (place) => sets.every((set) => set.has(place));
  const has = (place: number): boolean => sets.some((set) => set.has(place));
  return how === 'any' ? has : (place) => !has(place);
}

/** Whether packed words satisfy a text. Fuzzy words are compared with each word of the document. */
function matches(node: TextNode, packed: string): boolean {
  switch (node.kind) {
    case 'fuzzy':
      return packed
        .split(' ')
        .some((word) => word[0] === node.word[0] && isSimilar(node.word, word, node.edits));
    case 'and':
      return node.nodes.every((inner) => matches(inner, packed));
    case 'or':
      return node.nodes.some((inner) => matches(inner, packed));
    case 'not':
      return !matches(node.node, packed);
    default:
      return matchesText(node, packed);
  }
}

/** Returns a function that tests whether the document at a position matches the text. */
export function textTest(node: TextNode): PlaceTest {
  return (_place, { document }) => matches(node, document.words.packed);
}

/** Positions of documents that include all documents which satisfy a condition. */
export interface WaitingCandidates {
  readonly size: number;
  readonly places: () => Iterable<number>;
}

const candidatesOf = (set: ReadonlySet<number>): WaitingCandidates => ({ size: set.size, places: () => set });

function least(found: readonly (WaitingCandidates | null)[]): WaitingCandidates | null {
  let best: WaitingCandidates | null = null;
  for (const one of found) if (one !== null && (best === null || one.size < best.size)) best = one;
  return best;
}

function union(found: readonly WaitingCandidates[]): WaitingCandidates {
  if (found.length === 1) return found[0]!;
  return {
    size: found.reduce((sum, { size }) => sum + size, 0),
    places: () => {
      const all = new Set<number>();
      for (const { places } of found) for (const place of places()) all.add(place);
      return all;
    },
  };
}

/**
 * Returns the smallest set of candidates to which a condition or the text restricts the documents; null if all documents are
 * candidates.
 */
export function candidatesFor(
  conditions: readonly Condition[],
  text: TextNode | null,
  columns: WaitingColumns,
  waiting: WaitingClaims,
): WaitingCandidates | null {
  return least([
    ...conditions.map((condition) => conditionCandidates(condition, columns, waiting)),
    text && textCandidates(text, columns),
  ]);
}

function textCandidates(node: TextNode, columns: WaitingColumns): WaitingCandidates | null {
  const withWord = (word: string): WaitingCandidates => candidatesOf(columns.withWord(word));
  switch (node.kind) {
    case 'word':
      return withWord(node.word);
    case 'phrase':
    case 'near':
      return least(node.words.map(withWord));
    case 'and':
      return least(node.nodes.map((inner) => textCandidates(inner, columns)));
    case 'or': {
      const found = node.nodes.map((inner) => textCandidates(inner, columns));
      return found.includes(null) ? null : union(found as WaitingCandidates[]);
    }
    default:
      return null;
  }
}

function conditionCandidates(
  condition: Condition,
  columns: WaitingColumns,
  waiting: WaitingClaims,
): WaitingCandidates | null {
  const of = (claims: Iterable<{ readonly claimId: string }>): number[] =>
    Array.from(claims, ({ claimId }) => columns.placeOf(claimId)).filter((place) => place !== undefined);
  const wire = (hex: string): string => toLatin1(hashFromHex(hex));
  if (condition.kind === 'labels') {
    if (condition.how === 'none') return null;
    const sets = condition.labels.map((label) => candidatesOf(columns.labeled(label)));
    return condition.how === 'all' ? least(sets) : union(sets);
  }
  if (condition.kind === 'texts' && condition.column === 'normalized_name')
    return candidatesOf(
      new Set(
        condition.values.flatMap((name) => [
          ...of(waiting.ofName(toLatin1(Buffer.from(name)))),
          ...of(waiting.ofName(name)),
        ]),
      ),
    );
  if (condition.kind !== 'ids') return null;
  const ids = condition.values;
  switch (condition.column) {
    case 'claim_id':
      return candidatesOf(new Set(of(ids.map((id) => ({ claimId: wire(id) })))));
    case 'channel_id':
      return union(ids.map((id) => candidatesOf(columns.ofChannel(id))));
    case 'reposted_claim_id':
      return candidatesOf(new Set(ids.flatMap((id) => of(waiting.repostsOf(wire(id))))));
    default:
      return null;
  }
}

/** Returns a comparison of two positions: by the requested order or, without one, by amount with supports; then by age. */
export function placeOrder(
  order: readonly OrderTerm[],
  columns: WaitingColumns,
): (a: number, b: number) => number {
  const terms: readonly OrderTerm[] =
    order.length > 0 ? order : [{ column: 'effective_amount', ascending: false, nullable: false }];
  const tests = terms.map((term) => termOrder(term, columns));
  return (a, b) => {
    for (const test of tests) {
      const decided = test(a, b);
      if (decided !== 0) return decided;
    }
    const [left, right] = [columns.documents[a]!, columns.documents[b]!];
    return left.arrival - right.arrival || left.document.txNout - right.document.txNout;
  };
}

/** Returns a comparison by one column. Missing values come last in both directions. */
function termOrder(
  { column, ascending }: OrderTerm,
  columns: WaitingColumns,
): (a: number, b: number) => number {
  const sign = ascending ? 1 : -1;
  const numbers = columns.numbers(column);
  if (numbers !== null)
    return (a, b) => {
      const [left, right] = [numbers.values[a]!, numbers.values[b]!];
      if (left === right) return 0;
      if (Number.isNaN(left)) return Number.isNaN(right) ? 0 : 1;
      if (Number.isNaN(right)) return -1;
      return left < right ? -sign : sign;
    };
  const valueOf = TEXTS[column] ?? IDS[column];
  if (valueOf === undefined) return () => 0;
  return (a, b) => {
    const left = valueOf(columns.documents[a]!.document);
    const right = valueOf(columns.documents[b]!.document);
    if (left === right) return 0;
    if (left === null) return 1;
    if (right === null) return -1;
    return left < right ? -sign : sign;
  };
}
