/** A subscription of a WebSocket client, parsed from its request, and the check whether an event matches a subscription. */
import { normalizeKey } from '../claimtrie/nameKey.js';
import { RPC_ERROR, rpcError } from '../rpc/declare/errors.js';
import { decodeDestination, type AddressPrefixes } from '../script/address.js';
import { scriptForDestination } from '../script/standard.js';
import { hashFromHex, isHex, toLatin1 } from '../util/bytes.js';
import type { JsonObject, JsonValue } from '../util/json/json.js';
import type { ClaimNotice } from './notifications/claimNotice.js';
import type { TransactionNotice } from './notifications/transactionNotice.js';

export type Subscription =
  | { readonly topic: 'blocks' }
  /** Topic of an open wallet. `confirmations`: the largest number of confirmations that is reported. */
  | { readonly topic: 'wallet'; readonly wallet: string; readonly confirmations: number }
  /** Topic of transactions. `scripts`: only transactions with one of these output scripts (latin1); null for all transactions. */
  | { readonly topic: 'transactions'; readonly scripts: ReadonlySet<string> | null; readonly hex: boolean }
  /** Topic of claims: all claims, or only those with one of the requested names (normalized, latin1) or claim ids (latin1). */
  | {
      readonly topic: 'claims';
      readonly only: { readonly names: ReadonlySet<string>; readonly claimIds: ReadonlySet<string> } | null;
    };

const KNOWN: Readonly<Record<Subscription['topic'], readonly string[]>> = {
  blocks: [],
  transactions: ['addresses', 'scripts', 'hex'],
  claims: ['names', 'nameshex', 'claimids'],
  wallet: ['wallet', 'confirmations'],
};

/**
 * Maximum number of confirmations that a client may request. For each reported confirmation an older block is looked up. 576
 * blocks are mined in about a day.
 */
const MAX_CONFIRMATIONS = 576;

const CLAIM_ID_DIGITS = 40;

/** Reads the parameters of `subscribe`. Throws `RpcError`. */
export function parseSubscription(params: JsonObject, prefixes: AddressPrefixes): Subscription {
  const topic = params.get('topic');
  if (typeof topic !== 'string' || !isTopic(topic))
    throw invalid(`topic must be one of ${Object.keys(KNOWN).join(', ')}`);
  for (const key of params.keys()) {
    if (key !== 'topic' && !KNOWN[topic].includes(key)) throw invalid(`Unknown parameter ${key} of ${topic}`);
  }
  if (topic === 'blocks') return { topic };
  if (topic === 'wallet') return parseWallet(params);
  return topic === 'transactions' ? parseTransactions(params, prefixes) : parseClaims(params);
}

const isTopic = (text: string): text is Subscription['topic'] => Object.hasOwn(KNOWN, text);

/** Parses a wallet subscription. The wallet need not be open. */
function parseWallet(params: JsonObject): Subscription {
  const wallet = params.get('wallet') ?? '';
  if (typeof wallet !== 'string') throw invalid('wallet must be the name of a wallet');
  const confirmations = params.get('confirmations') ?? 1;
  if (
    typeof confirmations !== 'number' ||
    !Number.isInteger(confirmations) ||
    confirmations < 1 ||
    confirmations > MAX_CONFIRMATIONS
  )
    throw invalid(`confirmations must be a whole number from 1 to ${MAX_CONFIRMATIONS}`);
  return { topic: 'wallet', wallet, confirmations };
}

function parseTransactions(params: JsonObject, prefixes: AddressPrefixes): Subscription {
  const hex = params.get('hex') ?? false;
  if (typeof hex !== 'boolean') throw invalid('hex must be true or false');
  const addresses = texts(params, 'addresses');
  const scripts = texts(params, 'scripts');
  if (!addresses && !scripts) return { topic: 'transactions', scripts: null, hex };
  const wanted = new Set<string>();
  for (const address of addresses ?? []) {
    const destination = decodeDestination(address, prefixes);
    if (!destination) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, `Invalid address: ${address}`);
    wanted.add(toLatin1(scriptForDestination(destination)));
  }
  for (const script of scripts ?? []) wanted.add(hexToLatin1(script, 'scripts'));
  return { topic: 'transactions', scripts: wanted, hex };
}

function parseClaims(params: JsonObject): Subscription {
  const [names, hexNames, ids] = [
    texts(params, 'names'),
    texts(params, 'nameshex'),
    texts(params, 'claimids'),
  ];
  if (!names && !hexNames && !ids) return { topic: 'claims', only: null };
  const wanted = new Set<string>();
  for (const name of names ?? []) wanted.add(normalizeKey(toLatin1(Buffer.from(name, 'utf8'))));
  for (const name of hexNames ?? []) wanted.add(normalizeKey(hexToLatin1(name, 'nameshex')));
  const claimIds = new Set<string>();
  for (const id of ids ?? []) {
    if (id.length !== CLAIM_ID_DIGITS || !isHex(id))
      throw invalid(`claimids must be 40 hex digits each: ${id}`);
    claimIds.add(toLatin1(hashFromHex(id)));
  }
  return { topic: 'claims', only: { names: wanted, claimIds } };
}

function hexToLatin1(text: string, name: string): string {
  if (!isHex(text)) throw invalid(`${name} must be hex digits: ${text}`);
  return Buffer.from(text, 'hex').toString('latin1');
}

function texts(params: JsonObject, key: string): string[] | null {
  const value: JsonValue | undefined = params.get(key);
  if (value === undefined) return null;
  if (!Array.isArray(value) || value.length === 0 || !value.every((item) => typeof item === 'string'))
    throw invalid(`${key} must be a list of strings that is not empty`);
  return value;
}

function invalid(message: string): Error {
  return rpcError(RPC_ERROR.INVALID_PARAMETER, message);
}

/**
 * Number of items that the subscription adds to the client's limit: each name, id, address or script counts. The number is
 * at least one.
 */
export function sizeOf(subscription: Subscription): number {
  if (subscription.topic === 'transactions') return Math.max(1, subscription.scripts?.size ?? 1);
  if (subscription.topic === 'claims' && subscription.only)
    return subscription.only.names.size + subscription.only.claimIds.size;
  return 1;
}

export function wantsTransaction(
  { scripts }: Subscription & { topic: 'transactions' },
  transaction: TransactionNotice,
): boolean {
  if (!scripts) return true;
  for (const script of transaction.scripts) if (scripts.has(script)) return true;
  return false;
}

/** Whether a claim event matches a subscription. A takeover also matches a subscription to the claim that lost the name. */
export function wantsClaim(
  { only }: Subscription & { topic: 'claims' },
  { event: { name, claimId, formerClaimId } }: ClaimNotice,
): boolean {
  if (!only) return true;
  if (claimId && only.claimIds.has(toLatin1(claimId))) return true;
  if (formerClaimId && only.claimIds.has(toLatin1(formerClaimId))) return true;
  return only.names.size > 0 && only.names.has(normalizeKey(toLatin1(name)));
}
