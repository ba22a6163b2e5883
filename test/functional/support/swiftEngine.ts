/**
 * OpenStack Swift with its S3 API, as packaged by Debian (swift-proxy, swift-account, swift-container, swift-object), in a
 * folder of its own on the loopback interface: one disk, one copy, users in the configuration. Its programs must be in the
 * path. None of them needs root.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { isInstalled } from '../../support/installed.js';
import { freePort } from './node.js';

/** A user of the configuration. */
export const SWIFT_KEYS = { accessKey: 'test:tester', secretKey: 'testing' } as const;
export const SWIFT_REGION = 'us-east-1';

const KINDS = ['account', 'container', 'object'] as const;
/** Swift reads the secrets for the hashes of its names only from this file. */
const SWIFT_CONF = '/etc/swift/swift.conf';

/** Whether the packages are installed. Prints a line if they are not. */
export const hasSwift = ((): boolean => {
  const programs = [
    'swift-ring-builder',
    'swift-proxy-server',
    ...KINDS.map((kind) => `swift-${kind}-server`),
  ];
  const isThere = existsSync(SWIFT_CONF) && programs.every((name) => isInstalled(name));
  if (!isThere)
    console.log('skipped: Swift is not installed (swift-proxy swift-account swift-container swift-object)');
  return isThere;
})();

const SERVER = (kind: string, folder: string, port: number): string => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
devices = ${join(folder, 'devices')}
mount_check = false
swift_dir = ${folder}
disable_fallocate = true
log_address = ${join(folder, 'no-log')}
[pipeline:main]
pipeline = ${kind}-server
[app:${kind}-server]
use = egg:swift#${kind}
`;

const PROXY = (folder: string, port: number): string => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
swift_dir = ${folder}
log_address = ${join(folder, 'no-log')}
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:9
[filter:s3api]
use = egg:swift#s3api
location = ${SWIFT_REGION}
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
`;

export class SwiftEngine {
  readonly folder = mkdtempSync(join(tmpdir(), 'lbcnode-swift-'));
  private readonly port: number;
  private children: ChildProcess[] = [];
  private output = '';

  private constructor(port: number) {
    this.port = port;
  }

  /** Creates the folder and starts the servers. */
  static async create(): Promise<SwiftEngine> {
    const engine = new SwiftEngine(await freePort());
    await engine.configure();
    await engine.start();
    return engine;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  private async configure(): Promise<void> {
    const { folder } = this;
    mkdirSync(join(folder, 'devices', 'd1'), { recursive: true });
    for (const kind of KINDS) {
      const port = await freePort();
      writeFileSync(join(folder, `${kind}.conf`), SERVER(kind, folder, port));
      const ring = join(folder, `${kind}.builder`);
      for (const args of [
        ['create', '4', '1', '0'],
        ['add', `r1z1-127.0.0.1:${port}/d1`, '1'],
        ['rebalance'],
      ]) {
        const { status, stderr, stdout } = spawnSync('swift-ring-builder', [ring, ...args], {
          encoding: 'utf8',
        });
        // Exit code 1 is a warning.
        if (status !== 0 && status !== 1)
          throw new Error(`swift-ring-builder ${args[0]}: ${stdout}${stderr}`);
      }
    }
    writeFileSync(join(folder, 'proxy.conf'), PROXY(folder, this.port));
  }

  /** Starts the servers; resolves when they answer. */
  async start(): Promise<void> {
    this.children = [...KINDS, 'proxy'].map((kind) => {
      const child = spawn(`swift-${kind}-server`, [join(this.folder, `${kind}.conf`)], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => (this.output = (this.output + chunk.toString()).slice(-20_000)));
      return child;
    });
    for (;;) {
      if (this.children.some(({ exitCode }) => exitCode !== null))
        throw new Error(`a server of Swift ended:\n${this.output}`);
      // The answer about a missing bucket needs all servers.
      const status = await this.ask('HEAD', 'none').catch(() => 0);
      if (status === 404) return;
      await sleep(100);
    }
  }

  /** Kills all servers at once. */
  async kill(): Promise<void> {
    const ended = this.children.map(
      (child) =>
        new Promise<void>((resolve) =>
          child.exitCode === null ? child.once('close', () => resolve()) : resolve(),
        ),
    );
    for (const child of this.children) child.kill('SIGKILL');
    await Promise.all(ended);
    this.children = [];
  }

  private async ask(method: string, path: string): Promise<number> {
    const { url, headers } = await new AwsV4Signer({
      url: `${this.endpoint}/${path}`,
      method,
      accessKeyId: SWIFT_KEYS.accessKey,
      secretAccessKey: SWIFT_KEYS.secretKey,
      service: 's3',
      region: SWIFT_REGION,
    }).sign();
    const response = await fetch(url, { method, headers });
    await response.arrayBuffer();
    return response.status;
  }

  async makeBucket(name: string): Promise<void> {
    const status = await this.ask('PUT', name);
    if (status !== 200) throw new Error(`the bucket was not made: HTTP status ${status}\n${this.output}`);
  }

  /** The HTTP status of a request for an object. */
  head(bucket: string, key: string): Promise<number> {
    return this.ask('HEAD', `${bucket}/${key}`);
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
