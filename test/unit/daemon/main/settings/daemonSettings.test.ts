/** Settings: the precedence of sources, valid contents of a settings file, and the errors for invalid ones. */
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DaemonSettings } from '../../../../../src/daemon/main/settings/daemonSettings.js';
import { SETTINGS } from '../../../../../src/daemon/main/settings/settingsTable.js';
import { EnvironmentError } from '../../../../../src/util/text/environmentError.js';
import type { JsonValue } from '../../../../../src/util/json/json.js';

let home: string;
let path: string;
let warnings: string[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'lbcnet-settings-'));
  path = join(home, 'conf.yml');
  warnings = [];
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function open({
  file,
  given = {},
  environment = {},
}: {
  file?: string;
  given?: Record<string, JsonValue>;
  environment?: Record<string, string>;
} = {}): DaemonSettings {
  if (file !== undefined) writeFileSync(path, file);
  return new DaemonSettings({
    given: new Map(Object.entries({ config: path, ...given })),
    machine: { platform: 'linux', home, environment },
    warn: (text) => warnings.push(text),
  });
}

describe('forms that lbrynet accepts in the file', () => {
  it.each([
    ['use_upnp', '0', false],
    ['save_files', '1', true],
    ['use_upnp', 'null', false],
    ['components_to_skip', 'dht', ['dht']],
    ['wallets', '', ['default_wallet']],
    ['jurisdiction', 'null', null],
    ['allowed_origin', '', ''],
    ['lbryum_servers', 'null', []],
    ['download_timeout', '"1_0.5"', 10.5],
    ['udp_port', '"1_000"', 1000],
  ])('%s: %s', (name, text, value) => {
    expect(open({ file: `${name}: ${text}\n` }).value(name)).toEqual(value);
    expect(warnings).toEqual([]);
  });

  it('use the value of a former name, in any order', () => {
    for (const file of [
      'download_directory: /former\ndownload_dir: /present\n',
      'download_dir: /present\ndownload_directory: /former\n',
    ])
      expect(open({ file }).get('download_dir')).toBe('/former');
  });

  it.each(['"yes"', '[]', '2020-01-01'])('save_files: %s is refused, because it is ambiguous', (text) => {
    expect(() => open({ file: `save_files: ${text}\n` })).toThrow("'save_files' must be a true/false value");
  });
});

describe('sources', () => {
  it('have priorities: run time, command line, environment, file, default', async () => {
    const sources = {
      file: 'udp_port: 2\ntcp_port: 2\nvolume_analysis_time: 2\n',
      environment: { LBRY_UDP_PORT: '3', LBRY_TCP_PORT: '3' },
      given: { udp_port: '4' },
    };
    const settings = open(sources);
    expect(
      ['udp_port', 'tcp_port', 'volume_analysis_time', 'prometheus_port'].map((name) => settings.value(name)),
    ).toEqual([4, 3, 2, 0]);
    await settings.set('udp_port', 5);
    expect(settings.value('udp_port')).toBe(5);
    await settings.clear('udp_port');
    expect(settings.value('udp_port')).toBe(4);
  });

  it('tell whether a setting has a value', async () => {
    const settings = open({ file: 'max_key_fee: null\n', environment: { LBRY_UDP_PORT: '3' } });
    expect(settings.isDefault('max_key_fee')).toBe(false);
    expect(settings.get('max_key_fee')).toBeNull();
    expect(settings.isDefault('udp_port')).toBe(false);
    expect(settings.isDefault('lbryum_servers')).toBe(true);
    await settings.set('lbryum_servers', ['localhost:1']);
    expect(settings.isDefault('lbryum_servers')).toBe(false);
    await settings.clear('lbryum_servers');
    expect(settings.isDefault('lbryum_servers')).toBe(true);
  });

  it('use the folders of lbrynet by default', () => {
    const settings = open();
    expect(settings.get('data_dir')).toBe(join(home, '.local/share/lbry/lbrynet'));
    expect(settings.get('download_dir')).toBe(join(home, 'Downloads'));
    expect(open({ given: { data_dir: '~/here' } }).get('data_dir')).toBe(join(home, 'here'));
  });

  it('include lists and toggles from the environment', () => {
    const settings = open({ environment: { LBRY_LBRYUM_SERVERS: 'a:1, b:2', LBRY_STREAMING_GET: 'false' } });
    expect(settings.get('lbryum_servers')).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
    expect(settings.get('streaming_get')).toBe(false);
  });

  it('report environment variables with their prefix that belong to no setting', () => {
    const environment = { LBRY_SAVEFILES: '1', LBRY_PEER_PORT: '5', LBRY_FEE_PER_NAME_CHAR: '1', OTHER: '1' };
    expect(open({ environment }).get('save_files')).toBe(false);
    expect(warnings).toEqual([
      'The environment variable LBRY_SAVEFILES belongs to no setting. Did you mean LBRY_SAVE_FILES?',
      'The environment variable LBRY_PEER_PORT belongs to no setting. Did you mean LBRY_TCP_PORT?',
    ]);
  });

  it('report an invalid server in any source, and settings_set refuses it', async () => {
    const settings = open({
      file: 'known_dht_nodes: [a, b:1]\n',
      environment: { LBRY_FIXED_PEERS: 'c' },
      given: { lbryum_servers: ['localhost', 'localhost:70000'] },
    });
    expect(settings.get('lbryum_servers')).toEqual([]);
    expect(warnings).toEqual([
      "Command line: in setting 'lbryum_servers' 'localhost' is not HOST:PORT and is ignored.",
      "Command line: in setting 'lbryum_servers' 'localhost:70000' is not HOST:PORT and is ignored.",
      "Environment variable LBRY_FIXED_PEERS: in setting 'fixed_peers' 'c' is not HOST:PORT and is ignored.",
      `Settings file ${path}: in setting 'known_dht_nodes' 'a' is not HOST:PORT and is ignored.`,
    ]);
    warnings = [];
    await settings.set('lbryum_servers', '["b:1", "c:2"]');
    for (const value of [
      '["b:1", "localhost"]',
      'localhost:50001',
      ['b:70000'],
      [['b', 1]],
      '{"b": 1}',
      [5],
      '',
    ])
      await expect(settings.set('lbryum_servers', value), JSON.stringify(value)).rejects.toThrow(
        /^Setting 'lbryum_servers' must be a list of HOST:PORT, such as \["localhost:50001"\]; .+ is not valid\.$/,
      );
    const servers = [
      ['b', 1],
      ['c', 2],
    ];
    expect([settings.get('lbryum_servers'), warnings]).toEqual([servers, []]);
    await settings.set('lbryum_servers', []);
    expect(settings.get('lbryum_servers')).toEqual([]);
  });
});

describe('public servers', () => {
  const names = [
    'fixed_peers',
    'http_blob_servers',
    'known_dht_nodes',
    'reflector_servers',
    'tracker_servers',
  ];

  it('are defaults, except on regtest', async () => {
    const counts = (settings: DaemonSettings) =>
      names.map((name) => (settings.value(name) as readonly unknown[]).length > 0);
    expect(counts(open())).toContain(true);
    const regtest = open({ given: { blockchain_name: 'lbrycrd_regtest' } });
    expect(counts(regtest)).not.toContain(true);
    // Another chain is used from the next start on. Until then, the daemon must not contact public servers.
    await regtest.set('blockchain_name', 'lbrycrd_main');
    expect(counts(regtest)).not.toContain(true);
    await regtest.set('reflector_servers', ['127.0.0.1:5566']);
    expect(regtest.value('reflector_servers')).toEqual([['127.0.0.1', 5566]]);
  });
});

describe('the file', () => {
  it('keeps unknown settings, with a warning that suggests the nearest', async () => {
    const settings = open({ file: 'save_fils: true\n' });
    expect(warnings).toEqual([
      `The settings file ${path} contains 'save_fils', which is not a setting. Did you mean 'save_files'?`,
    ]);
    await settings.set('lbryum_servers', ['x:1']);
    expect(parse(readFileSync(path, 'utf8'))).toEqual({ save_fils: true, lbryum_servers: ['x:1'] });
  });

  it('is rewritten where it has names of earlier versions', () => {
    expect(open({ file: 'peer_port: 3333\n' }).value('tcp_port')).toBe(3333);
    expect(parse(readFileSync(path, 'utf8'))).toEqual({ tcp_port: 3333 });
  });

  it('uses the last value of a repeated key, with a warning', () => {
    const settings = open({ file: 'tcp_port: 1\nudp_port: 7\ntcp_port: 2\ntcp_port: 3\n' });
    expect([settings.value('tcp_port'), settings.value('udp_port')]).toEqual([3, 7]);
    expect(warnings).toEqual([
      `The settings file ${path} contains 'tcp_port' more than once; the last value is used.`,
    ]);
  });

  it('names the line that is not YAML', () => {
    expect(() => open({ file: 'a: [1,\nb: 2\n' })).toThrow(
      /is not valid YAML, line [123]: .*Correct it or move it away\./,
    );
    expect(() => open({ file: '- a\n- b\n' })).toThrow('must contain settings');
    expect(() => open({ given: { config: join(home, 'conf.txt') } })).toThrow(
      "must end with .yml or .yaml, not '.txt'",
    );
  });

  it.each(['allowed_origin: *\n', 'api: *nothing\n', 'api: &x [*x]\nwallets: *y\n'])(
    'reports an undefined alias: %j',
    (file) => {
      expect(() => open({ file })).toThrow(EnvironmentError);
      expect(() => open({ file })).toThrow(/conf\.yml is not valid YAML.* Correct it or move it away\./);
    },
  );

  it('that cannot be read or written is reported, and nothing changes', async () => {
    const settings = open({ file: 'peer_port: 7\n' });
    mkdirSync(`${path}.new`);
    await expect(settings.set('tcp_port', 8)).rejects.toMatchObject({
      name: 'OSError',
      message: expect.stringMatching(/^The settings file .*conf\.yml cannot be written: .*EISDIR/) as string,
    });
    expect(settings.value('tcp_port')).toBe(7);
    expect(readFileSync(path, 'utf8')).toBe('tcp_port: 7\n');
    expect(open({ file: 'peer_port: 9\n' }).value('tcp_port')).toBe(9);
    expect(warnings.join()).toContain('cannot be written');
    rmSync(path);
    mkdirSync(path);
    expect(() => open()).toThrow(/cannot be read: it is a folder where a file should be/);
  });

  it('is written through a symbolic link, with its mode', async () => {
    const target = join(home, 'mine.yml');
    symlinkSync(target, path);
    expect(() => open()).toThrow(/conf\.yml cannot be read: it is missing \(ENOENT\)\. Correct this/);
    writeFileSync(target, 'udp_port: 7\n', { mode: 0o600 });
    await open().set('tcp_port', 8);
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(parse(readFileSync(target, 'utf8'))).toEqual({ tcp_port: 8, udp_port: 7 });
    expect(statSync(target).mode & 0o777).toBe(0o600);
    expect(readdirSync(home).sort()).toEqual(['conf.yml', 'mine.yml']);
  });

  it('reports an impossible value', () => {
    expect(() => open({ file: 'save_files: perhaps\n' })).toThrow(
      `Settings file ${path}: Setting 'save_files' must be a true/false value.`,
    );
    expect(() => open({ environment: { LBRY_UDP_PORT: 'x' } })).toThrow(
      "Environment variable LBRY_UDP_PORT: Setting 'udp_port' must be an integer, not 'x'.",
    );
  });

  it('is not changed if a value is refused', async () => {
    const settings = open({ file: 'udp_port: 7\n' });
    await expect(settings.set('udp_port', 'x')).rejects.toMatchObject({ name: 'ValueError' });
    await expect(settings.set('udp_prt', 1)).rejects.toThrow(
      "The setting 'udp_prt' does not exist. Did you mean 'udp_port'?",
    );
    expect(readFileSync(path, 'utf8')).toBe('udp_port: 7\n');
  });
});

describe('values', () => {
  it('of prices are an amount and a currency, or null', async () => {
    const settings = open();
    await settings.set('max_key_fee', '5 lbc');
    expect(settings.get('max_key_fee')).toEqual({ currency: 'LBC', amount: '5.0' });
    await settings.set('max_key_fee', 'null');
    expect(settings.get('max_key_fee')).toBeNull();
    for (const negative of ['-1 LBC', ['-0.5', 'USD']])
      await expect(settings.set('max_key_fee', negative)).rejects.toMatchObject({ name: 'ValueError' });
    await expect(settings.set('max_key_fee', '5 EUR')).rejects.toMatchObject({
      name: 'InvalidCurrencyError',
    });
  });

  it('names an empty value among the choices of a setting', async () => {
    await expect(open().set('exchange_rate_source', 'bittrex')).rejects.toThrow(
      `Setting 'exchange_rate_source' value must be one of: "" (empty), mexc`,
    );
  });

  it('of exchange rates are checked one by one', async () => {
    const settings = open();
    await settings.set('exchange_rates', '["USD=38.5"]');
    expect(settings.get('exchange_rates')).toEqual(['USD=38.5']);
    await expect(settings.set('exchange_rates', ['USD'])).rejects.toThrow(
      "'USD' is not a rate like USD=38.5",
    );
  });

  it('that are impossible are refused', async () => {
    const settings = open();
    for (const [name, value, words] of [
      ['concurrent_hub_requests', 0, 'at least 1, not 0'],
      ['concurrent_hub_requests', '-1', 'at least 1, not -1'],
      ['hub_timeout', 0, 'from 1 to 86400, not 0'],
      ['hub_timeout', '-0.5', 'from 1 to 86400, not -0.5'],
      ['prometheus_port', 65_536, 'from 0 to 65535, not 65536'],
      ['tcp_port', 65_536, 'from 0 to 65535, not 65536'],
      ['udp_port', '-1', 'from 0 to 65535, not -1'],
      ['max_connections_per_download', 0, 'at least 1, not 0'],
      ['blob_lru_cache_size', -1, 'at least 0, not -1'],
      ['blob_storage_limit', -1, 'at least 0, not -1'],
      // A timer of Node.js with a longer time ends at once.
      ['download_timeout', 2_147_484, 'from 0.1 to 2000000, not 2147484'],
      ['blob_download_timeout', 0, 'from 0.1 to 2000000, not 0'],
      ['api', 'localhost', "HOST:PORT, not 'localhost'"],
      ['api', 'localhost:99999', "HOST:PORT, not 'localhost:99999'"],
      // Without a host the API would listen at all addresses.
      ['api', ':5279', "HOST:PORT, not ':5279'"],
      ['api', 'local host:5279', "HOST:PORT, not 'local host:5279'"],
      ['api', '::1:5279', "HOST:PORT, not '::1:5279'"],
      ['streaming_server', '5280', "HOST:PORT, not '5280'"],
    ] as const)
      await expect(settings.set(name, value), name).rejects.toThrow(`Setting '${name}' must be ${words}.`);
    expect(await settings.set('hub_timeout', 1)).toBeDefined();
    expect(() => open({ file: 'hub_timeout: 0\n' })).toThrow('from 1 to 86400, not 0');
    expect(() => open({ file: 'api: here\n' })).toThrow(
      /^Settings file .*: Setting 'api' must be HOST:PORT, not 'here'\.$/,
    );
    for (const address of ['', '::', '::1', '127.0.0.1:4444', 'not an address'])
      await expect(settings.set('network_interface', address), address).rejects.toThrow(
        `Setting 'network_interface': '${address}' is not an IPv4 address or a host name of this machine.`,
      );
    expect(await settings.set('network_interface', '127.0.0.1')).toBe('127.0.0.1');
    for (const server of ['b:65536', 'c:-1', 'd:0', ':1', 'e f:1'])
      await expect(settings.set('lbryum_servers', ['a:65535', server])).rejects.toThrow(`'${server}' is not`);
    await settings.set('lbryum_servers', ['a:65535']);
    expect(settings.get('lbryum_servers')).toEqual([['a', 65_535]]);
  });

  it('of folders are not empty, and absolute although they were given as relative paths', async () => {
    const message = "Setting 'data_dir' must not be empty.";
    expect(() => open({ given: { data_dir: '' } })).toThrow(`Command line: ${message}`);
    expect(() => open({ environment: { LBRY_DATA_DIR: '' } })).toThrow(
      `Environment variable LBRY_DATA_DIR: ${message}`,
    );
    expect(() => open({ file: 'data_dir: ""\n' })).toThrow(`Settings file ${path}: ${message}`);
    const settings = open({ file: '', given: { data_dir: 'data', wallet_dir: '~/wallets' } });
    expect(settings.value('data_dir')).toBe(join(process.cwd(), 'data'));
    expect(settings.value('wallet_dir')).toBe(join(home, 'wallets'));
    await expect(settings.set('download_dir', '')).rejects.toThrow("'download_dir' must not be empty");
    expect(await settings.set('download_dir', 'films')).toBe(join(process.cwd(), 'films'));
    await settings.set('wallet_dir', '~/others');
    expect(parse(readFileSync(path, 'utf8'))).toEqual({
      download_dir: join(process.cwd(), 'films'),
      wallet_dir: '~/others',
    });
  });

  it('that are secret are used and not shown', async () => {
    const settings = open({ file: 'edge_token: abc\n' });
    expect(await settings.set('blob_store_secret_key', 'hush')).toBe('[hidden]');
    expect(settings.all()).toMatchObject({
      edge_token: '[hidden]',
      blob_store_access_key: null,
      blob_store_secret_key: '[hidden]',
    });
    expect([settings.get('edge_token'), settings.get('blob_store_secret_key')]).toEqual(['abc', 'hush']);
    expect(await settings.clear('blob_store_secret_key')).toBeNull();
  });

  it('of an object store name a bucket', async () => {
    const settings = open();
    for (const place of ['s3://blobs', 's3://my.blobs/a/b-c_d', 's3://blobs/..a/b..', ''])
      expect(await settings.set('blob_store', place)).toBe(place);
    for (const place of [
      'blobs',
      's3://',
      's3://UPPER',
      's3://a b',
      's3://blobs//x',
      's3://blobs/a?b',
      's3://blobs/../other',
      's3://blobs/a/.',
    ])
      await expect(settings.set('blob_store', place)).rejects.toThrow('s3://BUCKET or s3://BUCKET/PREFIX');
    await expect(settings.set('blob_store_endpoint', 'https://user:word@host')).rejects.toThrow('HOST:PORT');
    await settings.set('blob_store_endpoint', 'http://127.0.0.1:8080/base');
  });

  it('are all shown, sorted', () => {
    expect(SETTINGS.map(({ name }) => name)).toEqual(SETTINGS.map(({ name }) => name).sort());
    expect(Object.keys(open().all() as object)).toHaveLength(SETTINGS.length);
  });
});
