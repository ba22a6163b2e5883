/**
 * The outputs of `gettxinfo` as JSON text. The data that comes from the script of an output never changes, so its text is
 * cached by transaction. The state of the output's claim and the spender are added at each call. The cache is limited in
 * size.
 */
import { expirationHeight, filesNormalized } from '../../claimtrie/rules.js';
import { REMOVAL } from '../../claimtrie/item.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { OutPoint, TxOutput } from '../../primitives/transaction.js';
import { decodeClaimScript } from '../../script/claimScript.js';
import { isUnspendable } from '../../script/script.js';
import type { OutputState } from '../../store/claims/query/outputStates.js';
import { BoundedMap } from '../../util/boundedMap.js';
import { hashToHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { formatCoins } from '../../util/json/json.js';
import { quoteJson } from '../../util/json/jsonWrite.js';
import { outputClaim } from './claimsBrief.js';
import { scriptShown, type TxInfoContext } from './txInfo.js';

/** Maximum number of characters of the cached texts. A character takes one or two bytes. */
const MOST_CHARS = 4 << 20;
/** Number of characters that each entry counts in addition to its texts, for the memory of its objects. */
const ENTRY_CHARS = 64;

/** JSON text of the part of an output that never changes. */
export interface OutputText {
  /** JSON text of the output's object before its claim, without the closing brace. */
  readonly start: string;
  /** JSON text of the claim's object without the closing brace; null if the output has no claim operation. */
  readonly claim: string | null;
  /** Name in the claim operation of the output; null if it has no claim operation. */
  readonly name: Bytes | null;
  readonly isUnspendable: boolean;
}

/** Current state of an output: whether it is spent, and the state of its claim. */
export interface OutputStatus {
  readonly isSpent: boolean;
  readonly spender: {
    readonly txid: Bytes;
    readonly n: number;
    readonly height: number | undefined;
    readonly blockHash: Bytes | undefined;
  } | null;
  /**
   * State of the output's claim or support in the chain. Null if it never became active; undefined if it is waiting in the
   * mempool.
   */
  readonly state: OutputState | null | undefined;
}

/** JSON text of the members of an object whose values are texts. */
function textMembers(fields: Readonly<Record<string, string | undefined>>): string {
  let members = '';
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined) members += `${members === '' ? '' : ','}"${name}":${quoteJson(value)}`;
  }
  return members;
}

function textOf({ value, script }: TxOutput, n: number, txid: Bytes, context: TxInfoContext): OutputText {
  const claim = decodeClaimScript(script);
  return {
    start: `{"n":${n},"amount":${formatCoins(value)},${textMembers(scriptShown(script, context.prefixes))}`,
    claim: claim && `{${textMembers(outputClaim(claim, txid, n, context))}`,
    name: claim && claim.name,
    isUnspendable: isUnspendable(script),
  };
}

/** Cached texts of the outputs of one transaction, by output number. */
interface Entry {
  readonly texts: Map<number, OutputText>;
  chars: number;
}

export class OutputTexts {
  private readonly transactions = new BoundedMap<string, Entry>(MOST_CHARS);

  /** Returns the texts of the outputs from `from` (inclusive) to `end` (exclusive). */
  of(
    outputs: readonly TxOutput[],
    { from, end }: { readonly from: number; readonly end: number },
    txid: Bytes,
    context: TxInfoContext,
  ): OutputText[] {
    // Before the normalization fork names are not normalized, so the key of the cache contains the state of the fork.
    const key = `${filesNormalized(context.rules, context.height) ? 'n' : 'r'}${toLatin1(txid)}`;
    const entry = this.transactions.get(key) ?? { texts: new Map(), chars: 0 };
    const found: OutputText[] = [];
    for (let n = from; n < Math.min(end, outputs.length); n++) {
      let text = entry.texts.get(n);
      if (text === undefined) {
        entry.texts.set(n, (text = textOf(outputs[n]!, n, txid, context)));
        entry.chars += ENTRY_CHARS + text.start.length + (text.claim?.length ?? 0);
      }
      found.push(text);
    }
    this.transactions.set(key, entry, entry.chars);
    return found;
  }
}

/** JSON text of the claim operation in a script with the state of its claim, as in `gettxinfo`; null if the script has none. */
export function outputClaimText(
  script: Bytes,
  { hash, index }: OutPoint,
  state: OutputStatus['state'],
  context: TxInfoContext,
): string | null {
  const claim = decodeClaimScript(script);
  if (claim === null) return null;
  return `{${textMembers(outputClaim(claim, hash, index, context))},${stateText(state, context.rules)}}`;
}

/** Returns the text of an output: its cached part, followed by its current state. */
export function outputText(
  { start, claim }: OutputText,
  { isSpent, spender, state }: OutputStatus,
  rules: ClaimRules,
): string {
  const claimed = claim === null ? '' : `,"claim":${claim},${stateText(state, rules)}}`;
  return `${start}${claimed},"spent":${isSpent}${spender === null ? '' : spenderText(spender)}}`;
}

function spenderText({ txid, n, height, blockHash }: NonNullable<OutputStatus['spender']>): string {
  const place = height === undefined ? '' : `,"height":${height}`;
  const block = blockHash === undefined ? '' : `,"blockhash":"${hashToHex(blockHash)}"`;
  return `,"spentBy":{"txid":"${hashToHex(txid)}","n":${n}${place}${block}}`;
}

/** JSON text of the members with the state of a claim. */
function stateText(state: OutputState | null | undefined, rules: ClaimRules): string {
  if (state === undefined) return '"state":"waiting"';
  if (state === null) return '"state":"refused"';
  const { item, controls } = state;
  const { activated, dueHeight, removed, removal, height } = item;
  const validAtHeight = activated === 0 ? dueHeight : activated;
  if (removed !== 0) {
    const ended = removal === REMOVAL.expired ? 'expired' : 'spent';
    return `"state":"${ended}","validAtHeight":${validAtHeight},"endedHeight":${removed}`;
  }
  const isActive = activated !== 0;
  const controlling = isActive && item.kind !== 'support' ? `,"isControlling":${controls}` : '';
  return (
    `"state":"${isActive ? 'active' : 'pending'}","validAtHeight":${validAtHeight},` +
    `"expirationHeight":${expirationHeight(rules, height)}${controlling}`
  );
}
