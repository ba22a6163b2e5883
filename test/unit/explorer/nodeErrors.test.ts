import { expect, test } from 'vitest';
import { AskError } from '../../../src/explorer/explorerRpcClient.js';
import { isFilling, pageErrorOf, withoutCause } from '../../../src/explorer/nodeErrors.js';

const filling =
  'The claim index is not complete: block 3 of 10. Retry later; getclaimindexinfo shows the progress';
const indexed =
  'No such mempool transaction. Blockchain transactions are still in the process of being indexed. ' +
  'Use gettransaction for wallet transactions.';
const stopped = 'The address index stopped at block 3 of 10 because of an error: EIO\n/home/me';

test.each([
  [-1, filling, 503],
  [-5, indexed, 503],
  [-28, 'Loading block index…', 503],
  [-1, stopped, 501],
  [-1, 'The claim index is not enabled. Start with -claimindex to use it', 501],
  [-5, 'No such mempool or blockchain transaction', 404],
  [-8, 'order must be one of bid, oldest, newest', 400],
  [-32603, 'internal', 500],
  [-32603, 'Block not in main chain', 404],
  [-32603, 'Block is too deep: name proofs reach back to block 393; block 376 is older', 404],
])('error %i (%s) becomes a page with status %i', (code, message, status) => {
  const error = new AskError(code, message);
  expect(pageErrorOf(error).status).toBe(status);
  expect(isFilling(error)).toBe(message === filling || message === indexed);
});

test.each([
  'The block of the first page is not in the active chain any more. Begin with the first page',
  'after: the result of this search is not stored any more. Begin again with an empty "after".',
])('a refused cursor (%s) leads to the first page of the list', (message) => {
  const { status, title, near } = pageErrorOf(new AskError(-8, message), '/name/one?order=newest');
  expect([status, title]).toEqual([404, 'This list has changed']);
  expect(near).toEqual([['/name/one?order=newest', 'The first page of the list']]);
});

test('advice for owners of a wallet is removed', () => {
  expect(pageErrorOf(new AskError(-5, indexed)).message).toMatch(/being indexed\.$/);
});

test('the cause of a stopped index is removed, and other errors stay as they are', () => {
  expect((withoutCause(new AskError(-1, stopped)) as AskError).message).toBe(
    'The address index stopped at block 3 of 10 because of an error. The log of the node has the reason.',
  );
  const other = new AskError(-1, filling);
  expect(withoutCause(other)).toBe(other);
});
