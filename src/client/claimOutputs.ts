/**
 * Claims offline, for programs: the outputs that create, update, support and abandon claims, claim ids, addresses. Part of
 * `lbcnode/client`; it needs no node. Amounts are bigints of satoshis; ids are hex as a node prints them. An invalid request
 * throws `RangeError` with a message for its author.
 *
 *   const claim = claimOutput({ network: 'main', address, amountSat: 1_000_000n, name: 'mindblown', value });
 *   const claimId = claimIdOf(txid, 0); // once its transaction has an id
 *
 * Abandoning a claim needs no special output: spending the claim's output to any ordinary output ends the claim
 * (`paymentOutput`). `transactions.ts` builds and signs transactions with these outputs.
 */
import { isMoneyRange, MAX_CLAIM_NAME_SIZE, MAX_CLAIM_SCRIPT_SIZE } from '../consensus/limits.js';
import type { NetworkName } from '../params/network.js';
import { networkParams } from '../params/networks.js';
import {
  addressPrefixesOf,
  decodeDestination,
  encodeDestination,
  type AddressPrefixes,
} from '../script/address.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  CLAIM_ID_SIZE,
  claimIdOf as claimIdBytes,
  decodeClaimScript,
  type ClaimKind,
} from '../script/claimScript.js';
import { extractDestination, scriptForDestination } from '../script/standard.js';
import { asBuffer, hashFromHex, hashToHex, isHex, type Bytes } from '../util/bytes.js';
import { formatCoins, parseFixedPoint } from '../util/json/json.js';

export type { NetworkName } from '../params/network.js';
export type { ClaimKind } from '../script/claimScript.js';

/** An output: its amount in satoshis and its script. */
export interface OutputDraft {
  readonly value: bigint;
  readonly script: Uint8Array;
}

export interface PaymentRequest {
  readonly network: NetworkName;
  /** Address that can spend the output. Any address of the network is allowed. */
  readonly address: string;
  readonly amountSat: bigint;
}

export interface ClaimRequest extends PaymentRequest {
  /** Name of the claim; at most 255 bytes. A string is encoded as UTF-8. */
  readonly name: string | Uint8Array;
  /** The claim's value: bytes (for example of the metadata schema), or a string encoded as UTF-8. */
  readonly value: string | Uint8Array;
}

export interface UpdateRequest extends ClaimRequest {
  /** Claim id of 40 hex digits. The transaction must spend the claim's current output. */
  readonly claimId: string;
}

export interface SupportRequest extends PaymentRequest {
  readonly name: string | Uint8Array;
  /** Id of the claim to support, 40 hex digits. */
  readonly claimId: string;
  /** Metadata of the support; default: none. */
  readonly value?: string | Uint8Array;
}

const prefixesByNetwork = new Map<NetworkName, AddressPrefixes>();

/** Returns the prefixes of addresses and keys of a network. */
export function networkPrefixes(network: NetworkName): AddressPrefixes {
  let prefixes = prefixesByNetwork.get(network);
  if (prefixes === undefined) {
    prefixes = addressPrefixesOf(networkParams(network));
    prefixesByNetwork.set(network, prefixes);
  }
  return prefixes;
}

/**
 * Converts coins in decimal notation to satoshis without rounding: `satoshisOf('0.1')` is 10000000n. At most eight decimals
 * are allowed.
 */
export function satoshisOf(coins: string): bigint {
  const amount = parseFixedPoint(coins, 8);
  if (amount === null) throw new RangeError(`not a valid amount of coins: ${coins}`);
  return amount;
}

/** Converts satoshis to coins with eight decimals: `coinsOf(10000000n)` is `0.10000000`. */
export function coinsOf(amountSat: bigint): string {
  return formatCoins(amountSat);
}

/** Returns the output script that pays to an address. */
export function scriptForAddress(address: string, network: NetworkName): Buffer {
  const destination = decodeDestination(address, networkPrefixes(network));
  if (destination === null) throw new RangeError(`not a valid address of network ${network}: ${address}`);
  return scriptForDestination(destination);
}

/**
 * The address that an output script pays to, with or without a claim prefix; null if the script has no address, or several
 * keys.
 */
export function addressOfScript(script: Uint8Array, network: NetworkName): string | null {
  const destination = extractDestination(script);
  return destination === null ? null : encodeDestination(destination, networkPrefixes(network));
}

/** Computes the id of the claim that output `index` of a transaction creates. An update does not change the id. */
export function claimIdOf(txid: string, index: number): string {
  return hashToHex(claimIdBytes(hashBytes(txid, 32, 'txid'), index));
}

/** Converts an id from printed hex to wire order. */
export function hashBytes(text: string, size: number, what: string): Buffer {
  if (text.length !== size * 2 || !isHex(text)) {
    throw new RangeError(`${what} is not ${size * 2} hex digits: ${text}`);
  }
  return hashFromHex(text);
}

function bytesOf(value: string | Uint8Array): Bytes {
  return typeof value === 'string' ? Buffer.from(value) : value;
}

function draft({ network, address, amountSat }: PaymentRequest, prefix: Bytes): OutputDraft {
  if (!isMoneyRange(amountSat)) throw new RangeError(`an amount out of range: ${amountSat}`);
  if (prefix.length > MAX_CLAIM_SCRIPT_SIZE) {
    throw new RangeError(
      `the claim script has ${prefix.length} bytes; at most ${MAX_CLAIM_SCRIPT_SIZE} are allowed`,
    );
  }
  return { value: amountSat, script: Buffer.concat([prefix, scriptForAddress(address, network)]) };
}

function nameBytes(name: string | Uint8Array): Bytes {
  const bytes = bytesOf(name);
  if (bytes.length > MAX_CLAIM_NAME_SIZE) {
    throw new RangeError(`the name has ${bytes.length} bytes; at most ${MAX_CLAIM_NAME_SIZE} are allowed`);
  }
  return bytes;
}

/** Creates an ordinary output. Spending a claim to such an output abandons the claim. */
export function paymentOutput(request: PaymentRequest): OutputDraft {
  return draft(request, Buffer.alloc(0));
}

/** Creates the output of a new claim for the name, with this amount. */
export function claimOutput(request: ClaimRequest): OutputDraft {
  return draft(request, buildClaimPrefix(nameBytes(request.name), bytesOf(request.value)));
}

/** Creates the output of an update: the new value, amount and address. The transaction must spend the claim's current output. */
export function updateOutput(request: UpdateRequest): OutputDraft {
  const claimId = hashBytes(request.claimId, CLAIM_ID_SIZE, 'claim id');
  return draft(request, buildUpdatePrefix(nameBytes(request.name), claimId, bytesOf(request.value)));
}

/** Support for a claim: its amount is added to the claim until the output is spent. */
export function supportOutput(request: SupportRequest): OutputDraft {
  const claimId = hashBytes(request.claimId, CLAIM_ID_SIZE, 'claim id');
  const value = request.value === undefined ? undefined : bytesOf(request.value);
  return draft(request, buildSupportPrefix(nameBytes(request.name), claimId, value));
}

/** Claim operation in an output script. */
export interface ClaimOperation {
  readonly kind: ClaimKind;
  /** Name as bytes, since names need not be UTF-8. */
  readonly name: Buffer;
  /** Claim id of an update or a support; null for a new claim, whose id is computed from its outpoint (`claimIdOf`). */
  readonly claimId: string | null;
  /** Value of the claim; null for a support without metadata. */
  readonly value: Buffer | null;
}

/** Returns the claim operation of an output script; null for a script without claim operation. */
export function claimOperationOf(script: Uint8Array): ClaimOperation | null {
  const decoded = decodeClaimScript(script);
  if (decoded === null) return null;
  const { kind, name, claimId, value } = decoded;
  return {
    kind,
    name: Buffer.from(asBuffer(name)),
    claimId: claimId === undefined ? null : hashToHex(claimId),
    value: value === undefined ? null : Buffer.from(asBuffer(value)),
  };
}
