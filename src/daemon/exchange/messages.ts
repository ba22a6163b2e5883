/**
 * Encoding of the requests and responses of the blob exchange, in the format of Python's `json.dumps`. Source: lbry-sdk
 * lbry/blob_exchange/serialization.py; reflector.go server/peer/server.go.
 */
import { isBlobHash, MAX_BLOB_BYTES } from '../content/blobHash.js';
import { ProtocolError, type JsonMembers } from './jsonMessages.js';

/** Request size at which lbry-sdk's server closes the connection. Source: server.py `MAX_REQUEST_SIZE`. */
export const REQUEST_LIMIT_BYTES = 1200;
/**
 * Maximum number of additional hashes in a request with `requested_blob`. With more hashes, the request would exceed the 512
 * bytes that public servers accept. Source: reflector.go server/peer/server.go `maxRequestSize`, where `^` is XOR.
 */
export const MAX_ASKED_BESIDE_BLOB = 3;
/** Maximum size of a response in bytes. Arbitrary: a response with four hashes and an address has 600 bytes. */
export const ANSWER_LIMIT_BYTES = 8192;

/** Content of a request that a peer sends. */
export interface BlobRequest {
  readonly requestedBlobs: readonly string[] | null;
  readonly asksForRate: boolean;
  readonly asksForAddress: boolean;
  readonly requestedBlob: string | null;
}

/**
 * Parses a request. Throws `ProtocolError` for invalid hashes and for a request without a known key (lbry-sdk's server
 * closes the connection then).
 */
export function readRequest(members: JsonMembers): BlobRequest {
  const has = (name: string): boolean => Object.hasOwn(members, name);
  const requested = has('requested_blobs') ? members['requested_blobs'] : null;
  const blob = has('requested_blob') ? members['requested_blob'] : null;
  const request = {
    requestedBlobs: requested === null ? null : hashesOf(requested),
    asksForRate: has('blob_data_payment_rate'),
    asksForAddress: has('lbrycrd_address'),
    requestedBlob: blob === null ? null : hashesOf([blob])[0]!,
  };
  const isKnown =
    request.requestedBlobs !== null ||
    request.requestedBlob !== null ||
    request.asksForRate ||
    request.asksForAddress;
  if (!isKnown) throw new ProtocolError('the request is empty');
  return request;
}

function hashesOf(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every(isBlobHash)) return value;
  throw new ProtocolError('the request contains an invalid blob hash');
}

const list = (hashes: readonly string[]): string => `[${hashes.map((hash) => `"${hash}"`).join(', ')}]`;

/**
 * Request for a blob. The peer also reports which of the first two of `others` it has. Source: `make_request_for_blob_hash`.
 */
export function blobRequestBytes(hash: string, others: readonly string[] = []): Buffer {
  const asked = [hash, ...others].slice(0, MAX_ASKED_BESIDE_BLOB);
  return Buffer.from(
    `{"requested_blobs": ${list(asked)}, "lbrycrd_address": true, "blob_data_payment_rate": 0.0, "requested_blob": "${hash}"}`,
  );
}

/** Response of a server. Members that were not requested are absent. */
export interface BlobAnswerParts {
  readonly incomingBlob?: { readonly hash: string; readonly lengthBytes: number };
  readonly acceptsRate?: boolean;
  readonly availableBlobs?: readonly string[];
  /** Address for payments; true if the client asked for blobs but not for an address. */
  readonly address?: string | true;
}

/** Encodes a response with the members in lbry-sdk's order. Returns null if the response would be empty. */
export function answerBytes({
  incomingBlob,
  acceptsRate,
  availableBlobs,
  address,
}: BlobAnswerParts): Buffer | null {
  const members: string[] = [];
  if (incomingBlob)
    members.push(
      `"incoming_blob": {"blob_hash": "${incomingBlob.hash}", "length": ${incomingBlob.lengthBytes}}`,
    );
  if (acceptsRate) members.push('"blob_data_payment_rate": "RATE_ACCEPTED"');
  if (availableBlobs) members.push(`"available_blobs": ${list(availableBlobs)}`);
  if (address !== undefined) members.push(`"lbrycrd_address": ${JSON.stringify(address)}`);
  return members.length === 0 ? null : Buffer.from(`{${members.join(', ')}}`);
}

/** The peer's answer to the request for a blob. */
export type ReadAnswer =
  | { readonly kind: 'coming'; readonly lengthBytes: number; readonly available: readonly string[] }
  | { readonly kind: 'lacks'; readonly available: readonly string[] };

/** Maximum number of hashes in an answer: those of the additional hashes, and the requested one. */
const MAX_LISTED_HASHES = MAX_ASKED_BESIDE_BLOB + 1;
const ANSWER_KEYS: ReadonlySet<string> = new Set([
  'lbrycrd_address',
  'available_blobs',
  'blob_data_payment_rate',
  'incoming_blob',
]);

/**
 * Parses the response to a request for a blob. Throws `ProtocolError` if the peer refuses the rate, sends another blob, or
 * reports an unexpected or invalid length. Source: client.py `_download_blob`.
 */
export function readAnswer(members: JsonMembers, hash: string, lengthBytes: number | null): ReadAnswer {
  if (!Object.keys(members).every((key) => ANSWER_KEYS.has(key)))
    throw new ProtocolError('the answer has unknown members');
  const listed = members['available_blobs'];
  if (listed !== undefined && !(Array.isArray(listed) && listed.length <= MAX_LISTED_HASHES))
    throw new ProtocolError('the answer lists blobs that were not requested');
  const available = (listed ?? []).filter(isBlobHash);
  const incoming = members['incoming_blob'] as {
    blob_hash?: unknown;
    length?: unknown;
    error?: unknown;
  } | null;
  if (incoming === undefined || incoming === null || incoming.error) {
    if (listed === undefined) throw new ProtocolError('the answer does not mention the blob');
    // A peer that has the blob but does not send it is treated like a peer without it.
    return { kind: 'lacks', available: available.filter((one) => one !== hash) };
  }
  if (members['blob_data_payment_rate'] !== 'RATE_ACCEPTED') throw new ProtocolError('the rate was refused');
  if (incoming.blob_hash !== hash) throw new ProtocolError('the answer announces another blob');
  const { length } = incoming;
  const isPossible =
    Number.isInteger(length) && (length as number) > 0 && (length as number) <= MAX_BLOB_BYTES;
  if (!isPossible || (lengthBytes !== null && length !== lengthBytes))
    throw new ProtocolError(`the answer announces a blob of ${String(length)} bytes`);
  return { kind: 'coming', lengthBytes: length as number, available };
}
