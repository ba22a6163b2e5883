/**
 * The outputs of `gettxinfo` as JSON text. What the script of an output says never changes, so its text is cached by transaction;
 * the state of its claim and its spender are added at each call. The cache is limited in size.
 */
import { expirationHeight, filesNormalized } from '../../claimtrie/rules.js';
import { REMOVAL } from '../../claimtrie/item.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { TxOutput } from '../../primitives/transaction.js';
import { decodeClaimScript } from '../../script/claimScript.js';
import { isUnspendable } from '../../script/script.js';
import type { OutputState } from '../../store/claims/query/outputStates.js';
import { BoundedMap } from '../../util/boundedMap.js';
import { hashToHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { coins } from '../../util/json/json.js';
import { stringifyJson, type JsonOut } from '../../util/json/jsonWrite.js';
import { outputClaim } from './claimsBrief.js';
import { scriptShown, type TxInfoContext } from './txInfo.js';

/** Limit of the cached texts in characters, of one or two bytes. */
const MOST_CHARS = 4 << 20;
/** Characters that count for an entry besides its texts. */
const ENTRY_CHARS = 64;

/** The part of an output that never changes. */
export interface OutputText {
  /** Its object up to the claim, without the closing brace. */
  readonly start: string;
  /** The claim's object, likewise; null without a claim operation. */
  readonly claim: string | null;
  /** The name of the claim operation. */
  readonly name: Bytes | null;
  readonly isUnspendable: boolean;
}

/** State of an output now: whether it is spent, and the state of its claim. */
export interface OutputFate {
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

/** The text of an object without its closing brace. */
const opened = (value: JsonOut): string => stringifyJson(value).slice(0, -1);

function textOf({ value, script }: TxOutput, n: number, txid: Bytes, context: TxInfoContext): OutputText {
  const claim = decodeClaimScript(script);
  return {
    start: opened({ n, amount: coins(value), ...scriptShown(script, context.prefixes) }),
    claim: claim && opened(outputClaim(claim, txid, n, context)),
    name: claim && claim.name,
    isUnspendable: isUnspendable(script),
  };
}

/** Cached texts of one transaction by output number. */
interface Entry {
  readonly texts: Map<number, OutputText>;
  chars: number;
}

export class OutputTexts {
  private readonly transactions = new BoundedMap<string, Entry>(MOST_CHARS);

  /** The texts of the outputs from `from` to before `end`. */
  of(
    outputs: readonly TxOutput[],
    { from, end }: { readonly from: number; readonly end: number },
    txid: Bytes,
    context: TxInfoContext,
  ): OutputText[] {
    // Before the normalization fork names have another form.
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

/** The text of an output with its later state. */
export function outputText(
  { start, claim }: OutputText,
  { isSpent, spender, state }: OutputFate,
  rules: ClaimRules,
): string {
  const claimed = claim === null ? '' : `,"claim":${claim},${stateText(state, rules)}}`;
  return `${start}${claimed},"spent":${isSpent}${spender === null ? '' : spenderText(spender)}}`;
}

function spenderText({ txid, n, height, blockHash }: NonNullable<OutputFate['spender']>): string {
  const spentBy = {
    txid: hashToHex(txid),
    n,
    height,
    blockhash: blockHash && hashToHex(blockHash),
  };
  return `,"spentBy":${stringifyJson(spentBy)}`;
}

/** The members that tell the state of a claim. */
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
