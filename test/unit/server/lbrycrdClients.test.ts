/** Which callers of the default profile are shown to the operator, and how often. */
import { describe, expect, it } from 'vitest';
import { LbrycrdClients } from '../../../src/server/lbrycrdClients.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';

const GO = { 'user-agent': 'Go-http-client/1.1' };
const goCall = (method: string): Buffer =>
  Buffer.from(`{"jsonrpc":"1.0","method":"${method}","params":["one"],"id":7}`);
const cliCall = (method: string): Buffer => Buffer.from(`{"method":"${method}","params":["one"],"id":1}\n`);

function watch(): { clients: LbrycrdClients; lines: string[] } {
  const lines: string[] = [];
  return { clients: new LbrycrdClients({ ...SILENT_LOGGER, info: (line) => void lines.push(line) }), lines };
}

describe('a client of lbrycrd on the default profile', () => {
  it.each([
    ['chainquery', GO, goCall('getclaimsforname'), 'a program in Go'],
    ['lbrycrd-cli', {}, cliCall('getvalueforname'), 'lbrycrd-cli'],
  ])('is told once: %s', (_name, headers, body, said) => {
    const { clients, lines } = watch();
    clients.look(headers, body);
    clients.look(headers, body);
    expect(lines).toEqual([expect.stringContaining(said)]);
    expect(lines[0]).toContain('-compat=lbrycrd');
  });

  it.each([
    ['a method that all profiles answer alike', GO, goCall('getblockcount')],
    ['our own client', { 'user-agent': 'lbcnode-cli' }, cliCall('getclaimsforname')],
    ['curl', { 'user-agent': 'curl/8.5.0' }, goCall('getclaimsforname')],
    ['a caller without a name', {}, goCall('getclaimsforname')],
  ])('is not %s', (_name, headers, body) => {
    const { clients, lines } = watch();
    clients.look(headers, body);
    expect(lines).toEqual([]);
  });
});
