import { expect, it } from 'vitest';
import { CloseStack } from '../../../../src/node/start/closeStack.js';

it('closes all, the last first, and reports failures afterwards', async () => {
  const closed: string[] = [];
  const stack = new CloseStack();
  const closer = (name: string, error?: Error) => async (): Promise<void> => {
    await Promise.resolve();
    closed.push(name);
    if (error) throw error;
  };
  stack.push(closer('first'));
  stack.push(closer('second', new Error('disk')));
  stack.push(closer('third'));
  await expect(stack.close()).rejects.toThrow(/^disk$/);
  expect(closed).toEqual(['third', 'second', 'first']);
  // All entries were removed, so a second call does nothing.
  await stack.close();
  expect(closed).toHaveLength(3);

  stack.push(closer('a', new Error('one')));
  stack.push(() => {
    throw new Error('two');
  });
  const failure = await stack.close().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(AggregateError);
  expect((failure as AggregateError).message).toBe('two; one');
  expect(closed.at(-1)).toBe('a');
});
