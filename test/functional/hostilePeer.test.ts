/** A scripted peer that sends valid messages and then invalid ones, with the reaction of the node to each. */
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { handshakeScenarios } from './scenarios/handshake.js';
import { blockScenarios } from './scenarios/blocks.js';
import { headerScenarios } from './scenarios/headers.js';
import { limitScenarios } from './scenarios/limits.js';
import { transactionScenarios } from './scenarios/transactions.js';
import { servingScenarios } from './scenarios/serving.js';
import { framingScenarios } from './scenarios/framing.js';
import { PeerFixture, startSubject, type Subject } from './support/peerFixture.js';

describe('a scripted peer', () => {
  let subject: Subject;
  let fixture: PeerFixture;
  beforeAll(async () => {
    subject = await startSubject(process.env['REF']);
    fixture = new PeerFixture(subject);
    await fixture.generate(510);
    await fixture.runAhead();
  });
  afterEach(() => fixture.clear());
  afterAll(() => subject.stop());

  handshakeScenarios(() => fixture);
  framingScenarios(() => fixture);
  servingScenarios(() => fixture);
  transactionScenarios(() => fixture);
  limitScenarios(() => fixture);
  headerScenarios(() => fixture);
  blockScenarios(() => fixture);
});
