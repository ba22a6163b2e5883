import { describe, expect, it } from 'vitest';
import { HubPeers } from '../../../../src/hub/protocol/hubPeers.js';

describe('HubPeers', () => {
  it('have the default port, no duplicates, and keep their order', () => {
    const peers = new HubPeers(['b.example', 'a.example:50002', 'b.example:50001']);
    expect(peers.list).toEqual(['b.example:50001', 'a.example:50002']);
    expect(peers.add('a.example:50002')).toBe(false);
    expect(peers.add('c.example')).toBe(true);
    expect(peers.list.at(-1)).toBe('c.example:50001');
  });

  it('are new for a client that knows fewer, also after some left and returned', () => {
    const peers = new HubPeers(['a.example']);
    const known = peers.latest;
    expect(peers.since(known)).toEqual([]);
    peers.add('b.example');
    peers.add('c.example');
    expect(peers.since(known)).toEqual(['b.example:50001', 'c.example:50001']);
    expect(peers.remove('b.example')).toBe(true);
    expect(peers.remove('b.example')).toBe(false);
    expect(peers.since(known)).toEqual(['c.example:50001']);
    peers.add('b.example');
    expect(peers.since(peers.latest - 1)).toEqual(['b.example:50001']);
  });
});
