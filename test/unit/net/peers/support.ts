/** A peer manager without real peers, and messages that another node would send to it. */
import { formatFrame } from '../../../../src/net/framing.js';
import { formatPayload } from '../../../../src/net/messages/codec.js';
import { versionCodec, type VersionMessage } from '../../../../src/net/messages/version.js';
import { NO_ADDRESS } from '../../../../src/net/netAddress.js';
import { PeerManager } from '../../../../src/net/peers/peerManager.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { seededRandom, START_SEC } from '../addressBook/support.js';

export const MAGIC = Buffer.from('fae4aad1', 'hex');
const SERVICES = 13n;
const VERSION: VersionMessage = {
  version: 70_015,
  services: SERVICES,
  timeSec: BigInt(START_SEC),
  receiver: NO_ADDRESS,
  receiverServices: 0n,
  sender: NO_ADDRESS,
  senderServices: SERVICES,
  nonce: 5n,
  userAgent: '/other/',
  startHeight: 0,
  relay: true,
};

export const frame = (command: string, payload = Buffer.alloc(0)): Buffer =>
  formatFrame(MAGIC, command, payload);
export const versionFrame = (changes: Partial<VersionMessage> = {}): Buffer =>
  frame('version', Buffer.from(formatPayload(versionCodec, { ...VERSION, ...changes })));

type ManagerDeps = ConstructorParameters<typeof PeerManager>[1];

/** For each disconnected peer, a line `<peer>: <reason>` is added to `reasons`. */
export function makeManager(
  reasons: string[],
  deps: Partial<ManagerDeps> = {},
  options: Partial<ConstructorParameters<typeof PeerManager>[0]> = {},
): PeerManager {
  const log = {
    ...SILENT_LOGGER,
    debug: (_category: string, message: string | (() => string)) => {
      const text = typeof message === 'string' ? message : message();
      const reason = /^disconnecting peer=([0-9]+: .*)$/.exec(text)?.[1];
      if (reason !== undefined) reasons.push(reason);
    },
  };
  return new PeerManager(
    {
      magic: MAGIC,
      banScore: 100,
      maxReceiveBytes: 5_000_000,
      maxSendBytes: 1_000_000,
      sendsRejects: true,
      dropsOneIn: 0,
      logsAddresses: false,
      userAgent: '/test/',
      relaysTransactions: true,
      ...options,
    },
    {
      log,
      random: seededRandom(1),
      addresses: { good: () => undefined, connected: () => undefined, setServices: () => undefined },
      ban: () => undefined,
      nowMs: () => 1_000_000,
      nowSec: () => START_SEC,
      adjustedTimeSec: () => START_SEC,
      height: () => 0,
      localServices: () => SERVICES,
      onSent: () => undefined,
      onVersion: () => undefined,
      ...deps,
    },
  );
}
