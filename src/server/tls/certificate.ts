/**
 * A self-signed server certificate (X.509 v3, ECDSA over P-256), as lbcd and lbcwallet create one at their first start.
 * Contains only the DER encoding that a certificate needs, and no decoding. Source: RFC 5280, lbcutil certgen.go
 * `NewTLSCertPair`.
 */
import { createPublicKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';

const DAY_MS = 86_400_000;
/** Validity of a certificate in days. Source: lbcd rpcserver.go `genCertPair`. */
const VALID_DAYS = 3650;

const SEQUENCE = 0x30;
const SET = 0x31;
const BOOLEAN = 0x01;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_IDENTIFIER = 0x06;
const UTF8_STRING = 0x0c;
const GENERALIZED_TIME = 0x18;
/** DER tags `[0]` and `[3]` of the certificate fields version and extensions. */
const VERSION_FIELD = 0xa0;
const EXTENSIONS_FIELD = 0xa3;
/** DER tags of the name types in `subjectAltName`. */
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;

/** Object identifiers in DER, without tag and length. */
const OID = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  organization: '55040a',
  keyUsage: '551d0f',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
} as const;

/**
 * DER value of the key usages digitalSignature, keyEncipherment and keyCertSign. The first byte says that the last two bits
 * are unused.
 */
const KEY_USAGE = Buffer.from([0x02, 0xa4]);

export interface CertificateNames {
  /** Organization name in the certificate. Certificate viewers show it. */
  readonly organization: string;
  /** Host names and IP addresses for which the certificate is valid. The first is the certificate's common name. */
  readonly hosts: readonly string[];
}

/** A new private key, as PEM (PKCS #8). */
export function newPrivateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/** Creates a self-signed certificate for an EC key, as PEM. The certificate is valid for ten years. */
export function selfSignedCertificate(key: KeyObject, names: CertificateNames, now: Date): string {
  const algorithm = der(SEQUENCE, oid(OID.ecdsaWithSha256));
  const name = der(
    SEQUENCE,
    nameAttribute(OID.organization, names.organization),
    nameAttribute(OID.commonName, names.hosts[0] ?? 'localhost'),
  );
  const body = der(
    SEQUENCE,
    der(VERSION_FIELD, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, serialNumber()),
    algorithm,
    name,
    der(SEQUENCE, time(now.getTime() - DAY_MS), time(now.getTime() + VALID_DAYS * DAY_MS)),
    name,
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS_FIELD, der(SEQUENCE, ...extensions(names.hosts))),
  );
  const signature = Buffer.concat([Buffer.alloc(1), sign('sha256', body, key)]);
  return pem(der(SEQUENCE, body, algorithm, der(BIT_STRING, signature)));
}

function extensions(hosts: readonly string[]): Buffer[] {
  const isCertificateAuthority = der(SEQUENCE, der(BOOLEAN, Buffer.from([0xff])));
  return [
    extension(OID.keyUsage, true, der(BIT_STRING, KEY_USAGE)),
    // This extension marks a CA certificate, so that clients accept the certificate as a root certificate.
    extension(OID.basicConstraints, true, isCertificateAuthority),
    extension(OID.subjectAltName, false, der(SEQUENCE, ...hosts.map(alternativeName))),
  ];
}

function extension(id: string, isCritical: boolean, value: Buffer): Buffer {
  const critical = isCritical ? [der(BOOLEAN, Buffer.from([0xff]))] : [];
  return der(SEQUENCE, oid(id), ...critical, der(OCTET_STRING, value));
}

function alternativeName(host: string): Buffer {
  return isIP(host) === 0 ? der(DNS_NAME, Buffer.from(host, 'ascii')) : der(IP_ADDRESS, addressBytes(host));
}

/** The four or sixteen bytes of an IP address. */
function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [left = '', right] = address.split('%')[0]!.split('::');
  const words = (text: string | undefined): number[] =>
    text === undefined || text === '' ? [] : text.split(':').map((word) => Number.parseInt(word, 16));
  const [before, after] = [words(left), words(right)];
  const middle = new Array<number>(Math.max(0, 8 - before.length - after.length)).fill(0);
  const bytes = Buffer.alloc(16);
  [...before, ...middle, ...after].forEach((word, i) => bytes.writeUInt16BE(word, i * 2));
  return bytes;
}

function nameAttribute(id: string, text: string): Buffer {
  return der(SET, der(SEQUENCE, oid(id), der(UTF8_STRING, Buffer.from(text, 'utf8'))));
}

/** A random serial number of 127 bits. It is positive, and its first byte is not zero. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]|\.[0-9]+/g, '');
  // RFC 5280 requires the short form (two-digit year) for dates until 2049.
  return Number(text.slice(0, 4)) < 2050
    ? der(0x17, Buffer.from(text.slice(2)))
    : der(GENERALIZED_TIME, Buffer.from(text));
}

const oid = (hex: string): Buffer => der(OBJECT_IDENTIFIER, Buffer.from(hex, 'hex'));

/** Encodes a DER value: tag, length, content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 0x100 ? [length] : [length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, 0x80 | bytes.length, ...bytes]), content]);
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
