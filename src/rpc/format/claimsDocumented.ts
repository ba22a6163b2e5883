/**
 * Formats claims in the documented profile (docs/rpc.md): amounts in coins, and the name of every claim. Additional fields are `address`, `bid`, `sequence`, `blockhash` (block of the output), `expiration
 * height`, the pending amount, and `pruned`. `pruned` means that the output is spent and its block pruned, so the value
 * (then null) and the address are unknown. `getclaimsforname` also includes lbrycrd's field names, with amounts in satoshis,
 * because they do not conflict there. Results for single claims do not include them, because `amount` would mean coins in
 * one format and satoshis in the other.
 */
import { expirationHeight } from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { ClaimInfo, NameInfo, OutputInfo } from '../../store/claims/query/claimQueries.js';
import { hashToHex, type Bytes } from '../../util/bytes.js';
import { coins } from '../../util/json/json.js';
import { whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import { jsonArray, type JsonOut } from '../../util/json/jsonWrite.js';
import type { ChainReader } from '../../chain/chainReader.js';
import type { ClaimReader } from '../../interfaces/claimReader.js';
import { t, type OptionalSchema, type Schema, type SchemaFields } from '../../schema/schema.js';
import { METADATA } from './claimMetadata.js';
import { BlockHashTexts, type ClaimOutputReader, longArray, TxidTexts } from './claimsOutput.js';
import { type OutputDeps, readOutputs } from '../lookup/outputScripts.js';
import { nameText } from './claimsText.js';
import { listTag } from '../lookup/listTag.js';

type Answer = Record<string, JsonOut | undefined>;

const VALUE: Schema = t.union([
  { when: 'if it is not pruned', schema: t.hex('the metadata') },
  { when: 'if it is pruned', schema: t.none() },
]);
const PRUNED = t.optional(
  t.bool('true if the block is pruned, so that value and address are unknown'),
  'if they are pruned',
);
const ADDRESS = t.optional(t.str('the address to which the output pays'), 'if the script has one');
const EXPIRATION = t.int('the height at which the claim or support expires');
const BLOCK_HASH = t.hash('the hash of the block that contains the output');
const BID = t.int('position in the order of effective amounts; 0 is the highest amount');
const IN_PAGE = 'with "count" or "after"';
const SEQUENCE = t.int('position in the order of age; 0 is the oldest claim');

/** Names of those fields whose spelling differs between methods. */
interface Naming {
  readonly height: string;
  readonly validAtHeight: string;
  readonly amount: string;
  readonly effectiveAmount: string;
  readonly pendingAmount: string;
}

const SPACED: Naming = {
  height: 'height',
  validAtHeight: 'valid at height',
  amount: 'amount',
  effectiveAmount: 'effective amount',
  pendingAmount: 'pending amount',
};

const HUNGARIAN: Naming = {
  height: 'nHeight',
  validAtHeight: 'nValidAtHeight',
  amount: 'nAmount',
  effectiveAmount: 'nEffectiveAmount',
  pendingAmount: 'nPendingAmount',
};

/** Output fields under lbrycrd's names, for results where these do not conflict with the documented names. */
const LBRYCRD_OUTPUT_FIELDS: SchemaFields = {
  txId: t.hash("the same as txid. This and the following members have lbrycrd's names"),
  height: t.int('the same as nHeight'),
  validAtHeight: t.int('the same as nValidAtHeight'),
  amount: t.sats('the same as nAmount, in satoshis'),
};

function outputFields(naming: Naming, value: Schema | OptionalSchema): SchemaFields {
  return {
    txid: t.hash('the transaction'),
    n: t.int('the index of the output'),
    [naming.height]: t.int('the height of the block that contains the output'),
    [naming.validAtHeight]: t.int(
      'the activation height: the block from which the claim or support is active',
    ),
    [naming.amount]: t.coins('the amount of the output'),
    value,
    metadata: METADATA,
    address: ADDRESS,
    blockhash: BLOCK_HASH,
    'expiration height': EXPIRATION,
    pruned: PRUNED,
  };
}

function supportSchema(naming: Naming): Schema {
  const fields = {
    ...outputFields(naming, t.optional(VALUE, 'if the support has a value')),
    ...(naming === HUNGARIAN && LBRYCRD_OUTPUT_FIELDS),
  };
  return t.named(naming === SPACED ? 'Support' : 'SupportOfName', t.object(fields));
}

function claimFields(naming: Naming): SchemaFields {
  return {
    name: t.str('the name in the output'),
    claimId: t.claimId('the claim id'),
    ...outputFields(naming, VALUE),
    [naming.effectiveAmount]: t.coins(
      'the effective amount: the active part of the amounts of the claim and its supports',
    ),
    [naming.pendingAmount]: t.optional(
      t.coins('the effective amount after all pending amounts have become active'),
      'if it exceeds the effective amount',
    ),
    supports: t.array(supportSchema(naming), 'the supports of the claim, in a page at most "count" of them'),
    nextSupports: t.optional(
      t.hex('cursor of the next page of supports, to be passed to getclaimbyid as "after"'),
      'in a page, if the claim has more supports',
    ),
    bid: BID,
    sequence: SEQUENCE,
    ...(naming === HUNGARIAN && {
      ...LBRYCRD_OUTPUT_FIELDS,
      effectiveAmount: t.sats('the same as nEffectiveAmount, in satoshis'),
      pendingAmount: t.optional(
        t.sats('the same as nPendingAmount, in satoshis'),
        'if it exceeds the effective amount',
      ),
    }),
  };
}

export const CLAIM_SCHEMA = t.union([
  { when: 'if there is no such claim', schema: t.object({}) },
  {
    when: 'in the documented profile',
    schema: t.named(
      'Claim',
      t.object({
        normalized_name: t.str('the normalized name, by which the claim trie stores the claims'),
        ...claimFields(SPACED),
        'last takeover height': t.int('the height at which the controlling claim of the name last changed'),
      }),
    ),
  },
]);

export const NAME_SCHEMA = t.named(
  'ClaimsOfName',
  t.object({
    nLastTakeoverHeight: t.int('the height at which the controlling claim of the name last changed'),
    normalized_name: t.str('the normalized name, by which the claim trie stores the claims'),
    claims: t.array(
      t.named('ClaimOfName', t.object(claimFields(HUNGARIAN))),
      'the claims: active ones by effective amount, highest first, then the pending ones',
    ),
    'supports without claims': t.array(
      supportSchema(HUNGARIAN),
      'supports for claim ids that have no claim under this name',
    ),
    height: t.int('the height of the block after which this result is valid'),
    blockhash: t.hash('the hash of that block'),
    normalizedName: t.str("the same as normalized_name. This and the following members have lbrycrd's names"),
    lastTakeoverHeight: t.int('the same as nLastTakeoverHeight'),
    supportsWithoutClaim: t.array(supportSchema(HUNGARIAN), 'the same as "supports without claims"'),
    claimCount: t.optional(t.int('the number of all claims'), IN_PAGE),
    supportsWithoutClaimCount: t.optional(t.int('the number of all supports without claims'), IN_PAGE),
    next: t.optional(
      t.hex('cursor of the next page, to be passed as "after"'),
      'in a page, when there is a next one',
    ),
  }),
);

export const ENTRY_SCHEMA = t.named(
  'TrieEntry',
  t.object({
    normalized_name: t.str('the normalized name, by which the claim trie stores the claim'),
    claims: t.array(
      t.object({
        name: t.str('the name in the output'),
        claimId: t.claimId('the claim id'),
        ...outputFields(SPACED, VALUE),
      }),
      'the active claims by effective amount, highest first',
    ),
  }),
);

export interface DocumentedDeps extends OutputDeps {
  readonly chain: OutputDeps['chain'] & Pick<ChainReader, 'headers'>;
  readonly claims: Pick<ClaimReader, 'rules'>;
}

/** Fields that every output in a result has. */
interface OutputFacts {
  readonly txid: string;
  readonly amount: JsonOut;
  readonly value: string | null | undefined;
  readonly metadata: JsonOut | undefined;
  readonly address: string | undefined;
  readonly blockhash: string;
  readonly expiration: number;
  readonly pruned: true | undefined;
}

/**
 * Formats the items of one result. Objects are created field by field, separately for each format, because object spread
 * with computed names takes several times as long.
 */
class Shaper {
  private readonly rules: ClaimRules;
  private readonly outputs: ClaimOutputReader;
  private readonly isSpaced: boolean;
  private readonly txids = new TxidTexts();
  private readonly blockHashes: BlockHashTexts;

  /** Creates the formatter. `items` are all items of the result; the hashes of their blocks are read immediately. */
  constructor(
    deps: DocumentedDeps,
    outputs: ClaimOutputReader,
    items: readonly OutputInfo[],
    naming: Naming,
  ) {
    this.rules = deps.claims.rules;
    this.outputs = outputs;
    this.isSpaced = naming === SPACED;
    this.blockHashes = new BlockHashTexts(deps.chain, items);
  }

  private factsOf(item: OutputInfo): OutputFacts {
    const { value, address, isPruned } = this.outputs.of(item);
    return {
      txid: this.txids.of(item),
      amount: coins(item.amount),
      value: isPruned ? null : value,
      metadata: this.outputs.metadataOf(item),
      address,
      blockhash: this.blockHashes.of(item),
      expiration: expirationHeight(this.rules, item.height),
      pruned: isPruned ? true : undefined,
    };
  }

  output(item: OutputInfo): Answer {
    const facts = this.factsOf(item);
    return this.isSpaced
      ? {
          txid: facts.txid,
          n: item.n,
          height: item.height,
          'valid at height': item.validAtHeight,
          amount: facts.amount,
          value: facts.value,
          metadata: facts.metadata,
          address: facts.address,
          blockhash: facts.blockhash,
          'expiration height': facts.expiration,
          pruned: facts.pruned,
        }
      : {
          txid: facts.txid,
          n: item.n,
          nHeight: item.height,
          nValidAtHeight: item.validAtHeight,
          nAmount: facts.amount,
          value: facts.value,
          metadata: facts.metadata,
          address: facts.address,
          blockhash: facts.blockhash,
          'expiration height': facts.expiration,
          pruned: facts.pruned,
          txId: facts.txid,
          height: item.height,
          validAtHeight: item.validAtHeight,
          amount: item.amount,
        };
  }

  plainClaim(claim: OutputInfo): Answer {
    return { name: nameText(claim.name), claimId: hashToHex(claim.claimId), ...this.output(claim) };
  }

  claim(claim: ClaimInfo, nextSupports?: string): Answer {
    const facts = this.factsOf(claim);
    const pending = claim.fullAmount > claim.effectiveAmount ? coins(claim.fullAmount) : undefined;
    const effective = coins(claim.effectiveAmount);
    const supports = longArray(claim.supports, (support) => this.output(support));
    return this.isSpaced
      ? {
          name: nameText(claim.name),
          claimId: hashToHex(claim.claimId),
          txid: facts.txid,
          n: claim.n,
          height: claim.height,
          'valid at height': claim.validAtHeight,
          amount: facts.amount,
          value: facts.value,
          metadata: facts.metadata,
          address: facts.address,
          blockhash: facts.blockhash,
          'expiration height': facts.expiration,
          pruned: facts.pruned,
          'effective amount': effective,
          'pending amount': pending,
          supports,
          nextSupports,
          bid: claim.bid,
          sequence: claim.sequence,
        }
      : {
          name: nameText(claim.name),
          claimId: hashToHex(claim.claimId),
          txid: facts.txid,
          n: claim.n,
          nHeight: claim.height,
          nValidAtHeight: claim.validAtHeight,
          nAmount: facts.amount,
          value: facts.value,
          metadata: facts.metadata,
          address: facts.address,
          blockhash: facts.blockhash,
          'expiration height': facts.expiration,
          pruned: facts.pruned,
          nEffectiveAmount: effective,
          nPendingAmount: pending,
          supports,
          nextSupports,
          bid: claim.bid,
          sequence: claim.sequence,
          txId: facts.txid,
          height: claim.height,
          validAtHeight: claim.validAtHeight,
          amount: claim.amount,
          effectiveAmount: claim.effectiveAmount,
          pendingAmount: pending && claim.fullAmount,
        };
  }
}

/** Returns the result of methods for a single claim of a name. */
export function documentedClaim(
  deps: DocumentedDeps,
  info: Pick<NameInfo, 'name' | 'lastTakeoverHeight'>,
  claim: ClaimInfo,
  nextSupports?: string,
): MaybePromise<JsonOut> {
  const items = [claim, ...claim.supports];
  return whenResolved(readOutputs(deps, items), (outputs) => ({
    normalized_name: nameText(info.name),
    ...new Shaper(deps, outputs, items, SPACED).claim(claim, nextSupports),
    'last takeover height': info.lastTakeoverHeight,
  }));
}

/** A page of the claims and supports of a name. */
export interface NamePage {
  /** Number of claims and supports before the page: first the claims, then the supports without claims. */
  readonly from: number;
  /** Maximum number of claims and supports without claims of the page, and of supports of each claim. */
  readonly count: number;
  /** Returns the cursor of the page that begins at this place in the list with this tag. */
  readonly cursorAt: (place: number, tag: Bytes) => string;
  /** Tag of the claims and supports of the name. */
  readonly tag: Bytes;
}

/** Tag of the supports of a claim in `getclaimbyid`. `claimId` is in wire order. */
export const supportsTag = (claimId: Bytes): Bytes => listTag('getclaimbyid', claimId);

/** Returns the result of `getclaimsforname`, as of block `height` with the hash `blockHash`. */
export function documentedName(
  deps: DocumentedDeps,
  info: NameInfo,
  height: number,
  blockHash: string,
  page?: NamePage,
): MaybePromise<Answer> {
  const shown: ShownPart = page === undefined ? info : partOf(info, page);
  const items = itemsOf(shown);
  return whenResolved(readOutputs(deps, items), (outputs) => {
    const shaper = new Shaper(deps, outputs, items, HUNGARIAN);
    const support = (of: OutputInfo): Answer => shaper.output(of);
    return {
      nLastTakeoverHeight: info.lastTakeoverHeight,
      normalized_name: nameText(info.name),
      claims: longArray(shown.claims, (claim) => shaper.claim(claim, claim.nextSupports)),
      'supports without claims': longArray(shown.supportsWithoutClaim, support),
      height,
      blockhash: blockHash,
      normalizedName: nameText(info.name),
      lastTakeoverHeight: info.lastTakeoverHeight,
      supportsWithoutClaim: longArray(shown.supportsWithoutClaim, support),
      ...(page && pageFields(info, page)),
    };
  });
}

interface ShownClaim extends ClaimInfo {
  readonly nextSupports?: string | undefined;
}

interface ShownPart {
  readonly claims: readonly ShownClaim[];
  readonly supportsWithoutClaim: readonly OutputInfo[];
}

function partOf({ claims, supportsWithoutClaim }: NameInfo, { from, count, cursorAt }: NamePage): ShownPart {
  const to = from + count;
  const [first, last] = [from, to].map((place) => Math.max(0, place - claims.length));
  return {
    claims: claims.slice(from, to).map((claim) => ({
      ...claim,
      supports: claim.supports.slice(0, count),
      nextSupports: claim.supports.length > count ? cursorAt(count, supportsTag(claim.claimId)) : undefined,
    })),
    supportsWithoutClaim: supportsWithoutClaim.slice(first, last),
  };
}

function pageFields({ claims, supportsWithoutClaim }: NameInfo, page: NamePage): Answer {
  const { from, count, cursorAt, tag } = page;
  const to = from + count;
  return {
    claimCount: claims.length,
    supportsWithoutClaimCount: supportsWithoutClaim.length,
    next: to < claims.length + supportsWithoutClaim.length ? cursorAt(to, tag) : undefined,
  };
}

function itemsOf({ claims, supportsWithoutClaim }: ShownPart): OutputInfo[] {
  const items: OutputInfo[] = [];
  for (const claim of claims) items.push(claim, ...claim.supports);
  return items.concat(supportsWithoutClaim);
}

/** Formats one entry of the result of `getclaimsintrie` for the documented profile. */
export async function documentedEntry(deps: DocumentedDeps, info: NameInfo): Promise<JsonOut> {
  const claims = info.claims.filter((claim) => claim.active);
  const shaper = new Shaper(deps, await readOutputs(deps, claims), claims, SPACED);
  return {
    normalized_name: nameText(info.name),
    claims: jsonArray(claims.map((claim) => shaper.plainClaim(claim))),
  };
}
