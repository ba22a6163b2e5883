/** Options of the peer network: what each of them sets. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { formatNetAddress, parseNetAddress } from '../../../../src/net/netAddress.js';
import type { PeerNetworkOptions } from '../../../../src/net/peerNetwork.js';
import { OptionError } from '../../../../src/node/options/optionArgs.js';
import { loadOptions, parseCommandLine } from '../../../../src/node/options/options.js';
import { peerSettings, type PeerSettingsDeps } from '../../../../src/node/services/peerSettings.js';

const folder = mkdtempSync(join(tmpdir(), 'peer-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

const warnings: string[] = [];
async function settings(words: string[], deps: Partial<PeerSettingsDeps> = {}): Promise<PeerNetworkOptions> {
  const command = parseCommandLine([`-datadir=${folder}`, ...words]);
  if (command.action !== 'run') throw new Error('the words ask for help');
  warnings.length = 0;
  const names = new Map([['me.example', ['8.8.4.4', '8.8.8.8']]]);
  for (const peer of ['a', 'b', 's']) names.set(peer, ['8.8.8.1']);
  return peerSettings(loadOptions(command.args, folder), {
    warn: (message) => warnings.push(message),
    lookUp: (host) => Promise.resolve(names.get(host) ?? []),
    descriptorLimit: 1024,
    ...deps,
  });
}

const EVERYWHERE = [
  { host: '::', port: 9246, isWhitelisted: false },
  { host: '0.0.0.0', port: 9246, isWhitelisted: false },
];

describe('the options of connections', () => {
  it('have defaults', async () => {
    expect(await settings([])).toMatchObject({
      port: 9246,
      bindings: EVERYWHERE,
      whitelist: [],
      externalAddresses: [],
      discovers: true,
      tellsLoopback: false,
      dropsOneIn: 0,
      logsAddresses: false,
      connect: null,
      addNodes: [],
      seedNodes: [],
      asksDnsSeeds: true,
      forcesDnsSeeds: false,
      allowsLookup: true,
      connectTimeoutMs: 5000,
      maxConnections: 125,
      maxReceiveBytes: 5_000_000,
      maxSendBytes: 1_000_000,
      banScore: 100,
      banTimeSec: 86_400,
      sendsRejects: true,
      maxTimeAdjustmentSec: 4200,
      prunes: false,
      uploadTargetBytes: 0,
      relaysTransactions: true,
      whitelistRelay: true,
      whitelistForceRelay: true,
      servesFilters: true,
      minRelayFeeRatePerKb: 1000n,
      tor: { target: '127.0.0.1:9051', password: '', hasOnionProxy: false },
    });
  });

  it.each<[string[], Partial<Record<keyof PeerNetworkOptions, unknown>>]>([
    [['-addnode=a', '-addnode=b:1'], { addNodes: ['a', 'b:1'] }],
    [['-addrmantest'], { tellsLoopback: true }],
    [['-dropmessagestest=3'], { dropsOneIn: 3 }],
    [['-logips'], { logsAddresses: true }],
    [['-banscore=7', '-bantime=8'], { banScore: 7, banTimeSec: 8 }],
    [['-bind=127.0.0.1', '-bind=[::1]:7'], { bindings: [{ host: '127.0.0.1', port: 9246, isWhitelisted: false }, { host: '::1', port: 7, isWhitelisted: false }] }], // prettier-ignore
    [['-whitebind=127.0.0.1:7'], { bindings: [{ host: '127.0.0.1', port: 7, isWhitelisted: true }] }],
    [['-connect=a', '-connect=b'], { connect: ['a', 'b'], asksDnsSeeds: false, bindings: [] }],
    [['-connect=0'], { connect: [] }],
    [['-noconnect'], { connect: [], asksDnsSeeds: false, bindings: [] }],
    [['-connect=a', '-bind=127.0.0.1:7', '-dnsseed'], { asksDnsSeeds: true, bindings: [{ host: '127.0.0.1', port: 7, isWhitelisted: false }] }], // prettier-ignore
    [['-discover=0'], { discovers: false }],
    [['-externalip=8.8.8.8'], { discovers: false }],
    [['-dns=0', '-dnsseed=0', '-forcednsseed'], { allowsLookup: false, asksDnsSeeds: false, forcesDnsSeeds: true }], // prettier-ignore
    [['-enablebip61=0'], { sendsRejects: false }],
    [['-listen=0'], { bindings: [], tor: null, discovers: false }],
    [['-listenonion=0'], { tor: null }],
    [['-torcontrol=a:1', '-torpassword=p', '-onion=127.0.0.1:9150'], { tor: { target: 'a:1', password: 'p', hasOnionProxy: true } }], // prettier-ignore
    [['-maxconnections=3'], { maxConnections: 3 }],
    [['-maxconnections=0'], { maxConnections: 0 }],
    [['-maxreceivebuffer=2', '-maxsendbuffer=3'], { maxReceiveBytes: 2000, maxSendBytes: 3000 }],
    [['-maxtimeadjustment=9'], { maxTimeAdjustmentSec: 9 }],
    [['-maxuploadtarget=2'], { uploadTargetBytes: 2 << 20 }],
    [['-peerbloomfilters=0'], { servesFilters: false }],
    [['-peerblockfilters', '-blockfilterindex'], { servesBlockFilters: true }],
    [['-port=7'], { port: 7, bindings: EVERYWHERE.map((binding) => ({ ...binding, port: 7 })) }],
    [['-proxy=127.0.0.1:1'], { bindings: [], discovers: false }],
    [['-seednode=s'], { seedNodes: ['s'] }],
    [['-timeout=9'], { connectTimeoutMs: 9 }],
    [['-timeout=0'], { connectTimeoutMs: 5000 }],
    [['-prune=550'], { prunes: true }],
    [['-blocksonly'], { relaysTransactions: false, whitelistRelay: false }],
    [['-blocksonly', '-whitelistforcerelay=0'], { relaysTransactions: false, whitelistRelay: false, whitelistForceRelay: false }], // prettier-ignore
    [['-whitelistrelay=0', '-whitelistforcerelay=0'], { whitelistRelay: false, whitelistForceRelay: false }],
    [['-minrelaytxfee=0.00005'], { minRelayFeeRatePerKb: 5000n }],
    [['-incrementalrelayfee=0.00002'], { minRelayFeeRatePerKb: 2000n }],
  ])('are applied: %j', async (words, expected) => {
    expect(await settings(words)).toMatchObject(expected);
    expect(warnings).toEqual([]);
  });

  it('accept proxies that can be resolved', async () => {
    for (const name of ['proxy', 'onion'])
      await expect(settings([`-${name}=nosuch:9050`])).rejects.toThrow(
        new OptionError(`Invalid -${name} address or hostname: 'nosuch:9050' (it cannot be resolved)`),
      );
    expect((await settings(['-proxy=me.example'])).networks.nameProxy).toMatchObject({ host: 'me.example' });
  });

  it('accept the control port of Tor, with a warning if the name cannot be resolved', async () => {
    await settings(['-torcontrol=nosuch:9051', '-dns=0']);
    expect(warnings).toEqual([
      '-torcontrol=nosuch:9051 cannot be resolved now; the lookup is repeated later.',
    ]);
    await settings(['-torcontrol=nosuch:9051', '-listenonion=0']);
    await settings(['-torcontrol=me.example']);
    expect(warnings).toEqual([]);
  });

  it('accept peers, with a warning if the name cannot be resolved', async () => {
    const named = ['-connect=nosuch:7', '-addnode=b', '-addnode=nosuch', '-seednode=1.2.3.4', '-connect=0'];
    await settings(named);
    expect(warnings).toEqual([
      '-connect=nosuch:7 cannot be resolved now; the lookup is repeated later.',
      '-addnode=nosuch cannot be resolved now; the lookup is repeated later.',
    ]);
    await settings(named, { lookUp: () => Promise.reject(new Error('no resolver')) });
    expect(warnings.length).toBe(3);
    await settings(['-connect=nosuch', '-dns=0']);
    expect(warnings).toEqual(['-connect=nosuch is a host name, but name lookups are disabled by -dns=0.']);
    // A proxy looks up names by itself, and names of onion services are not looked up.
    await settings(['-connect=nosuch', '-proxy=127.0.0.1:1']);
    await settings(['-connect=expyuzz4wqqyqhjn.onion']);
    expect(warnings).toEqual([]);
  });

  it('set who is whitelisted', async () => {
    const { whitelist } = await settings(['-whitelist=10.0.0.0/8', '-whitelist=1.2.3.4']);
    const isIn = (text: string): boolean =>
      whitelist.some((subnet) => subnet.contains(parseNetAddress(text, 1)!.ip));
    expect(['10.1.2.3', '1.2.3.4', '1.2.3.5'].map(isIn)).toEqual([true, true, false]);
  });

  it('set the proxies of networks', async () => {
    const { networks } = await settings(['-proxy=127.0.0.1:1', '-onion=127.0.0.1:2', '-proxyrandomize=0']);
    const to = (text: string): unknown => networks.proxyFor(parseNetAddress(text, 1)!);
    expect(to('8.8.8.8')).toEqual({ host: '127.0.0.1', port: 1, randomizesCredentials: false });
    expect(to('expyuzz4wqqyqhjn.onion')).toMatchObject({ port: 2 });
    expect(networks.nameProxy).toMatchObject({ port: 1 });
    const only = (await settings(['-onlynet=ipv6'])).networks;
    expect(only.isLimited(parseNetAddress('8.8.8.8', 1)!)).toBe(true);
    expect(only.isLimited(parseNetAddress('2a01::1', 1)!)).toBe(false);
  });

  it('set our own address by number or by name', async () => {
    const shown = async (...words: string[]): Promise<string[]> =>
      (await settings(words)).externalAddresses.map(formatNetAddress);
    expect(await shown('-externalip=8.8.8.8', '-externalip=me.example:7', '-port=5')).toEqual([
      '8.8.8.8:5',
      '8.8.4.4:7',
    ]);
    for (const words of [['-externalip=other.example'], ['-externalip=me.example', '-dns=0']])
      await expect(settings(words)).rejects.toThrow(
        new OptionError(`Cannot resolve -externalip address: '${words[0]!.slice('-externalip='.length)}'`),
      );
  });

  it('are reduced to the limits of the system', async () => {
    expect((await settings(['-maxconnections=2000'])).maxConnections).toBe(866);
    expect(warnings).toEqual(['Reducing -maxconnections from 2000 to 866, because of system limitations.']);
    expect((await settings(['-maxconnections=2000'], { descriptorLimit: Infinity })).maxConnections).toBe(
      2000,
    );
    await expect(settings([], { descriptorLimit: 157 })).rejects.toThrow(
      'Not enough file descriptors available.',
    );
  });

  it('cause a message if they are not supported', () => {
    const command = parseCommandLine([`-datadir=${folder}`, '-upnp']);
    if (command.action !== 'run') throw new Error('the words ask for help');
    expect(loadOptions(command.args, folder).warnings).toEqual([
      'Unsupported argument -upnp ignored. Configure port forwarding on the router by hand.',
    ]);
  });

  it.each([
    [['-bind=host'], "Cannot resolve -bind address: 'host'"],
    [['-whitebind=127.0.0.1'], "Need to specify a port with -whitebind: '127.0.0.1'"],
    [['-whitelist=1.2.3.4/33'], "Invalid netmask specified in -whitelist: '1.2.3.4/33'"],
  ])('are refused: %j', async (words, message) => {
    await expect(settings(words)).rejects.toThrow(new OptionError(message));
  });
});
