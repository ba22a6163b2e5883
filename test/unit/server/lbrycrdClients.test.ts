/** Which callers of the default profile are logged, and how often. */
import { describe, expect, it } from 'vitest';
import { LbrycrdClients } from '../../../src/server/lbrycrdClients.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';

const GO = 'Go-http-client/1.1';
const goCall = (method: string): Buffer =>
  Buffer.from(`{"jsonrpc":"1.0","method":"${method}","params":["one"],"id":7}`);
const cliCall = (method: string): Buffer => Buffer.from(`{"method":"${method}","params":["one"],"id":1}\n`);

function watch(): { clients: LbrycrdClients; lines: string[] } {
  const lines: string[] = [];
  return { clients: new LbrycrdClients({ ...SILENT_LOGGER, info: (line) => void lines.push(line) }), lines };
}

describe('a client of lbrycrd in the default profile', () => {
  it.each([
    ['chainquery', GO, goCall('getclaimsforname'), 'a program written in Go'],
    ['lbrycrd-cli', undefined, cliCall('getvalueforname'), 'lbrycrd-cli'],
  ])('is reported once: %s', (_name, agent, body, said) => {
    const { clients, lines } = watch();
    clients.look(agent, body);
    clients.look(agent, body);
    expect(lines).toEqual([expect.stringContaining(said)]);
    expect(lines[0]).toContain('-compat=lbrycrd');
  });

  it.each([
    ['a method that all profiles answer alike', GO, goCall('getblockcount')],
    ['our own client', 'lbcnode-cli', cliCall('getclaimsforname')],
    ['curl', 'curl/8.5.0', goCall('getclaimsforname')],
    ['a caller without a name', undefined, goCall('getclaimsforname')],
  ])('is not %s', (_name, agent, body) => {
    const { clients, lines } = watch();
    clients.look(agent, body);
    expect(lines).toEqual([]);
  });
});
