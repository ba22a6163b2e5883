/** Maps errors of the node's RPC methods to error pages. */
import { RPC_ERROR } from '../rpc/declare/errors.js';
import { AskError } from './explorerRpcClient.js';
import { PageError } from './pageContext.js';

/** Parts of the messages with which methods refuse a call until an index is complete. */
const FILLING = /index is not complete|in the process of being indexed/;
/** Advice in messages of methods that is for owners of a wallet. */
const FOR_WALLETS = / Use gettransaction for wallet transactions\./;
/** Matches the cause of a stopped index, which may contain paths of the node's machine. */
const CAUSE = /(because of an error): .*$/s;

/** Start of the message with which `getnameproof` refuses a block that is too old. */
const TOO_DEEP = 'Block is too deep: ';
/** Message of the node for a known block that is not in the active chain. */
const NOT_ACTIVE = 'Block not in main chain';

/** Messages with which methods refuse the cursor of a list that has changed, with the reason for the visitor. */
const CHANGED: readonly (readonly [message: string, reason: string])[] = [
  [
    'The block of the first page is not in the active chain any more',
    'A reorganisation disconnected the block of this list.',
  ],
  ['the result of this search is not stored any more', 'The node does not keep this list any more.'],
];

/** Returns a text with a capital at its start and a full stop at its end. */
const sentenceOf = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;

/** Returns the message of a method without advice that only owners of a wallet can follow. */
export const messageOf = ({ message }: AskError): string => message.replace(FOR_WALLETS, '');

/** Whether a method refused a call because an index that it needs is not complete yet. */
export const isFilling = ({ message }: AskError): boolean => FILLING.test(message);

/** Parts of the messages about data that the node downloads or computes in the background. */
const NOT_YET = /(is|are) not available yet|are available once the background validation/;

/** Whether the node will have the missing data later, without a new block. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof AskError && (isFilling(error) || NOT_YET.test(error.message));

/** Returns the error without the cause of a stopped index, for visitors from other machines. */
export function withoutCause(error: unknown): unknown {
  if (!(error instanceof AskError) || !CAUSE.test(error.message)) return error;
  return new AskError(error.code, error.message.replace(CAUSE, '$1. The log of the node has the reason.'));
}

/** HTTP status of a page for an error that the node's RPC method returned. */
function statusOf({ code }: AskError): number {
  if (code === RPC_ERROR.IN_WARMUP) return 503;
  if (code === RPC_ERROR.INVALID_ADDRESS_OR_KEY) return 404;
  if (code === RPC_ERROR.INVALID_PARAMETER) return 400;
  return code === RPC_ERROR.MISC_ERROR ? 501 : 500;
}

/**
 * Returns the error page for an error that a method returned. `now` is the path of the page without the block and the position in
 * a list that the visitor requested.
 */
export function pageErrorOf(error: AskError, now = '/'): PageError {
  const message = messageOf(error);
  const changed = CHANGED.find(([start]) => message.includes(start));
  if (changed !== undefined)
    return new PageError(404, 'This list has changed', changed[1], [[now, 'The first page of the list']]);
  if (isFilling(error))
    return new PageError(503, 'An index is still being filled', message, [
      ['/node', 'Progress of the indexes'],
    ]);
  if (message === NOT_ACTIVE)
    return new PageError(
      404,
      'This block has left the active chain',
      'A reorganisation disconnected it, so there is no state of names after it.',
      [
        [now, 'The page as of now'],
        ['/blocks', 'The latest blocks'],
      ],
    );
  if (message.startsWith(TOO_DEEP))
    return new PageError(
      404,
      'The node has no proofs for this block',
      sentenceOf(message.slice(TOO_DEEP.length)),
    );
  const status = statusOf(error);
  // Only a block from the address of the page can be unknown: the node has the blocks of all objects that it lists.
  if (status === 404 && message === 'Block not found')
    return new PageError(status, 'The block is unknown', 'This node knows no block with this hash.');
  // An error that names `after` means that the cursor in the URL of the page is invalid.
  const isCursor = status === 400 && /\bafter\b/.test(message);
  const near = isCursor ? ([[now, 'The first page of the list']] as const) : [];
  return new PageError(status, 'The node cannot answer', sentenceOf(message), near);
}
