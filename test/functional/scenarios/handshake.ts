/** The first messages of a connection, in order and out of order. */
import { describe, expect, it } from 'vitest';
import { until } from '../support/network.js';
import { readVersion, text, u32, version } from '../support/rawMessages.js';
import { listen, RawPeer } from '../support/rawPeer.js';
import {
  DUPLICATE,
  MALFORMED,
  nextReject,
  OBSOLETE,
  rejectsIn,
  type PeerFixture,
} from '../support/peerFixture.js';

export function handshakeScenarios(fixture: () => PeerFixture): void {
  describe('handshake', () => {
    it('answers a version with its own and a verack, then announces how it wants blocks', async () => {
      const peer = await fixture().open();
      peer.send('version', version({ height: 5 }));
      const theirs = readVersion(await peer.next('version'));
      expect(theirs).toMatchObject({ version: 70015, relay: true });
      expect(theirs.services & 13n).toBe(13n);
      expect(theirs.height).toBe(await fixture().rpc('getblockcount'));
      expect(theirs.userAgent).toMatch(/^\/.*\/$/);
      await peer.next('verack');
      expect(peer.inbox).toEqual([]);
      peer.send('verack');
      const first = (await peer.settled()).slice(0, 3);
      expect(first.map(({ command, payload }) => `${command} ${payload.toString('hex')}`)).toEqual([
        'sendheaders ',
        'sendcmpct 000200000000000000',
        'sendcmpct 000100000000000000',
      ]);
      const info = await fixture().infoOf(peer);
      expect(info).toMatchObject({
        inbound: true,
        addrlocal: '127.0.0.1:1',
        version: 70015,
        subver: '/scripted:1/',
        startingheight: 5,
        banscore: 0,
      });
      const commands = Object.keys(info!.bytessent_per_msg);
      expect(commands).toEqual([...commands].sort());
    });

    it('adds a point for each message before the version, and bans at a hundred', async () => {
      const peer = await fixture().open();
      for (let i = 0; i < 99; i++) peer.send('ping', Buffer.alloc(8));
      peer.send('reject', Buffer.concat([text('version'), Buffer.of(1), text('')]));
      await until('99 points', async () => (await fixture().infoOf(peer))?.banscore === 99);
      expect(peer.inbox).toEqual([]);
      peer.send('verack');
      await fixture().expectSentAway(peer);
      expect(peer.inbox).toEqual([]);
    });

    it('adds a point for each message before the verack, and answers none', async () => {
      const peer = await fixture().open();
      peer.send('version', version());
      peer.send('getaddr');
      peer.send('inv', Buffer.of(0));
      peer.send('ping', Buffer.alloc(8));
      peer.send('verack');
      await fixture().expectScore(peer, 3);
    });

    it('accepts only one version message', async () => {
      const peer = await fixture().greet();
      peer.send('version', version());
      expect(await nextReject(peer)).toEqual({
        message: 'version',
        code: DUPLICATE,
        reason: 'Duplicate version message',
        hash: null,
      });
      await fixture().expectScore(peer, 1);
    });

    it('uses the protocol of old versions, and disconnects obsolete ones', async () => {
      const obsolete = await fixture().open();
      obsolete.send('version', version({ version: 31799 }));
      expect(await nextReject(obsolete)).toMatchObject({
        message: 'version',
        code: OBSOLETE,
        reason: 'Version must be 31800 or greater',
      });
      await fixture().expectSentAway(obsolete);

      const old = await fixture().greet({ version: 60000 });
      old.send('ping', Buffer.alloc(8));
      old.send('getheaders', Buffer.concat([u32(60000), Buffer.of(0), Buffer.alloc(32)]));
      old.send('getdata', Buffer.concat([Buffer.of(1), u32(1), Buffer.alloc(32, 9)]));
      await old.next('notfound');
      expect(old.inbox.filter(({ command }) => /^(pong|send.*|feefilter)$/.test(command))).toEqual([]);
      expect((await fixture().infoOf(old))?.banscore).toBe(0);
    });

    it('accepts a version that ends early at a field boundary, and no truncated one', async () => {
      const short = await fixture().open();
      const whole = version();
      short.send('version', whole.subarray(0, 45));
      expect(await nextReject(short)).toMatchObject({ message: 'version', code: MALFORMED });
      short.send('version', whole.subarray(0, 46));
      await short.next('version');
      await short.next('verack');
      short.send('verack');
      await fixture().expectScore(short, 0);
      expect(await fixture().infoOf(short)).toMatchObject({ subver: '', startingheight: -1 });
    });

    it('accepts a user agent of 256 bytes, shows its harmless characters, and refuses a longer one', async () => {
      const peer = await fixture().open();
      peer.send('version', version({ userAgent: 'x'.repeat(257) }));
      expect(await nextReject(peer)).toMatchObject({ message: 'version', code: MALFORMED });
      await peer.handshake({ userAgent: '/a<b>\x1b[2J\xff/'.padEnd(256, 'x') });
      await fixture().expectScore(peer, 0);
      expect((await fixture().infoOf(peer))!.subver).toBe(`/ab2J/${'x'.repeat(245)}`);
    });

    it('detects a connection to itself by its nonce', async () => {
      const listener = await listen();
      await fixture().rpc('addnode', [listener.address, 'onetry']);
      const outgoing = await listener.next();
      const { nonce } = readVersion(await outgoing.next('version'));
      const mirror = await fixture().open();
      mirror.send('version', version({ nonce }));
      await fixture().expectSentAway(mirror);
      expect(mirror.inbox).toEqual([]);
      outgoing.close();
      listener.close();
      // The nonce of a closed connection has no effect.
      await until('its end', async () => (await fixture().rpc<unknown[]>('getpeerinfo')).length === 0);
      await fixture().greet({ nonce });
    });

    it('sends the first message on outbound connections, and never disconnects peers of the operator', async () => {
      const listener = await listen();
      await fixture().rpc('addnode', [listener.address, 'onetry']);
      const peer = await listener.next();
      readVersion(await peer.next('version'));
      expect(peer.inbox).toEqual([]);
      peer.send('version', version());
      await peer.next('verack');
      peer.send('verack');
      await peer.next('getaddr');
      for (let i = 0; i < 6; i++)
        peer.send('addr', Buffer.concat([Buffer.from('fde903', 'hex'), Buffer.alloc(30_030)]));
      expect(rejectsIn(await peer.settled())).toEqual([]);
      const [info] = await fixture().rpc<{ banscore: number; addnode: boolean }[]>('getpeerinfo');
      expect(info).toMatchObject({ addnode: true, banscore: 120 });
      peer.close();
      listener.close();
    });

    it('accepts peers with any clock and services', async () => {
      const peer = await RawPeer.greet(fixture().subject.port, { services: 0n, timeSec: 1, relay: false });
      await fixture().expectScore(peer, 0);
      expect(await fixture().infoOf(peer)).toMatchObject({ services: '0'.repeat(16), relaytxes: false });
      peer.close();
    });
  });
}
