/**
 * Logs reject messages of peers (BIP61). This node does nothing else with these messages. Source: Core net_processing.cpp
 * `ProcessMessage` (reject).
 */
import { hashToHex } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import type { RejectMessage } from '../messages/reject.js';
import type { MessageHandler, Peer } from '../messageHandler.js';

/**
 * Characters of a peer's text that are removed before it is logged. The message codec limits the length. Source:
 * `SanitizeString`.
 */
const UNSAFE = /[^A-Za-z0-9 .,;\-_/:?@()]/g;

export class RejectMessages implements MessageHandler {
  readonly handlers = { reject: (_peer: Peer, message: RejectMessage) => this.onReject(message) };
  private readonly log: Logger;

  constructor(deps: { readonly log: Logger }) {
    this.log = deps.log;
  }

  private onReject({ message, code, reason, hash }: RejectMessage): void {
    this.log.debug('net', () => {
      const what = hash === null ? '' : `: hash ${hashToHex(hash)}`;
      return `Reject ${`${message} code ${code}: ${reason}${what}`.replace(UNSAFE, '')}`;
    });
  }
}
