/**
 * Codec of the reject message, which reports that the sender rejected a message of the receiver (BIP61). Source: Core
 * protocol.h `REJECT`, validation.h.
 */
import { MAX_PAYLOAD_BYTES, readLimitedString, writeString, type MessageCodec } from './codec.js';

const MAX_COMMAND_LENGTH = 12;
/**
 * Maximum length of a reason in bytes. A longer reason is truncated when sent; a received message with a longer reason is
 * malformed.
 */
export const MAX_REJECT_REASON_LENGTH = 111;

export interface RejectMessage {
  /** Command of the rejected message. Strings are latin1. */
  readonly message: string;
  readonly code: number;
  readonly reason: string;
  /** Id of the rejected block or transaction, wire order; null for other messages. */
  readonly hash: Buffer | null;
}

export const rejectCodec: MessageCodec<RejectMessage> = {
  command: 'reject',
  maxSizeBytes: MAX_PAYLOAD_BYTES,
  parse(reader) {
    const message = readLimitedString(reader, MAX_COMMAND_LENGTH);
    const code = reader.u8();
    const reason = readLimitedString(reader, MAX_REJECT_REASON_LENGTH);
    const hasHash = message === 'block' || message === 'tx';
    return { message, code, reason, hash: hasHash ? reader.hash() : null };
  },
  format(writer, { message, code, reason, hash }) {
    writeString(writer, message);
    writer.u8(code);
    writeString(writer, reason.slice(0, MAX_REJECT_REASON_LENGTH));
    if (hash !== null) writer.raw(hash);
  },
};
