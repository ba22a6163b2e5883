import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LocalAddresses } from '../../../src/net/localAddresses.js';
import { formatNetAddress } from '../../../src/net/netAddress.js';
import { Networks } from '../../../src/net/networks.js';
import { TorControl, type TorControlOptions } from '../../../src/net/torControl.js';
import { SILENT_LOGGER, type Logger } from '../../../src/util/logging.js';
import { seededRandom } from './addressBook/support.js';
import { ScriptedServer, type ScriptedPeer } from './support/scriptedServer.js';

const OLD_NAME = 'expyuzz4wqqyqhjn';
const NEW_NAME = 'p53lf57qovyuvwsc6xnrppyply3vtqm7l6pcobkmyqsiofyeznfu5uqd';
const NEW_KEY = 'ED25519-V3:c29tZSBrZXk=';
const OLD_KEY = 'RSA1024:b2xkIGtleQ==';

let folder: string;
let keyPath: string;
let logged: string[];
let log: Logger;
let failures: unknown[];
let networks: Networks;
let local: LocalAddresses;
let closing: (() => Promise<unknown>)[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-tor-'));
  keyPath = join(folder, 'onion_private_key');
  logged = [];
  failures = [];
  closing = [];
  const keep = (message: string): void => {
    logged.push(message);
    for (const wake of waiting.splice(0)) wake();
  };
  log = { ...SILENT_LOGGER, info: keep, warn: keep, error: keep };
  const open = { isLimited: false, proxy: null };
  networks = new Networks({ ipv4: open, ipv6: open, onion: { isLimited: true, proxy: null } }, null);
  local = new LocalAddresses(
    { listens: true, discovers: false, port: 9246, tellsLoopback: false },
    { networks, random: seededRandom(), log },
  );
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  rmSync(folder, { recursive: true });
  expect(failures).toEqual([]);
});

const waiting: (() => void)[] = [];

/** Resolves once the log has a line like this. */
async function logs(pattern: RegExp): Promise<void> {
  while (!logged.some((line) => pattern.test(line)))
    await new Promise<void>((resolve) => waiting.push(resolve));
}

async function start(
  script: (tor: ScriptedPeer, index: number) => Promise<void>,
  options: Partial<TorControlOptions> = {},
): Promise<TorControl> {
  const server = await ScriptedServer.start(script, failures);
  const control = new TorControl(
    {
      target: `127.0.0.1:${server.port}`,
      password: '',
      keyPath,
      port: 9246,
      hasOnionProxy: false,
      retryStartMs: 1,
      ...options,
    },
    { networks, localAddresses: local, random: seededRandom(), log },
  );
  control.start();
  closing.push(async () => {
    await control.stop();
    await server.stop();
  });
  return control;
}

/** Answers the question for the ways to authenticate, unless the test ends meanwhile. */
async function tellMethods(tor: ScriptedPeer, auth: string): Promise<void> {
  const question = await tor.readLine();
  if (question === '') return;
  expect(question).toBe('PROTOCOLINFO 1');
  tor.write(`250-PROTOCOLINFO 1\r\n250-AUTH ${auth}\r\n250-VERSION Tor="0.4.8.9"\r\n250 OK\r\n`);
}

async function letIn(tor: ScriptedPeer): Promise<void> {
  await tellMethods(tor, 'METHODS=NULL');
  expect(await tor.readLine()).toBe('AUTHENTICATE');
  tor.write('250 OK\r\n');
}

const advertised = (): string[] => local.list().map(({ address }) => formatNetAddress(address));

describe('the onion service', () => {
  it('of version 3 is created, saved and reported to the operator only', async () => {
    await start(async (tor) => {
      await letIn(tor);
      expect(await tor.readLine()).toBe('ADD_ONION NEW:ED25519-V3 Port=9246,127.0.0.1:9246');
      tor.write(`250-ServiceID=${NEW_NAME}\r\n250-PrivateKey=${NEW_KEY}\r\n250 OK\r\n`);
      // Events come at any time.
      tor.write('650 SOMETHING HAPPENED\r\n');
      await tor.closed();
    });
    await logs(new RegExp(`Got onion service ${NEW_NAME}\\.onion:9246\\. Its address is too long`));
    expect(advertised()).toEqual([]);
    await closing.pop()!();
    expect(readFileSync(keyPath, 'utf8')).toBe(NEW_KEY);
    expect(statSync(keyPath).mode & 0o777).toBe(0o600);
    expect(logged).toHaveLength(1);
  });

  it('is restored by its key', async () => {
    writeFileSync(keyPath, `${NEW_KEY}\n`);
    await start(async (tor) => {
      await letIn(tor);
      expect(await tor.readLine()).toBe(`ADD_ONION ${NEW_KEY} Port=9246,127.0.0.1:9246`);
      tor.write(`250-ServiceID=${NEW_NAME}\r\n250 OK\r\n`);
      await tor.closed();
    });
    await logs(/Got onion service/);
    expect(readFileSync(keyPath, 'utf8')).toBe(`${NEW_KEY}\n`);
  });

  it('of version 2 is advertised if Tor still serves it, and not after Tor has ended', async () => {
    writeFileSync(keyPath, OLD_KEY);
    let tor: ScriptedPeer | null = null;
    await start(async (peer, index) => {
      if (index > 0) return;
      tor = peer;
      await letIn(peer);
      expect(await peer.readLine()).toBe(`ADD_ONION ${OLD_KEY} Port=9246,127.0.0.1:9246`);
      peer.write(`250-ServiceID=${OLD_NAME}\r\n250 OK\r\n`);
    });
    await logs(/AddLocal/);
    expect(advertised()).toEqual([`${OLD_NAME}.onion:9246`]);
    tor!.socket.destroy();
    await logs(/RemoveLocal/);
    expect(advertised()).toEqual([]);
  });

  it('of version 2 is abandoned with a message if Tor refuses it', async () => {
    writeFileSync(keyPath, OLD_KEY);
    await start(async (tor) => {
      await letIn(tor);
      await tor.readLine();
      tor.write('513 Invalid key type\r\n');
      await tor.closed();
    });
    await logs(/no longer serves onion services of version 2 \(error code 513\); remove .*onion_private_key/);
    expect(readFileSync(keyPath, 'utf8')).toBe(OLD_KEY);
    expect(networks.route('onion').proxy).not.toBeNull();
  });

  it.each([
    ['510 Unrecognized command', /Add onion failed with unrecognized command/],
    ['550 Unspecified Tor error', /Add onion failed; error code 550/],
    ['250 OK', /Error parsing ADD_ONION parameters/],
    ['250-ServiceID=../../x\r\n250 OK', /Error parsing ADD_ONION parameters/],
  ])('does not exist if Tor answers %j', async (answer, message) => {
    await start(async (tor) => {
      await letIn(tor);
      await tor.readLine();
      tor.write(`${answer}\r\n`);
      await tor.closed();
    });
    await logs(message);
    expect(existsSync(keyPath)).toBe(false);
  });

  it('is not requested with an invalid key', async () => {
    writeFileSync(keyPath, 'garbage\r\nSIGNAL HALT');
    const said: string[] = [];
    await start(async (tor) => {
      await letIn(tor);
      said.push(await tor.readLine());
    });
    await logs(/contains no private key/);
    await closing.pop()!();
    expect(said).toEqual(['']);
  });

  it('exists although its key could not be saved', async () => {
    mkdirSync(`${keyPath}.new`);
    await start(async (tor) => {
      await letIn(tor);
      await tor.readLine();
      tor.write(`250-ServiceID=${NEW_NAME}\r\n250-PrivateKey=${NEW_KEY}\r\n250 OK\r\n`);
      await tor.closed();
    });
    await logs(/Got onion service/);
    await logs(/Error writing service private key/);
  });
});

describe('the proxy of Tor', () => {
  it('is used for onion names once Tor is found, unless another was given', async () => {
    for (const hasOnionProxy of [false, true]) {
      logged = [];
      networks.setRoute('onion', { isLimited: true, proxy: null });
      await start(
        async (tor) => {
          await letIn(tor);
          await tor.readLine();
          tor.write('550 no\r\n');
          await tor.closed();
        },
        { hasOnionProxy },
      );
      await logs(/error code 550/);
      expect(networks.route('onion')).toEqual(
        hasOnionProxy
          ? { isLimited: true, proxy: null }
          : { isLimited: false, proxy: { host: '127.0.0.1', port: 9050, randomizesCredentials: true } },
      );
    }
  });
});

describe('authentication', () => {
  it('uses a password if there is one', async () => {
    const said: string[] = [];
    await start(
      async (tor) => {
        await tellMethods(tor, 'METHODS=NULL,HASHEDPASSWORD');
        said.push(await tor.readLine());
        tor.write('250 OK\r\n');
        await tor.readLine();
        tor.write('550 no\r\n');
        await tor.closed();
      },
      { password: 'a"b\\c' },
    );
    await logs(/error code 550/);
    expect(said).toEqual(['AUTHENTICATE "a\\"b\\\\c"']);
  });

  const COOKIE = Buffer.alloc(32, 7);
  const prove = (side: string, ...nonces: Buffer[]): Buffer =>
    createHmac('sha256', `Tor safe cookie authentication ${side} hash`)
      .update(Buffer.concat([COOKIE, ...nonces]))
      .digest();

  it('uses a cookie that neither side sends', async () => {
    const cookiePath = join(folder, 'control auth "cookie"');
    writeFileSync(cookiePath, COOKIE);
    let isProven = false;
    await start(async (tor) => {
      const quoted = cookiePath.replace(/"/g, '\\"');
      await tellMethods(tor, `METHODS=COOKIE,SAFECOOKIE,HASHEDPASSWORD COOKIEFILE="${quoted}"`);
      const [, hex] = /^AUTHCHALLENGE SAFECOOKIE ([0-9a-f]{64})$/.exec(await tor.readLine())!;
      const clientNonce = Buffer.from(hex!, 'hex');
      const serverNonce = Buffer.alloc(32, 9);
      const serverHash = prove('server-to-controller', clientNonce, serverNonce);
      tor.write(
        `250 AUTHCHALLENGE SERVERHASH=${serverHash.toString('hex').toUpperCase()} SERVERNONCE=${serverNonce.toString('hex')}\r\n`,
      );
      const expected = prove('controller-to-server', clientNonce, serverNonce).toString('hex');
      expect(await tor.readLine()).toBe(`AUTHENTICATE ${expected}`);
      isProven = true;
      tor.write('250 OK\r\n');
      await tor.readLine();
      tor.write('550 no\r\n');
      await tor.closed();
    });
    await logs(/error code 550/);
    expect(isProven).toBe(true);
  });

  it.each([
    [
      `250 AUTHCHALLENGE SERVERHASH=${'00'.repeat(32)} SERVERNONCE=${'00'.repeat(32)}`,
      /ServerHash does not match/,
    ],
    [`250 AUTHCHALLENGE SERVERHASH=${'00'.repeat(32)} SERVERNONCE=00`, /ServerNonce is not 32 bytes/],
    ['250 AUTHCHALLENGE SERVERHASH=xx SERVERNONCE=00', /Invalid reply to AUTHCHALLENGE/],
    ['250 SOMETHING', /Invalid reply to AUTHCHALLENGE/],
    ['513 no', /SAFECOOKIE authentication challenge failed/],
  ])('fails if the challenge is answered by %j', async (answer, message) => {
    writeFileSync(join(folder, 'cookie'), COOKIE);
    const said: string[] = [];
    await start(async (tor) => {
      await tellMethods(tor, `METHODS=SAFECOOKIE COOKIEFILE="${join(folder, 'cookie')}"`);
      await tor.readLine();
      tor.write(`${answer}\r\n`);
      said.push(await tor.readLine());
    });
    await logs(message);
    await closing.pop()!();
    expect(new Set(said)).toEqual(new Set(['']));
  });

  it.each([
    ['METHODS=COOKIE COOKIEFILE="/x"', '', /No supported authentication method/],
    ['METHODS=HASHEDPASSWORD', '', /no password provided with -torpassword/],
    ['METHODS=NULL', 'secret', /HASHEDPASSWORD authentication is not available/],
    ['METHODS=SAFECOOKIE COOKIEFILE="/nowhere/at all"', '', /cookie \/nowhere\/at all could not be opened/],
    ['METHODS=SAFECOOKIE COOKIEFILE="SHORT"', '', /is not exactly 32 bytes/],
    ['METHODS=SAFECOOKIE COOKIEFILE="LONG"', '', /is not exactly 32 bytes/],
  ])('fails with %s', async (auth, password, message) => {
    writeFileSync(join(folder, 'SHORT'), Buffer.alloc(31));
    writeFileSync(join(folder, 'LONG'), Buffer.alloc(33));
    await start((tor) => tellMethods(tor, auth.replace(/"(SHORT|LONG)"/, `"${folder}/$1"`)), { password });
    await logs(message);
    expect(networks.route('onion').isLimited).toBe(true);
  });
});

describe('the connection', () => {
  it('is retried, and its error is logged once', async () => {
    let attempts = 0;
    let done: () => void = () => undefined;
    const many = new Promise<void>((resolve) => (done = resolve));
    await start(async (tor) => {
      if (++attempts >= 6) {
        done();
        return tor.closed();
      }
      await tellMethods(tor, 'METHODS=NULL');
      await tor.readLine();
      tor.write('515 Authentication failed\r\n');
    });
    await many;
    expect(logged).toEqual(['tor: Authentication failed']);
  });

  it('is made again if it is lost', async () => {
    await start(async (tor, index) => {
      if (index === 0) tor.write('250-PROTOCOL');
      if (index < 2) tor.socket.end();
      else {
        await letIn(tor);
        await tor.readLine();
        tor.write('550 no\r\n');
        await tor.closed();
      }
    });
    await logs(/error code 550/);
    expect(logged).toHaveLength(1);
  });

  it('is dropped if a reply has no end', async () => {
    await start(async (tor, index) => {
      if (index > 1) {
        await tellMethods(tor, 'METHODS=HASHEDPASSWORD');
        return;
      }
      await tor.readLine();
      tor.write(index === 0 ? 'x'.repeat(200_000) : '250-lines and lines\r\n'.repeat(20_000));
      await tor.closed();
    });
    await logs(/no password provided/);
  });

  it('ends with the node, with Tor or without', async () => {
    const control = await start(async (tor) => {
      await tor.readLine();
      await tor.closed();
    });
    await control.stop();
    const stopped = await ScriptedServer.start(() => undefined);
    await stopped.stop();
    const lonely = new TorControl(
      {
        target: `127.0.0.1:${stopped.port}`,
        password: '',
        keyPath,
        port: 1,
        hasOnionProxy: false,
        retryStartMs: 1e8,
      },
      { networks, localAddresses: local, random: seededRandom(), log },
    );
    lonely.start();
    await lonely.stop();
    expect(logged).toEqual([]);
  });
});
