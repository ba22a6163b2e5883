/**
 * The command-line client with a real HTTP server. Tests of output and exit code run in this process, the others in separate
 * processes. `LBCNODE_DIST` selects a build other than dist/.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { preProcessFile } from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { convertNamed, convertPositional } from '../../src/bin/cli/convert.js';
import { runCli } from '../../src/bin/cli/run.js';
import { RpcDispatcher } from '../../src/rpc/call/dispatch.js';
import { rpcError } from '../../src/rpc/declare/errors.js';
import { defineMethod, type RpcMethod } from '../../src/rpc/declare/method.js';
import { help } from '../../src/rpc/methods/control/help.js';
import { logging } from '../../src/rpc/methods/control/logging.js';
import { echo, echoJson } from '../../src/rpc/methods/hidden/echo.js';
import { t } from '../../src/schema/schema.js';
import { MethodTable } from '../../src/rpc/declare/table.js';
import { RpcHttpServer } from '../../src/server/httpServer.js';
import { stringifyJson } from '../../src/util/json/jsonStream.js';
import { rawJson } from '../../src/util/json/jsonWrite.js';
import { SILENT_LOGGER } from '../../src/util/logging.js';
import { testServices } from '../unit/rpc/support.js';

interface Outcome {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

function answering(name: string, run: RpcMethod['run']): RpcMethod {
  return defineMethod({
    name,
    category: 'hidden',
    summary: 'Test.',
    params: [],
    maxArgs: 9,
    result: t.any(),
    run,
  });
}

const JSON_TEXT = '{"a":[],"big":12345678901234567890,"amount":1.10000000,"e":1e-8,"s":"é\\"","n":null}';

const METHODS = [
  echo,
  echoJson,
  help,
  logging,
  answering('t_null', () => null),
  answering('t_json', () => rawJson(JSON_TEXT)),
  answering('t_fail', () => {
    throw rpcError(-8, 'Invalid thing\nsecond line');
  }),
  answering('t_wallet', () => {
    throw rpcError(-19, 'Wallet file not specified');
  }),
  answering('t_unloaded', () => {
    throw rpcError(-18, 'Requested wallet does not exist or is not loaded');
  }),
  answering('createwallet', () => {
    throw rpcError(-4, 'Wallet demo already exists.');
  }),
  answering('listwallets', () => ['', 'open']),
  answering('listwalletdir', () => ({ wallets: [{ name: '' }, { name: 'demo' }, { name: 'open' }] })),
  answering('t_where', (ctx) => ctx.walletName ?? null),
  answering('t_many', () => Array.from({ length: 200_000 }, (_, index) => index)),
  answering('getnetworkinfo', () => ({
    version: 1,
    protocolversion: 2,
    timeoffset: 0,
    connections: 3,
    networks: [{ proxy: 'p:1' }],
    relayfee: rawJson('0.00001000'),
    warnings: '',
  })),
  answering('getblockchaininfo', () => ({
    chain: 'test',
    blocks: 7,
    difficulty: rawJson('4.656542373906925e-10'),
  })),
];

let home: string;
let data: string;
let server: RpcHttpServer;
let dispatcher: RpcDispatcher;
let port: number;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'lbcnode-cli-'));
  data = join(home, 'data');
  mkdirSync(join(data, 'regtest'), { recursive: true });
  dispatcher = new RpcDispatcher(
    { deprecated: new Set() },
    {
      table: new MethodTable(METHODS),
      services: testServices(),
      logger: SILENT_LOGGER,
      onException: () => undefined,
    },
  );
  dispatcher.finishWarmup();
  const auth = { user: 'user', password: '', rpcAuth: [], cookieFile: join(data, 'regtest', '.cookie') };
  server = new RpcHttpServer(
    {
      auth,
      port: 0,
      binds: [],
      allowIps: undefined,
      timeoutSec: 30,
      threads: 4,
      workQueueDepth: 16,
      profile: 'documented',
    },
    { dispatcher, logger: SILENT_LOGGER },
  );
  await server.listen();
  port = server.addresses()[0]!.port;
});

afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true });
});

async function run(words: string[], input = ''): Promise<Outcome> {
  let out = '';
  let err = '';
  const status = await runCli(words, {
    out: (text) => (out += text),
    err: (text) => (err += text),
    input: () => Readable.from([input]),
    home,
    version: '1.2.3',
  });
  return { status, out, err };
}

/** Calls the test server with the cookie of its folder. */
function ask(...words: string[]): Promise<Outcome> {
  return run(['-regtest', `-datadir=${data}`, `-rpcport=${port}`, ...words]);
}

describe('answers', () => {
  it('print strings unquoted, null as nothing, and JSON indented with unchanged numbers', async () => {
    expect(await ask('echo', 'x')).toEqual({ status: 0, out: '[\n  "x"\n]\n', err: '' });
    expect(await ask('t_null')).toEqual({ status: 0, out: '', err: '' });
    expect(await ask('t_json')).toEqual({
      status: 0,
      out:
        '{\n  "a": [\n  ],\n  "big": 12345678901234567890,\n  "amount": 1.10000000,\n  "e": 1e-8,\n' +
        '  "s": "é\\"",\n  "n": null\n}\n',
      err: '',
    });
    expect((await ask('-rpcwallet=my wallet/é', 't_where')).out).toBe('my wallet/é\n');
  });

  it('that are errors go to stderr, with the error code as exit status', async () => {
    expect(await ask('t_fail')).toEqual({
      status: 8,
      out: '',
      err: 'error code: -8\nerror message:\nInvalid thing\nsecond line\n',
    });
    expect(await ask('nosuch')).toEqual({
      status: 32601,
      out: '',
      err: 'error code: -32601\nerror message:\nMethod not found\nlbcnode-cli help lists all commands.\n',
    });
    expect((await ask('t_wallet')).err).toBe(
      'error code: -19\nerror message:\nWallet file not specified\n' +
        'Try adding "-rpcwallet=<filename>" option to lbcnode-cli command line.\n',
    );
  });

  it('to mistyped commands suggest the right one', async () => {
    expect((await ask('loging')).err).toBe(
      'error code: -32601\nerror message:\nMethod not found\n' +
        'Did you mean logging? lbcnode-cli help lists all commands.\n',
    );
    expect(await ask('logging', '[]', '[]', '[]', '-regtest')).toEqual({
      status: 1,
      out: '',
      err:
        'error code: -1\nerror message:\nlogging takes at most 2 arguments, 4 were given.\n' +
        'Usage: logging ( include exclude )\n' +
        'Options must precede the command: -regtest\nFor details: lbcnode-cli help logging\n',
    });
    expect((await ask('-named', 'logging', 'inclde=["net"]')).err).toBe(
      'error code: -8\nerror message:\nUnknown named parameter inclde\n' +
        'Did you mean include=? For details: lbcnode-cli help logging\n',
    );
    expect((await ask('help', 'loging')).out).toBe('help: unknown command: loging. Did you mean logging?\n');
  });

  it('of -getinfo are assembled from several calls', async () => {
    const outcome = await ask('-getinfo');
    expect(outcome).toEqual({
      status: 0,
      out:
        '{\n  "version": 1,\n  "protocolversion": 2,\n  "walletversion": null,\n  "balance": null,\n  "blocks": 7,\n  "timeoffset": 0,\n  "connections": 3,\n' +
        '  "proxy": "p:1",\n  "difficulty": 4.656542373906925e-10,\n  "testnet": true,\n' +
        '  "keypoololdest": null,\n  "keypoolsize": null,\n  "paytxfee": null,\n  "relayfee": 0.00001000,\n' +
        '  "warnings": ""\n}\n',
      err: '',
    });
    expect((await ask('-getinfo', 'x')).err).toBe('error: -getinfo takes no arguments\n');
  });
});

describe('a wallet that is not loaded', () => {
  it('is named with the command that loads or creates it', async () => {
    const refused = 'error code: -18\nerror message:\nRequested wallet does not exist or is not loaded\n';
    const base = `lbcnode-cli -regtest -datadir=${data} -rpcport=${port}`;
    expect((await ask('-rpcwallet=demo', 't_unloaded')).err).toBe(
      `${refused}The wallet demo exists but is not loaded. Load it with: ${base} loadwallet demo\n`,
    );
    expect((await ask('-rpcwallet=other', 't_unloaded')).err).toBe(
      `${refused}The wallet other does not exist. Create it with: ${base} createwallet other\n`,
    );
    const exists = 'error code: -4\nerror message:\nWallet demo already exists.\n';
    expect((await ask('createwallet', 'demo')).err).toBe(
      `${exists}The wallet demo exists but is not loaded. Load it with: ${base} loadwallet demo\n`,
    );
    expect((await ask('createwallet', 'open')).err).toBe(exists);
  });
});

describe('arguments', () => {
  it('are converted by the declarations of the methods', async () => {
    expect(convertPositional('echo', ['1', 'true', '{}'])).toEqual(['1', 'true', '{}']);
    expect(stringifyJson(convertPositional('echojson', ['1.10', 'true', '{"a":1}', '"x"', 'null']))).toBe(
      '[1.10,true,{"a":1},"x",null]',
    );
    expect(convertPositional('nosuch', ['1'])).toEqual(['1']);
    expect(convertPositional('constructor', ['1'])).toEqual(['1']);
    expect(() => convertPositional('echojson', ['x y'])).toThrow('Error parsing JSON:x y');
    expect(await ask('echojson', 'x')).toEqual({ status: 1, out: '', err: 'error: Error parsing JSON:x\n' });
  });

  it('are passed by name with -named', async () => {
    expect(stringifyJson(convertNamed('echojson', ['arg1=[1]', 'arg0="a=b"']))).toBe(
      '{"arg1":[1],"arg0":"a=b"}',
    );
    expect((await ask('-named', 'echojson', 'arg0=5', 'arg1=')).err).toBe('error: Error parsing JSON:\n');
    expect((await ask('-named', 'echo', 'arg0=', 'arg2=x=y')).out).toBe('[\n  "",\n  null,\n  "x=y"\n]\n');
    expect((await ask('-named', 'echo', 'x')).err).toBe(
      "error: No '=' in named argument 'x', this needs to be present for every argument (even if it is empty)\n",
    );
  });

  it('are read from standard input', async () => {
    const base = ['-regtest', `-datadir=${data}`, `-rpcport=${port}`];
    expect((await run([...base, '-stdin', 'echo', 'a'], 'b\nc d\n\n')).out).toBe(
      '[\n  "a",\n  "b",\n  "c d",\n  ""\n]\n',
    );
    expect((await run([...base, '-stdin'], 'echo\nx')).out).toBe('[\n  "x"\n]\n');
    const [user, password] = readFileSync(join(data, 'regtest', '.cookie'), 'utf8').split(':');
    expect(
      (await run([...base, `-rpcuser=${user}`, '-stdinrpcpass', '-stdin', 'echo'], `${password}\nb\n`)).out,
    ).toBe('[\n  "b"\n]\n');
  });

  it('that are missing are reported', async () => {
    expect(await ask()).toEqual({
      status: 1,
      out: '',
      err: 'error: too few parameters (need at least command)\n',
    });
    const none = await run([]);
    expect([none.status, none.out]).toEqual([1, '']);
    expect(none.err).toMatch(/^Error: too few parameters\n\nlbcnode RPC client version v1\.2\.3\n\nUsage:/);
  });
});

describe('options', () => {
  it('show help and version', async () => {
    for (const word of ['-?', '-h', '-help', '--help']) {
      const outcome = await run([word]);
      expect([outcome.status, outcome.err]).toEqual([0, '']);
      expect(outcome.out).toContain('  -rpcwait\n       Wait until the node answers\n');
    }
    expect(await run(['-version'])).toEqual({
      status: 0,
      out: 'lbcnode RPC client version v1.2.3\n',
      err: '',
    });
  });

  it('are refused when unknown', async () => {
    expect(await run(['-nosuch', 'help'])).toEqual({
      status: 1,
      out: '',
      err: 'Error parsing command line arguments: Invalid parameter -nosuch\n',
    });
    expect((await run(['-rpcprt=1', 'help'])).err).toBe(
      'Error parsing command line arguments: Invalid parameter -rpcprt. Did you mean -rpcport?\n',
    );
    expect((await run([`-datadir=${data}`, '-named=yes', 'help'])).err).toBe(
      'Error: Invalid value -named=yes, it must be 1 (on) or 0 (off)\n',
    );
    expect((await run([`-datadir=${data}`, '-rpcclienttimeout=soon', 'help'])).err).toBe(
      'Error: Invalid value -rpcclienttimeout=soon, it must be a whole number\n',
    );
    expect((await run(['-regtest', '-testnet', 'help'])).err).toBe(
      'Error: Invalid combination of -regtest and -testnet.\n',
    );
    const missing = join(data, 'missing');
    expect((await run([`-datadir=${missing}`, 'help'])).err).toBe(
      `Error: Specified data directory "${missing}" does not exist.\n`,
    );
    expect((await run([`-datadir=${data}`, '-rpcssl', 'help'])).err).toBe(
      'Error: SSL mode for RPC (-rpcssl) is no longer supported.\n',
    );
  });

  it("are also read from the node's configuration file", async () => {
    writeFileSync(join(data, 'test.conf'), `txindex=1\nregtest=1\n[regtest]\nrpcport=${port}\n`);
    expect((await run([`-datadir=${data}`, '-conf=test.conf', 'echo'])).out).toBe('[\n]\n');
    writeFileSync(join(data, 'bad.conf'), 'garbage\n');
    expect((await run([`-datadir=${data}`, '-conf=bad.conf', 'echo'])).err).toBe(
      `Error reading configuration file: parse error on line 1: garbage (${join(data, 'bad.conf')})\n`,
    );
    expect((await run([`-datadir=${data}`, '-conf=absent.conf', 'echo'])).err).toBe(
      `Error reading configuration file: there is no file ${join(data, 'absent.conf')} (-conf=absent.conf; a relative path starts at the data folder)\n`,
    );
  });

  it('accept values as separate words', async () => {
    const words = ['-regtest', '-datadir', data, '--rpcport', String(port), 'echo', '-x'];
    expect((await run(words)).out).toBe('[\n  "-x"\n]\n');
    expect((await run(['-regtest', '1', `-datadir=${data}`, '-rpcport', String(port), 'echo'])).out).toBe(
      '[\n]\n',
    );
  });

  it('need no home folder where the data folder is named', async () => {
    const io = { out: () => undefined, input: () => Readable.from([]), home: null, version: '1' };
    const words = ['-regtest', `-rpcport=${port}`, 'echo'];
    expect(await runCli([`-datadir=${data}`, ...words], { ...io, err: () => undefined })).toBe(0);
    let err = '';
    expect(await runCli(words, { ...io, err: (text) => (err += text) })).toBe(1);
    expect(err).toMatch(
      /^Error: The home folder is unknown: .* Specify the data folder with -datadir=<dir>\.\n$/,
    );
  });

  it('name the host and the port in one', async () => {
    const base = ['-regtest', `-datadir=${data}`];
    expect((await run([...base, `-rpcconnect=127.0.0.1:${port}`, 'echo'])).status).toBe(0);
    expect((await run([...base, `-rpcconnect=127.0.0.1:1`, `-rpcport=${port}`, 'echo'])).status).toBe(0);
  });
});

describe('failures', () => {
  it('to connect name the address', async () => {
    const unused = createServer();
    await new Promise<void>((done) => unused.listen({ port: 0, host: '127.0.0.1' }, done));
    const free = (unused.address() as AddressInfo).port;
    await new Promise((done) => unused.close(done));
    expect(await run(['-regtest', `-datadir=${data}`, `-rpcport=${free}`, 'echo'])).toEqual({
      status: 1,
      out: '',
      err:
        `error: Could not connect to the server 127.0.0.1:${free}\n\n` +
        'Make sure the lbcnode server is running and that you are connecting to the correct RPC port.\n' +
        `Start a node of regtest with: lbcnode -regtest -datadir=${data}\n` +
        "Or give the node's address with -rpcport=<port>, -rpcconnect=<host>.\n",
    });
    expect((await run([`-datadir=${data}`, `-rpcport=${free}`, 'echo', '-regtest'])).err).toContain(
      '\nOptions must precede the command: -regtest\n',
    );
    // The cookie of another network shows that its node is running.
    expect((await run([`-datadir=${data}`, `-rpcport=${free}`, 'echo'])).err).toContain(
      `\nA node of regtest seems to be running. To call it, add -regtest.\nStart a node of main with: lbcnode -datadir=${data}\n`,
    );
  });

  it('to authenticate distinguish a wrong password from a missing one', async () => {
    expect((await ask('-rpcpassword=wrong', 'echo')).err).toBe(
      'error: Authorization failed: Incorrect rpcuser or rpcpassword\n',
    );
    expect(
      (await run(['-regtest', `-datadir=${data}`, `-rpcport=${port}`, '-stdinrpcpass', 'echo'], 'wrong\n'))
        .err,
    ).toBe('error: Authorization failed: Incorrect rpcuser or rpcpassword\n');
    expect((await run(['-regtest', `-datadir=${data}`, '-stdinrpcpass', 'echo'], '')).err).toBe(
      'error: -stdinrpcpass specified but failed to read from standard input\n',
    );
    expect((await ask('-rpccookiefile=nosuch', 'echo')).err).toBe(
      'error: Could not locate RPC credentials. No authentication cookie could be found, and RPC password is not set.  ' +
        `See -rpcpassword and -stdinrpcpass.  Configuration file: (${join(data, 'lbcnode.conf')}), cookie: (${join(data, 'regtest', 'nosuch')})\n` +
        'If the node has another data directory, name it with -datadir=<folder>.\n',
    );
    // A folder cannot be read as a file by any user. File permissions do not restrict root.
    expect((await ask(`-rpccookiefile=${data}`, 'echo')).err).toBe(
      `error: Could not read the authentication cookie ${data}: it is a folder where a file should be (EISDIR).\n` +
        'Run lbcnode-cli as the user that runs the node, or pass a password with -rpcuser and -stdinrpcpass (configured with -rpcauth on the node).\n',
    );
  });

  it.each(['99999', '0', '-1', 'x'])('of an invalid port: %j', async (given) => {
    expect((await run([`-datadir=${data}`, `-rpcport=${given}`, 'echo'])).err).toBe(
      `error: Invalid port provided in -rpcport: ${given}\n`,
    );
    const connect = `[::1]:${given}`;
    if (/^[0-9]+$/.test(given)) {
      expect((await run([`-datadir=${data}`, `-rpcconnect=${connect}`, 'echo'])).err).toBe(
        `error: Invalid port provided in -rpcconnect: ${connect}\n`,
      );
    }
  });

  it.each<[number, string, string]>([
    [503, 'Work queue depth exceeded', 'error: server returned HTTP error 503\n'],
    [403, '', 'error: server returned HTTP error 403\n'],
    [403, 'Another name\n', 'error: server returned HTTP error 403: Another name\n'],
    [200, '', 'error: no response from server\n'],
    [200, '<html>', "error: couldn't parse reply from server\n"],
    [200, '[]', 'error: expected reply to have result, error and id properties\n'],
    [200, '{}', 'error: expected reply to have result, error and id properties\n'],
    [500, '{"result":null,"error":"odd","id":1}', 'error: "odd"\n'],
  ])('of the server: %d %j', async (status, body, message) => {
    const odd = createServer((_request, response) => response.writeHead(status).end(body));
    await new Promise<void>((done) => odd.listen({ port: 0, host: '127.0.0.1' }, done));
    const outcome = await run([
      `-datadir=${data}`,
      `-rpcport=${(odd.address() as AddressInfo).port}`,
      'echo',
    ]);
    expect([outcome.status, outcome.out, outcome.err]).toEqual([1, '', message]);
    await new Promise((done) => odd.close(done));
  });

  it('by a server that does not answer end with the timeout', async () => {
    const mute = createServer(() => undefined);
    await new Promise<void>((done) => mute.listen({ port: 0, host: '127.0.0.1' }, done));
    const mutePort = (mute.address() as AddressInfo).port;
    const outcome = await run([`-datadir=${data}`, `-rpcport=${mutePort}`, '-rpcclienttimeout=1', 'echo']);
    expect(outcome.err).toMatch(
      /^error: Could not connect to the server 127\.0\.0\.1:\d+ \(timeout reached\)\n/,
    );
    mute.closeAllConnections();
    await new Promise((done) => mute.close(done));
  });
});

describe('-rpcwait', () => {
  it('waits for the server and for the end of its warm-up', async () => {
    let requests = 0;
    const answers = [
      { result: null, error: { code: -28, message: 'Loading block index...' }, id: 1 },
      { result: 'ready', error: null, id: 1 },
    ];
    const late = createServer((_request, response) => response.end(JSON.stringify(answers[requests++])));
    await new Promise<void>((done) => late.listen({ port: 0, host: '127.0.0.1' }, done));
    const latePort = (late.address() as AddressInfo).port;
    await new Promise((done) => late.close(done));
    const words = [`-datadir=${data}`, `-rpcport=${latePort}`, '-rpcwait', 'echo'];
    const outcome = run(words);
    setTimeout(() => late.listen({ port: latePort, host: '127.0.0.1' }), 300);
    expect(await outcome).toEqual({ status: 0, out: 'ready\n', err: '' });
    expect(requests).toBe(2);
    await new Promise((done) => late.close(done));
  });
});

describe('a client that is not on the search path', () => {
  it('is named with its path in suggested commands', async () => {
    const missing = 'error code: -32601\nerror message:\nMethod not found\n';
    const errorOf = async (...words: string[]): Promise<string> => {
      let err = '';
      await runCli(['-regtest', `-datadir=${data}`, ...words], {
        out: () => undefined,
        err: (text) => (err += text),
        input: () => Readable.from(['']),
        home,
        version: '1.2.3',
        commandOf: (name) => `node dist/bin/${name}.js`,
      });
      return err;
    };
    expect(await errorOf(`-rpcport=${port}`, 'loging')).toBe(
      `${missing}Did you mean logging? node dist/bin/lbcnode-cli.js help lists all commands.\n`,
    );
    expect(await errorOf(`-rpcport=${port}`, 'logging', '[]', '[]', '[]')).toMatch(
      /\nFor details: node dist\/bin\/lbcnode-cli\.js help logging\n$/,
    );
    expect(await errorOf(`-rpcport=${port}`, '-rpcwallet=demo', 't_unloaded')).toContain(
      `Load it with: node dist/bin/lbcnode-cli.js -regtest -datadir=${data} -rpcport=${port} loadwallet demo\n`,
    );
    expect(await errorOf('-rpcport=1', 'echo')).toContain(
      `Start a node of regtest with: node dist/bin/lbcnode.js -regtest -datadir=${data}\n`,
    );
  });
});

describe('the program', () => {
  const dist = resolve(
    fileURLToPath(new URL('../..', import.meta.url)),
    process.env['LBCNODE_DIST'] ?? 'dist',
  );
  const program = join(dist, 'bin', 'lbcnode-cli.js');

  function spawnCli(words: string[], input?: string, closesInput = true): Promise<Outcome> {
    return new Promise((done, reject) => {
      const child = spawn(process.execPath, [
        program,
        '-regtest',
        `-datadir=${data}`,
        `-rpcport=${port}`,
        ...words,
      ]);
      let out = '';
      let err = '';
      child.stdout.on('data', (part: Buffer) => (out += part.toString()));
      child.stderr.on('data', (part: Buffer) => (err += part.toString()));
      child.on('error', reject);
      child.on('close', (status) => {
        child.stdin.destroy();
        done({ status, out, err });
      });
      if (closesInput) child.stdin.end(input ?? '');
      else child.stdin.write(input ?? '');
    });
  }

  it('is built', () => {
    expect(existsSync(program), `${program} is missing: run npm run build`).toBe(true);
  });

  it('prints results, fails and reads its input', async () => {
    expect(await spawnCli(['echo', 'hé'])).toMatchObject({ status: 0, out: '[\n  "hé"\n]\n', err: '' });
    expect(await spawnCli(['t_fail'])).toMatchObject({ status: 8, out: '' });
    expect(await spawnCli(['-stdin', 'echo'], 'one\ntwo\n')).toMatchObject({
      out: '[\n  "one",\n  "two"\n]\n',
    });
    // If the input remains open, the program only waits for the line with the password.
    const [user, password] = readFileSync(join(data, 'regtest', '.cookie'), 'utf8').split(':');
    const words = [`-rpcuser=${user}`, '-stdinrpcpass', 'echo', 'x'];
    expect(await spawnCli(words, `${password}\nmore`, false)).toEqual({
      status: 0,
      out: '[\n  "x"\n]\n',
      err: '',
    });
  });

  it('writes a long answer completely to a pipe', async () => {
    const outcome = await spawnCli(['t_many']);
    expect((JSON.parse(outcome.out) as number[]).length).toBe(200_000);
  });

  it('imports no package and only a few own files, to start fast', () => {
    const files = new Set<string>();
    const packages = new Set<string>();
    const visit = (file: string): void => {
      if (files.has(file)) return;
      files.add(file);
      for (const { fileName } of preProcessFile(readFileSync(file, 'utf8'), true, true).importedFiles) {
        if (fileName.startsWith('.')) visit(join(dirname(file), fileName));
        else if (!fileName.startsWith('node:')) packages.add(fileName);
      }
    };
    visit(program);
    expect([...packages]).toEqual([]);
    expect(files.size).toBeGreaterThan(10);
    expect(files.size).toBeLessThan(35);
    expect([...files].filter((file) => /\/(native|server|store|chain)\//.test(file))).toEqual([]);
  });
});
