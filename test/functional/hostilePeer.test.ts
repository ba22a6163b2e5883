/** A scripted peer that sends valid messages and then invalid ones, with the reaction of the node to each. */
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { handshakeScenarios } from './scenarios/handshake.js';
import { blockScenarios } from './scenarios/blocks.js';
import { headerScenarios } from './scenarios/headers.js';
import { limitScenarios } from './scenarios/limits.js';
import { transactionScenarios } from './scenarios/transactions.js';
import { servingScenarios } from './scenarios/serving.js';
import { framingScenarios } from './scenarios/framing.js';
import { Stage, startSubject, type Subject } from './support/stage.js';

describe('a scripted peer', () => {
  let subject: Subject;
  let stage: Stage;
  beforeAll(async () => {
    subject = await startSubject(process.env['REF']);
    stage = new Stage(subject);
    await stage.generate(510);
    await stage.runAhead();
  });
  afterEach(() => stage.clear());
  afterAll(() => subject.stop());

  handshakeScenarios(() => stage);
  framingScenarios(() => stage);
  servingScenarios(() => stage);
  transactionScenarios(() => stage);
  limitScenarios(() => stage);
  headerScenarios(() => stage);
  blockScenarios(() => stage);
});
