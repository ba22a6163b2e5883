/**
 * Requests to REST (by anyone) and WebSockets (with credentials): long paths, large bodies, long messages. One body is made at
 * a time; `sizeBytes` is about the size of each.
 */
import { MAX_REQUEST_BYTES } from '../../../src/server/webSocketEndpoint.js';

export interface HostileRequest {
  readonly name: string;
  readonly path: string;
  /** The body that is posted, if any. */
  body?(): Buffer;
}

export interface HostileMessage {
  readonly name: string;
  text(): string;
}

/** Node.js accepts 16 KiB of request line and headers. */
const PATH_CHARS = 15_000;
const ID = '11'.repeat(32);

const PATHS = [
  '/rest/tx/',
  '/rest/block/',
  '/rest/block/notxdetails/',
  '/rest/headers/',
  '/rest/headers/2000/',
  '/rest/chaininfo',
  '/rest/mempool/info',
  '/rest/mempool/contents',
  '/rest/getutxos/',
  '/rest/getutxos/checkmempool/',
  '/rest/',
  '/',
  '/health',
  '/metrics',
];

const repeat = (text: string, chars: number): string => text.repeat(Math.ceil(chars / text.length));

const LONG: readonly (readonly [string, string])[] = [
  ['hex', 'ab'],
  ['digits', '9'],
  ['minus signs', '-'],
  ['dots', '.'],
  ['slashes', '/'],
  ['outputs', `${ID}-1/`],
  ['escapes', '%41'],
  ['questions', '?a=b'],
];

/** The same body with white space. */
const spaced = (hex: string): string => hex.replace(/../g, '$& ');

function outPoints(sizeBytes: number): Buffer {
  const count = Math.floor(sizeBytes / 36);
  const body = Buffer.alloc(6 + count * 36, 5);
  body[0] = 1;
  body[1] = 0xfe;
  body.writeUInt32LE(count, 2);
  return body;
}

export function hostileRequests(sizeBytes: number): HostileRequest[] {
  const requests: HostileRequest[] = [];
  for (const path of PATHS) {
    for (const [what, part] of LONG) {
      for (const end of ['', '.json', '.bin']) {
        const long = `${path}${repeat(part, PATH_CHARS)}${end}`;
        requests.push({ name: `${path} ${what}${end}`, path: long });
      }
    }
  }
  const bodies: [string, () => Buffer][] = [
    ['outputs', () => outPoints(sizeBytes)],
    ['outputs of the quirk', () => outPoints(sizeBytes).subarray(1)],
    ['outputs in hex', () => Buffer.from(outPoints(sizeBytes / 2).toString('hex'))],
    ['outputs in hex with spaces', () => Buffer.from(spaced(outPoints(sizeBytes / 3).toString('hex')))],
    ['white space', () => Buffer.alloc(sizeBytes, ' ')],
    ['zeros', () => Buffer.alloc(sizeBytes)],
    ['digits', () => Buffer.alloc(sizeBytes, '0')],
  ];
  for (const format of ['bin', 'hex', 'json']) {
    for (const [what, body] of bodies)
      requests.push({ name: `post ${what}.${format}`, path: `/rest/getutxos.${format}`, body });
  }
  requests.push({
    name: 'post to a block',
    path: '/rest/block/tip.json',
    body: () => Buffer.alloc(sizeBytes),
  });
  return requests;
}

const many = (item: (n: number) => string): string => {
  const step = Buffer.byteLength(item(1_000_000)) + 1;
  const count = Math.floor((MAX_REQUEST_BYTES - 200) / step);
  return Array.from({ length: count }, (_, n) => item(n)).join(',');
};
const quoted = (text: string): string =>
  `"${text.repeat(Math.floor((MAX_REQUEST_BYTES - 200) / Buffer.byteLength(text)))}"`;
const subscribe = (params: string): string => `{"id":1,"method":"subscribe","params":{${params}}}`;

/** Messages of the maximum length. */
export function hostileMessages(): HostileMessage[] {
  const claims = (list: string): string => subscribe(`"topic":"claims",${list}`);
  const transactions = (list: string): string => subscribe(`"topic":"transactions",${list}`);
  const made: [string, () => string][] = [
    ['many names', () => claims(`"names":[${many((n) => `"n${n}"`)}]`)],
    ['one long name', () => claims(`"names":[${quoted('a')}]`)],
    ['a name of accents', () => claims(`"names":[${quoted('\u00e9')}]`)],
    ['a name of marks', () => claims(`"names":[${quoted('\u0315\u0300\u05ae')}]`)],
    ['a name of sharp s', () => claims(`"names":[${quoted('\u00df')}]`)],
    ['names of marks', () => claims(`"names":[${many((n) => `"\u0315\u0300\u05ae${n}"`)}]`)],
    ['names in hex', () => claims(`"nameshex":[${many((n) => `"${(n + 2 ** 24).toString(16)}0"`)}]`)],
    ['a long name in hex', () => claims(`"nameshex":[${quoted('cc80')}]`)],
    ['claim ids', () => claims(`"claimids":[${many((n) => `"${n.toString(16).padStart(40, '0')}"`)}]`)],
    ['scripts', () => transactions(`"scripts":[${many((n) => `"${(n + 2 ** 24).toString(16)}0"`)}]`)],
    ['a long script', () => transactions(`"scripts":[${quoted('51')}]`)],
    ['addresses', () => transactions(`"addresses":[${many(() => '"mfWxJ45yp2SFn7UciZyNpvDKrzbhyfKrY8"')}]`)],
    ['a long address', () => transactions(`"addresses":[${quoted('z')}]`)],
    ['keys', () => subscribe(`"topic":"blocks",${many((n) => `"k${n}":0`)}`)],
    ['levels', () => subscribe(`"topic":${quoted('[').slice(1, -1)}`)],
    ['digits', () => subscribe(`"topic":${quoted('9').slice(1, -1)}`)],
    ['a long id', () => `{"id":${quoted('\\n')},"method":"subscribe"}`],
    ['many ids', () => `{"id":[${many(String)}],"method":"subscribe","params":{"topic":"blocks"}}`],
    ['a long method', () => `{"id":1,"method":${quoted('m')}}`],
    ['white space', () => quoted(' ').slice(1, -1)],
  ];
  return made.map(([name, text]) => ({ name: `message: ${name}`, text }));
}
