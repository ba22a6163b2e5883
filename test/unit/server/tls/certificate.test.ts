/** Certificates that the server signs for itself, and their files. */
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newPrivateKey, selfSignedCertificate } from '../../../../src/server/tls/certificate.js';
import { openCertificate, type CertificatePaths } from '../../../../src/server/tls/certificateFiles.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';

const NOW = new Date('2026-11-27T12:00:00Z');

describe('selfSignedCertificate', () => {
  const key = createPrivateKey(newPrivateKey());
  const hosts = ['node.example', 'localhost', '127.0.0.1', '::1', 'fe80::a:1', '10.8.0.2'];
  const certificate = new X509Certificate(
    selfSignedCertificate(key, { organization: 'an organization', hosts }, NOW),
  );

  it('is signed by its own key', () => {
    expect(certificate.checkPrivateKey(key)).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(certificate.checkIssued(certificate)).toBe(true);
    expect(certificate.ca).toBe(true);
  });

  it('is valid for each of its names and for no other', () => {
    for (const host of ['node.example', 'localhost']) expect(certificate.checkHost(host)).toBe(host);
    for (const address of ['127.0.0.1', '::1', 'fe80::a:1', '10.8.0.2'])
      expect(certificate.checkIP(address)).toBe(address);
    expect(certificate.checkHost('other.example')).toBeUndefined();
    expect(certificate.checkIP('127.0.0.2')).toBeUndefined();
    expect(certificate.subject).toBe('O=an organization\nCN=node.example');
  });

  it('is valid from the day before for ten years', () => {
    expect(new Date(certificate.validFrom)).toEqual(new Date('2026-11-26T12:00:00Z'));
    expect(new Date(certificate.validTo)).toEqual(new Date('2036-11-24T12:00:00Z'));
    const late = selfSignedCertificate(key, { organization: 'o', hosts }, new Date('2045-01-01T00:00:00Z'));
    expect(new Date(new X509Certificate(late).validTo)).toEqual(new Date('2054-12-30T00:00:00Z'));
  });

  it('has a length in two bytes with many names', () => {
    const many = Array.from({ length: 3000 }, (_, i) => `host-${i}.example`);
    const large = new X509Certificate(selfSignedCertificate(key, { organization: 'o', hosts: many }, NOW));
    expect(large.checkHost('host-2999.example')).toBe('host-2999.example');
  });
});

describe('openCertificate', () => {
  let folder: string;
  let paths: CertificatePaths;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'certificate-'));
    paths = {
      certFile: join(folder, 'rpc.cert'),
      keyFile: join(folder, 'rpc.key'),
      certOption: 'rpccert',
      keyOption: 'rpckey',
    };
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const open = (now = NOW) => openCertificate(paths, SILENT_LOGGER, now);

  it('creates both files once, the key only for its owner', async () => {
    const first = await open();
    expect(statSync(paths.keyFile).mode & 0o777).toBe(0o600);
    expect(statSync(paths.certFile).mode & 0o044).toBe(0o044);
    expect(await open()).toEqual(first);
    expect(readFileSync(paths.certFile, 'utf8')).toBe(first.cert);
    expect(existsSync(`${paths.keyFile}.tmp`)).toBe(false);
    expect(new X509Certificate(first.cert).checkIP('127.0.0.1')).toBe('127.0.0.1');
  });

  it('creates a certificate for a key without one, as after a crash between the two', async () => {
    const { key } = await open();
    rmSync(paths.certFile);
    expect((await open()).key).toBe(key);
  });

  it('refuses a certificate without its key', async () => {
    await open();
    rmSync(paths.keyFile);
    await expect(open()).rejects.toThrow(
      `The key ${paths.keyFile} of the certificate ${paths.certFile} is missing.`,
    );
  });

  it('refuses a pair that does not match, and files that are not PEM', async () => {
    await open();
    writeFileSync(paths.keyFile, newPrivateKey());
    await expect(open()).rejects.toThrow('is not the key of the certificate');
    writeFileSync(paths.keyFile, 'no key');
    await expect(open()).rejects.toThrow(`${paths.keyFile} (-rpckey) contains no usable private key`);
    writeFileSync(paths.certFile, 'no certificate');
    await expect(open()).rejects.toThrow(`${paths.certFile} (-rpccert) contains no usable certificate`);
  });

  it('creates no certificate for a key of another kind', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(paths.keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await expect(open()).rejects.toThrow(
      `The certificate ${paths.certFile} of the key ${paths.keyFile} is missing.`,
    );
  });

  it('reports the name of the file that cannot be written or read', async () => {
    if (process.getuid?.() !== 0) {
      chmodSync(folder, 0o500);
      await expect(open()).rejects.toThrow(`${paths.keyFile} cannot be written: access is denied (EACCES)`);
      chmodSync(folder, 0o700);
    }
    paths = { ...paths, certFile: folder };
    await expect(open()).rejects.toThrow(`${folder} (-rpccert) cannot be read`);
  });

  it('warns of an expired certificate', async () => {
    await open(new Date('2010-01-01T00:00:00Z'));
    const warnings: string[] = [];
    await openCertificate(paths, { ...SILENT_LOGGER, warn: (text) => void warnings.push(text) }, NOW);
    expect(warnings).toEqual([expect.stringMatching(/rpc\.cert expired on .* 2019/)]);
  });
});
