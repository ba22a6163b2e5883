import { describe, expect, it } from 'vitest';
import { Networks } from '../../../../src/net/networks.js';
import { OptionError } from '../../../../src/node/options/optionArgs.js';
import {
  presentNetworks,
  reachableNetworks,
  userAgent,
  versionNumber,
} from '../../../../src/node/options/networkSettings.js';
import { parseCommandLine } from '../../../../src/node/options/options.js';
import { readOptions } from '../../../../src/node/options/optionValues.js';

describe('the user agent', () => {
  it('contains name, version and comments', () => {
    expect(userAgent([], '1.2.3')).toBe('/lbcnode:1.2.3/');
    expect(userAgent(['one', 'a.b-c_d?e@f, ;'], '1.2.3')).toBe('/lbcnode:1.2.3(one; a.b-c_d?e@f, ;)/');
    expect(versionNumber('1.2.3')).toBe(1_020_300);
    expect(versionNumber('0.1.0')).toBe(10_000);
  });

  it.each(['a/b', '(x)', 'a:b', 'é', "it's", 'a\nb'])('refuses the comment %j', (comment) => {
    expect(() => userAgent(['fine', comment])).toThrow(
      new OptionError(`User Agent comment (${comment}) contains unsafe characters.`),
    );
  });

  it('has a maximum length', () => {
    const room = 256 - '/lbcnode:1.2.3()/'.length;
    expect(userAgent(['a'.repeat(room)], '1.2.3')).toHaveLength(256);
    expect(() => userAgent(['a'.repeat(room - 2), 'b'], '1.2.3')).toThrow(
      'Total length of network version string (257) exceeds maximum length (256). ' +
        'Reduce the number or size of uacomments.',
    );
  });
});

describe('networks', () => {
  const networks = (...words: string[]): string[] => {
    const command = parseCommandLine(words);
    if (command.action !== 'run') throw new Error('the words ask for help');
    return reachableNetworks(command.args, readOptions(command.args)).map(
      ({ name, limited, reachable, proxy, randomizesProxyCredentials }) =>
        `${name} ${limited ? 'limited' : 'open'} ${reachable ? 'reachable' : 'shut'} [${proxy}]${randomizesProxyCredentials ? ' randomized' : ''}`,
    );
  };

  // The values of the reference's getnetworkinfo with the same options.
  it.each<[string[], string[]]>([
    [[], ['ipv4 open reachable []', 'ipv6 open reachable []', 'onion limited shut []']],
    [['-onlynet=IPv4'], ['ipv4 open reachable []', 'ipv6 limited shut []', 'onion limited shut []']],
    [['-onlynet=tor'], ['ipv4 limited shut []', 'ipv6 limited shut []', 'onion limited shut []']],
    [
      ['-proxy=10.0.0.1'],
      [
        'ipv4 open reachable [10.0.0.1:9050] randomized',
        'ipv6 open reachable [10.0.0.1:9050] randomized',
        'onion open reachable [10.0.0.1:9050] randomized',
      ],
    ],
    [
      ['-proxy=[::1]:1080', '-noonion', '-proxyrandomize=0'],
      [
        'ipv4 open reachable [[::1]:1080]',
        'ipv6 open reachable [[::1]:1080]',
        'onion limited shut [[::1]:1080]',
      ],
    ],
    [
      ['-onion=127.0.0.1:9150', '-onlynet=ipv6'],
      ['ipv4 limited shut []', 'ipv6 open reachable []', 'onion open reachable [127.0.0.1:9150] randomized'],
    ],
    [['-noproxy'], ['ipv4 open reachable []', 'ipv6 open reachable []', 'onion limited shut []']],
  ])('of %j', (words, expected) => {
    expect(networks(...words)).toEqual(expected);
  });

  it('are refused with invalid names and proxies', () => {
    expect(() => networks('-onlynet=foo')).toThrow("Unknown network specified in -onlynet: 'foo'");
    expect(() => networks('-proxy=1.2.3.4:99999')).toThrow(
      "Invalid -proxy address or hostname: '1.2.3.4:99999'",
    );
    expect(() => networks('-onion=a b')).toThrow("Invalid -onion address or hostname: 'a b'");
    expect(() => networks('-proxy=host', '-dns=0')).toThrow("Invalid -proxy address or hostname: 'host'");
    expect(networks('-proxy=host:1')[0]).toBe('ipv4 open reachable [host:1] randomized');
  });

  it('are shown with their present state, with the proxy that Tor reported', () => {
    const command = parseCommandLine(['-onlynet=ipv6', '-onion=[::1]:7', '-proxyrandomize']);
    if (command.action !== 'run') throw new Error('the words ask for help');
    const reported = reachableNetworks(command.args, readOptions(command.args));
    const own = { host: '::1', port: 7, randomizesCredentials: true };
    const open = { isLimited: false, proxy: null };
    const present = new Networks(
      { ipv4: { ...open, isLimited: true }, ipv6: open, onion: { isLimited: false, proxy: own } },
      null,
    );
    expect(presentNetworks(reported, present)).toEqual(reported);
    const found = { host: '127.0.0.1', port: 9050, randomizesCredentials: true };
    const shut = {
      name: 'onion',
      limited: true,
      reachable: false,
      proxy: '',
      randomizesProxyCredentials: false,
    };
    present.setRoute('onion', { isLimited: true, proxy: null });
    expect(presentNetworks(reported, present)[2]).toEqual(shut);
    present.setRoute('onion', { isLimited: false, proxy: found });
    expect(presentNetworks(reported, present)[2]).toEqual({
      name: 'onion',
      limited: false,
      reachable: true,
      proxy: '127.0.0.1:9050',
      randomizesProxyCredentials: true,
    });
  });
});
