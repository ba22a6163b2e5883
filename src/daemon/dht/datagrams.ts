/**
 * Datagrams of the DHT: requests, responses and errors, to and from bytes.
 * Source: lbry-sdk lbry/dht/serialization/datagram.py.
 */
import { bdecode, bencode, DecodeError, type BValue, type Dict, type DictKey } from './bencode.js';

/**
 * Sizes in bytes: of node ids, blob hashes and tokens (`ID_BYTES`), and of request ids (`RPC_ID_BYTES`). Source: lbry-sdk
 * lbry/dht/constants.py.
 */
export const ID_BYTES = 48;
export const RPC_ID_BYTES = 20;
/** Maximum size of a datagram; larger datagrams are not sent. Source: `MSG_SIZE_LIMIT`. */
export const MAX_DATAGRAM_BYTES = 1400;

const TYPE = { request: 0, response: 1, error: 2 } as const;
const FIELD = { type: '0', rpcId: '1', nodeId: '2', third: '3', fourth: '4' } as const;
const VERSION_KEY = 'protocolVersion';
const PAGE_KEY = 'p';

interface Ids {
  /** 20 bytes. */
  readonly rpcId: Buffer;
  /** The node id of the sender, 48 bytes. */
  readonly nodeId: Buffer;
}

export interface RequestDatagram extends Ids {
  readonly type: 'request';
  /** Name of the method, as bytes in valid requests. */
  readonly method: BValue;
  /** Arguments of the requested method. The last argument is a dictionary with `protocolVersion`. */
  readonly args: readonly BValue[];
}

export interface ResponseDatagram extends Ids {
  readonly type: 'response';
  readonly response: BValue;
}

export interface ErrorDatagram extends Ids {
  readonly type: 'error';
  /** Python type of the error, in the form `<class 'ValueError'>`. */
  readonly exceptionType: string;
  readonly text: string;
}

export type Datagram = RequestDatagram | ResponseDatagram | ErrorDatagram;

/** Adds the protocol version to the dictionary at the end of the arguments. Appends a dictionary if there is none. */
function withVersion(args: readonly BValue[]): BValue[] {
  const last = args.at(-1);
  if (last instanceof Map) return [...args.slice(0, -1), new Map([...last, [VERSION_KEY, 1]])];
  return [...args, new Map([[VERSION_KEY, 1]])];
}

const request = (ids: Ids, method: string, args: readonly BValue[]): RequestDatagram => ({
  ...ids,
  type: 'request',
  method: Buffer.from(method),
  args: withVersion(args),
});

function assertId(name: string, bytes: Buffer): void {
  if (bytes.length !== ID_BYTES) throw new RangeError(`invalid ${name} length: ${bytes.length}`);
}

export const pingRequest = (ids: Ids): RequestDatagram => request(ids, 'ping', []);

export function findNodeRequest(ids: Ids, key: Buffer): RequestDatagram {
  assertId('key', key);
  return request(ids, 'findNode', [key]);
}

/** Creates a request for the peers of a blob. `page` counts from 0. */
export function findValueRequest(ids: Ids, key: Buffer, page: number): RequestDatagram {
  assertId('key', key);
  return request(ids, 'findValue', [key, new Map([[PAGE_KEY, page]])]);
}

export function storeRequest(ids: Ids, key: Buffer, token: Buffer, tcpPort: number): RequestDatagram {
  assertId('blob hash', key);
  assertId('token', token);
  if (!(tcpPort > 0 && tcpPort < 65_536)) throw new RangeError(`invalid port: ${tcpPort}`);
  return request(ids, 'store', [key, token, tcpPort, ids.nodeId, 0]);
}

function membersOf(datagram: Datagram): readonly BValue[] {
  switch (datagram.type) {
    case 'request':
      return [datagram.method, datagram.args];
    case 'response':
      return [datagram.response];
    case 'error':
      return [datagram.exceptionType, datagram.text];
  }
}

/** Encodes a datagram without checking its length. Senders must check `MAX_DATAGRAM_BYTES`. */
export function encodeDatagram(datagram: Datagram): Buffer {
  const members = [TYPE[datagram.type], datagram.rpcId, datagram.nodeId, ...membersOf(datagram)];
  return bencode(new Map(members.map((member, index) => [index, member])));
}

/** Returns the members of a dictionary by their keys as text. Integer keys are converted to text. */
function byName(dict: Dict): Map<string, BValue> {
  return new Map([...dict].map(([key, value]: [DictKey, BValue]) => [String(key), value]));
}

function member(members: ReadonlyMap<string, BValue>, name: string): BValue {
  const value = members.get(name);
  if (value === undefined) throw new DecodeError(`the member ${name} is missing`);
  return value;
}

function bytesOf(value: BValue, length: number | null, what: string): Buffer {
  if (!Buffer.isBuffer(value) || (length !== null && value.length !== length))
    throw new DecodeError(`invalid ${what}`);
  return value;
}

function textOf(value: BValue): string {
  const bytes = bytesOf(value, null, 'text of an error');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new DecodeError('the text of an error is not UTF-8');
  }
}

/** Arguments of a request. A value that Python treats as false counts as no arguments. */
function argsOf(value: BValue | undefined): readonly BValue[] {
  if (value === undefined || value === 0) return [];
  if (Array.isArray(value)) return value as readonly BValue[];
  const size = Buffer.isBuffer(value) ? value.length : value instanceof Map ? value.size : 1;
  if (size > 0) throw new DecodeError('arguments are a list');
  return [];
}

/** Parses a datagram. Throws `DecodeError` for bytes that are not a valid datagram. */
export function decodeDatagram(data: Buffer): Datagram {
  const dict = bdecode(data);
  if (!(dict instanceof Map)) throw new DecodeError('a datagram is a dictionary');
  const members = byName(dict);
  const type = member(members, FIELD.type);
  const ids = (): Ids => ({
    rpcId: bytesOf(member(members, FIELD.rpcId), RPC_ID_BYTES, 'rpc id'),
    nodeId: bytesOf(member(members, FIELD.nodeId), ID_BYTES, 'node id'),
  });
  switch (type) {
    case TYPE.request:
      return {
        type: 'request',
        ...ids(),
        method: member(members, FIELD.third),
        args: withVersion(argsOf(members.get(FIELD.fourth))),
      };
    case TYPE.response:
      return { type: 'response', ...ids(), response: member(members, FIELD.third) };
    case TYPE.error:
      return {
        type: 'error',
        ...ids(),
        exceptionType: textOf(member(members, FIELD.third)),
        text: textOf(member(members, FIELD.fourth)),
      };
    default:
      throw new DecodeError('invalid datagram type');
  }
}
