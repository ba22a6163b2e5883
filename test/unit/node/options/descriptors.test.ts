import { describe, expect, it } from 'vitest';
import { shareConnections, type WantedConnections } from '../../../../src/node/options/descriptors.js';

const PEERS = 125;
/** With -walletrpcport, -ws and -hub. */
const ALL: WantedConnections = { http: 512, httpServers: 2, webSockets: 32, hub: 1000 };

function share(wanted: Partial<WantedConnections>, limit: number) {
  const warnings: string[] = [];
  const shared = shareConnections({ ...ALL, ...wanted }, limit, PEERS, (text) => void warnings.push(text));
  const servers = wanted.httpServers ?? ALL.httpServers;
  const sum = shared.httpPerServer * servers + shared.webSockets + shared.hub;
  return { ...shared, sum, warnings };
}

/** Files, LevelDB's tables beyond those counted among them, peers and -addnode. */
const taken = (limit: number): number =>
  150 + Math.max(0, Math.min(1010, Math.floor(limit / 5)) - 100) + PEERS + 8;

describe('descriptors', () => {
  it('are enough for all requests if the system allows it', () => {
    for (const limit of [Infinity, 1_048_576, 4096]) {
      const { httpPerServer, webSockets, hub, warnings } = share({}, limit);
      expect({ httpPerServer, webSockets, hub }).toEqual({ httpPerServer: 512, webSockets: 32, hub: 1000 });
      expect(warnings).toEqual([]);
    }
    expect(share({ httpServers: 1, webSockets: 0, hub: 0 }, 1024)).toMatchObject({
      httpPerServer: 512,
      warnings: [],
    });
  });

  it('are never reserved twice, for any requests', () => {
    for (const limit of [320, 400, 512, 777, 1024, 2048])
      for (const httpServers of [0, 1, 2])
        for (const webSockets of [0, 32, 5000])
          for (const hub of [0, 10, 1000]) {
            const shared = share({ httpServers, webSockets, hub }, limit);
            expect(shared.sum + taken(limit)).toBeLessThanOrEqual(limit);
            // Each requested server has at least one descriptor.
            if (httpServers > 0) expect(shared.httpPerServer).toBeGreaterThan(0);
            if (webSockets > 0) expect(shared.webSockets).toBeGreaterThan(0);
            if (hub > 0) expect(shared.hub).toBeGreaterThan(0);
          }
  });

  it('cause a warning if there are too few', () => {
    const { httpPerServer, webSockets, hub, warnings } = share({}, 1024);
    expect(2 * httpPerServer + webSockets + hub).toBeGreaterThan(1024 - taken(1024) - 2);
    expect(warnings).toEqual([
      `Reducing -rpcmaxconnections from 512 to ${httpPerServer}, because of system limitations.`,
      `Reducing -hubmaxsessions from 1000 to ${hub}, because of system limitations.`,
    ]);
  });
});
