/**
 * Fields of a claim or support in lists, besides its amounts: names, and from its value the type, title and channel. Each
 * text from the value is cut to one line. Results for single claims contain complete values.
 */
import { normalizeKey } from '../../claimtrie/nameKey.js';
import { filesNormalized } from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { decodeClaim } from '../../metadata/claim.js';
import { isCurrentFormat, readClaimFacts, type MetadataKind } from '../../metadata/claimFacts.js';
import { MetadataError } from '../../metadata/metadataError.js';
import { decodeSupport } from '../../metadata/support.js';
import { claimIdOf, type ClaimScript } from '../../script/claimScript.js';
import { MAX_SCRIPT_SIZE } from '../../script/script.js';
import { asBuffer, fromLatin1, hashToHex, toLatin1, type Bytes } from '../../util/bytes.js';
import { t, type SchemaFields } from '../../schema/schema.js';
import { nameHex } from './claimsExplorer.js';
import { nameText } from './claimsText.js';

/** Maximum length of a title in characters. Arbitrary: one line of text. */
const TITLE_CHARS = 200;

export const CLAIM_KINDS = ['stream', 'channel', 'repost', 'collection', 'support'] as const;

const WHEN_DECODED = 'if the value can be decoded and contains it';

export const BRIEF_VALUE_FIELDS: SchemaFields = {
  kind: t.optional(
    t.oneOf(CLAIM_KINDS, 'type of the output to which the value belongs'),
    'if the value can be decoded',
  ),
  title: t.optional(t.str(`the title, cut to ${TITLE_CHARS} characters`), WHEN_DECODED),
  channelId: t.optional(
    t.hex('the id of the channel that the value names as its signer; the signature is not verified'),
    'if the value is signed',
  ),
};

export interface BriefValue {
  readonly [name: string]: string | undefined;
  readonly kind?: string | undefined;
  readonly title?: string | undefined;
  readonly channelId?: string | undefined;
}

const NOTHING: BriefValue = {};

/** Returns the brief fields of a value; an empty object if the value cannot be decoded. */
export function briefValue(value: Bytes | undefined, isSupport: boolean): BriefValue {
  if (value === undefined || value.length > MAX_SCRIPT_SIZE) return NOTHING;
  try {
    if (isSupport) return { kind: 'support', channelId: idText(decodeSupport(value).channelId) };
    const { kind, channelId, title } = isCurrentFormat(value) ? currentFacts(value) : decodedFacts(value);
    if (kind === null) return NOTHING;
    const shown = title === '' ? undefined : [...title.slice(0, 2 * TITLE_CHARS)].slice(0, TITLE_CHARS);
    return { kind, title: shown?.join(''), channelId: idText(channelId) };
  } catch (error) {
    if (error instanceof MetadataError) return NOTHING;
    throw error;
  }
}

interface TitledFacts {
  readonly kind: MetadataKind | null;
  readonly channelId: Bytes | null;
  readonly title: string;
}

/** Reads the facts without decoding the whole value, in a fraction of the time. */
function currentFacts(value: Bytes): TitledFacts {
  const { kind, channelId, title } = readClaimFacts(value);
  return { kind, channelId, title: title === null ? '' : asBuffer(title).toString() };
}

function decodedFacts(value: Bytes): TitledFacts {
  const { kind, channelId, claim } = decodeClaim(value);
  return { kind, channelId, title: claim.title };
}

function idText(id: Bytes | null): string | undefined {
  return id === null ? undefined : hashToHex(id);
}

export const NAME_FIELDS: SchemaFields = {
  name: t.str('the name in the output'),
  namehex: t.optional(t.hex('the bytes of the name'), 'if the name is not valid UTF-8'),
  normalized_name: t.optional(
    t.str('the normalized name, by which the claim trie stores the claim'),
    'if it differs from the name',
  ),
};

/** Returns the fields with a name, both as in the output script and as normalized after block `height`. */
export function nameAnswer(
  name: Bytes,
  rules: ClaimRules,
  height: number,
): Record<string, string | undefined> {
  const raw = toLatin1(name);
  const filed = filesNormalized(rules, height) ? normalizeKey(raw) : raw;
  return {
    name: nameText(name),
    namehex: nameHex(name),
    normalized_name: filed === raw ? undefined : nameText(fromLatin1(filed)),
  };
}

export const OUTPUT_CLAIM_FIELDS: SchemaFields = {
  op: t.oneOf(['claim', 'update', 'support'], 'type of the output'),
  ...NAME_FIELDS,
  claimId: t.claimId('the id of the claim, or of the supported claim'),
  ...BRIEF_VALUE_FIELDS,
};

/** Returns the claim operation in a script. The id of a new claim is computed from its outpoint. */
export function outputClaim(
  script: ClaimScript,
  txid: Bytes,
  n: number,
  { rules, height }: { readonly rules: ClaimRules; readonly height: number },
): Record<string, string | undefined> {
  const { kind, name, claimId, value } = script;
  return {
    op: kind,
    ...nameAnswer(name, rules, height),
    claimId: hashToHex(claimId ?? claimIdOf(txid, n)),
    ...briefValue(value, kind === 'support'),
  };
}
