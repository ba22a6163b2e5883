/** Fuzz target: our parser of selected fields of a claim's value returns the same as decoding the whole value. */
import { decodeClaim } from '../../../src/metadata/claim.js';
import { readClaimFacts } from '../../../src/metadata/claimFacts.js';
import { MetadataError } from '../../../src/metadata/metadataError.js';
import { toHex, type Bytes } from '../../../src/util/bytes.js';
import { law, type Target } from '../support/campaign.js';
import { claimValueTarget } from './claimValue.js';

const hexOf = (bytes: Bytes | null): string | null => (bytes === null ? null : toHex(bytes));

function check(value: Buffer): string {
  const facts = readClaimFacts(value);
  if (value[0] !== 0 && value[0] !== 1) return 'an older format';
  let decoded;
  try {
    decoded = decodeClaim(value);
  } catch (error) {
    if (!(error instanceof MetadataError)) throw error;
    law(facts.kind === null, `a value that does not decode has the kind ${facts.kind}`);
    return 'refused';
  }
  law(facts.kind === decoded.kind, `the kind is ${decoded.kind}, read as ${facts.kind}`);
  if (decoded.kind === null) return 'no kind';
  law(hexOf(facts.channelId) === hexOf(decoded.channelId), 'another channel');
  law(hexOf(facts.signature) === hexOf(decoded.signature), 'another signature');
  law(
    (facts.title === null ? '' : Buffer.from(facts.title).toString()) === decoded.claim.title,
    'another title',
  );
  return decoded.kind;
}

export const claimFactsTarget: Target<Buffer> = {
  name: 'claimFacts',
  make: (random) => claimValueTarget.make(random),
  check,
  show: (value) => value.toString('hex'),
};
