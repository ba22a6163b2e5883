/**
 * Packets between a client and a UDP tracker, to and from bytes. Source: BEP 15; lbry-sdk lbry/torrent/tracker.py.
 */
import { DecodeError } from '../bencode.js';

export const ACTION = { connect: 0, announce: 1, error: 3 } as const;
/** Connection id of a connect request. Source: BEP 15. */
const PROTOCOL_ID = 0x41727101980n;
const HEADER_BYTES = 8;
const CONNECT_RESPONSE_BYTES = 16;
const ANNOUNCE_BYTES = 98;
const ANNOUNCE_RESPONSE_BYTES = 20;
const PEER_BYTES = 6;
const HASH_BYTES = 20;
const PEER_ID_BYTES = 20;

/** Event of an announcement: completed, started or stopped. Source: BEP 15. */
export const ANNOUNCE_EVENT = { none: 0, completed: 1, started: 2, stopped: 3 } as const;

export interface AnnounceRequest {
  readonly connectionId: bigint;
  readonly transactionId: number;
  /** 20 bytes. */
  readonly infoHash: Buffer;
  /** 20 bytes. */
  readonly peerId: Buffer;
  readonly event: number;
  readonly key: number;
  /** Maximum number of peers in the response; −1 leaves the number to the tracker. */
  readonly peersWanted: number;
  /** Port at which the client serves blobs; 0 if it does not announce itself. */
  readonly port: number;
}

export interface TrackerPeer {
  readonly address: string;
  readonly port: number;
}

export interface AnnounceResponse {
  readonly transactionId: number;
  /** Number of seconds after which the tracker accepts the next request. */
  readonly intervalSec: number;
  readonly leechers: number;
  readonly seeders: number;
  readonly peers: readonly TrackerPeer[];
}

/** Reads the action and transaction id of an answer; null if the answer is too short. */
export function answerHead(data: Buffer): { action: number; transactionId: number } | null {
  if (data.length < HEADER_BYTES) return null;
  return { action: data.readUInt32BE(0), transactionId: data.readUInt32BE(4) };
}

export function encodeConnect(transactionId: number): Buffer {
  const data = Buffer.alloc(16);
  data.writeBigUInt64BE(PROTOCOL_ID, 0);
  data.writeUInt32BE(ACTION.connect, 8);
  data.writeUInt32BE(transactionId, 12);
  return data;
}

/** Encodes an announcement. The bytes downloaded, left and uploaded, and the address, are sent as 0. */
export function encodeAnnounce(request: AnnounceRequest): Buffer {
  const { infoHash, peerId } = request;
  if (infoHash.length !== HASH_BYTES || peerId.length !== PEER_ID_BYTES)
    throw new RangeError('info hash and peer id have 20 bytes each');
  const data = Buffer.alloc(ANNOUNCE_BYTES);
  data.writeBigUInt64BE(request.connectionId, 0);
  data.writeUInt32BE(ACTION.announce, 8);
  data.writeUInt32BE(request.transactionId, 12);
  infoHash.copy(data, 16);
  peerId.copy(data, 36);
  data.writeUInt32BE(request.event, 80);
  data.writeUInt32BE(request.key, 88);
  data.writeInt32BE(request.peersWanted, 92);
  data.writeUInt16BE(request.port, 96);
  return data;
}

/** Decodes the connection id for the next requests. Throws `DecodeError`. */
export function decodeConnectResponse(data: Buffer): { transactionId: number; connectionId: bigint } {
  if (data.length < CONNECT_RESPONSE_BYTES) throw new DecodeError('the answer to connect is truncated');
  return { transactionId: data.readUInt32BE(4), connectionId: data.readBigUInt64BE(8) };
}

/**
 * Decodes the answer to an announcement. Throws `DecodeError`, also if the last peer is truncated. The ports of peers are
 * not checked.
 */
export function decodeAnnounceResponse(data: Buffer): AnnounceResponse {
  if (data.length < ANNOUNCE_RESPONSE_BYTES || (data.length - ANNOUNCE_RESPONSE_BYTES) % PEER_BYTES !== 0)
    throw new DecodeError('the answer to announce is truncated');
  const peers: TrackerPeer[] = [];
  for (let at = ANNOUNCE_RESPONSE_BYTES; at < data.length; at += PEER_BYTES)
    peers.push({ address: data.subarray(at, at + 4).join('.'), port: data.readUInt16BE(at + 4) });
  return {
    transactionId: data.readUInt32BE(4),
    intervalSec: data.readUInt32BE(8),
    leechers: data.readUInt32BE(12),
    seeders: data.readUInt32BE(16),
    peers,
  };
}

/** Parses an error answer (action 3). Returns the error text as the tracker sent it. Throws `DecodeError`. */
export function decodeTrackerError(data: Buffer): { transactionId: number; message: Buffer } {
  if (data.length < HEADER_BYTES) throw new DecodeError('the error is truncated');
  return { transactionId: data.readUInt32BE(4), message: data.subarray(HEADER_BYTES) };
}

/**
 * Peer id for trackers: `LB-<version>-<node id in hex>`, cut to 20 bytes. The version is that of the lbrynet release with
 * which the daemon is compatible.
 */
export function trackerPeerId(nodeIdHex: string, version: string): Buffer {
  return Buffer.from(`LB-${version.replaceAll('.', '-')}-${nodeIdHex}`.slice(0, PEER_ID_BYTES));
}

/** Key of an announcement. It distinguishes the announcements of one client. Source: `UDPTrackerClientProtocol.announce`. */
export const announceKey = (infoHash: Buffer, peerId: Buffer, port: number): number =>
  (infoHash.readUInt32BE(0) ^ peerId.readUInt32BE(0) ^ port) >>> 0;
