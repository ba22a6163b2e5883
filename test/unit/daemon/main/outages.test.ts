import { expect, it } from 'vitest';
import { Outages } from '../../../../src/daemon/main/outages.js';

it('reports each unreachable part of the network, until it is reachable', () => {
  const lines: string[] = [];
  let nowMs = 0;
  let due: (() => void) | null = null;
  const contact: { hub: boolean | null; dht: boolean | null } = { hub: false, dht: null };
  const outages = new Outages(
    [
      { what: 'a hub', advice: () => 'Check lbryum_servers.', isReached: () => contact.hub },
      { what: 'the DHT', advice: () => 'Check known_dht_nodes.', isReached: () => contact.dht },
    ],
    {
      clock: {
        nowSec: () => 0,
        nowMs: () => nowMs,
        after: (ms, task) => {
          due = () => {
            nowMs += ms;
            task();
          };
          return { cancel: () => (due = null) };
        },
      },
      log: { info: (line) => void lines.push(line), warn: (line) => void lines.push(line) },
    },
  );
  const pass = (seconds: number): void => {
    for (const end = nowMs + seconds * 1000; nowMs < end;) due!();
  };
  outages.start();
  pass(55);
  expect([outages.warnings, lines]).toEqual([[], []]);
  contact.dht = false;
  pass(5);
  expect(outages.warnings).toEqual(['No connection to a hub for 1 minute. Check lbryum_servers.']);
  pass(60);
  expect(outages.warnings).toEqual([
    'No connection to a hub for 2 minutes. Check lbryum_servers.',
    'No connection to the DHT for 1 minute. Check known_dht_nodes.',
  ]);
  contact.hub = true;
  pass(5);
  expect(outages.warnings).toHaveLength(1);
  expect(lines.at(-1)).toBe('Connected to a hub again, after 2 minutes.');
  outages.stop();
  expect(due).toBeNull();
});
