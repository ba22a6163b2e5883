/** Fuzz target: the three block parsers, and the conversion of a block to its canonical form. */
import { loadBlock } from '../../../src/chain/blocks/loadedBlock.js';
import { formatBlock, parseBlock, type Block } from '../../../src/primitives/block.js';
import { parseBlockFallback } from '../../../src/primitives/blockScan.js';
import { HEADER_SIZE_BYTES } from '../../../src/primitives/header.js';
import { compactSizeLength } from '../../../src/consensus/txSize.js';
import { Reader } from '../../../src/util/reader.js';
import { formatRawBlock, randomBlock, type Random } from '../../differential/support.js';
import { law, type Target } from '../support/campaign.js';
import { mutateBytes, noise } from '../support/mutate.js';
import { accepts, parseBothWays, sameTransactions } from './parsing.js';

function checkCanonicalForm(bytes: Buffer): boolean {
  return accepts(() => {
    const { raw, parsed, header } = loadBlock(bytes);
    law(
      parsed.consumedBytes === raw.length && parsed.sizeBytes === raw.length,
      'a loaded block is canonical',
    );
    law(header.timeSec === bytes.readUInt32LE(100), 'a loaded block keeps its header');
  });
}

export function checkBlockBytes(bytes: Buffer): string {
  const parsed = parseBothWays(parseBlockFallback, 'parseBlock', bytes);
  const reader = new Reader(bytes);
  let block: Block | null = null;
  const accepted = accepts(() => {
    block = parseBlock(reader);
  });
  law(
    accepted === (parsed !== null),
    () => `plain parser ${accepted ? 'accepts' : 'refuses'}, the table's does not`,
  );
  const loads = checkCanonicalForm(bytes);
  if (block === null || parsed === null) {
    law(!loads, 'what does not parse does not load');
    return 'refused';
  }
  const { transactions } = block as Block;
  law(parsed.consumedBytes === reader.offset, 'both end at the same byte');
  sameTransactions(bytes, parsed, transactions, HEADER_SIZE_BYTES + compactSizeLength(transactions.length));
  const formatted = formatBlock(block);
  law(formatted.length === parsed.sizeBytes, 'size of the formatted block');
  law(formatBlock(block, false).length === parsed.strippedSizeBytes, 'stripped size of the formatted block');
  if (parsed.sizeBytes !== parsed.consumedBytes)
    return loads ? 'loaded in another form' : 'refused in canonical form';
  law(
    formatted.equals(bytes.subarray(0, parsed.consumedBytes)),
    'formatting what was parsed gives the bytes back',
  );
  law(loads, 'a canonical block loads');
  return 'accepted';
}

/** Transactions with marker and few or no inputs, whose form without marker may be read as another transaction. */
function blockOfOddTransactions(random: Random): Buffer {
  const one = (): Buffer => {
    const [inputs, outputs] = [random.below(2), random.below(3)];
    const filler = (length: number): Buffer =>
      random.chance(2) ? Buffer.alloc(length) : random.bytes(length);
    const bodies = [
      ...Array.from({ length: inputs }, () => Buffer.concat([filler(36), Buffer.of(0), filler(4)])),
      Buffer.of(outputs),
      ...Array.from({ length: outputs }, () => {
        const script = filler(random.below(8));
        return Buffer.concat([filler(8), Buffer.of(script.length), script]);
      }),
      ...Array.from({ length: inputs }, () => (random.chance(2) ? Buffer.of(0) : Buffer.of(1, 1, 7))),
    ];
    return Buffer.concat([filler(4), Buffer.of(0, 1, inputs), ...bodies, filler(4)]);
  };
  return formatRawBlock(random, Array.from({ length: 1 + random.below(2) }, one));
}

/** `seeds` are real blocks, mixed with generated ones; may be empty. */
export function blockTarget(seeds: readonly Buffer[]): Target<Buffer> {
  const fresh = (random: Random): Buffer =>
    seeds.length > 0 && random.chance(2) ? random.pick(seeds) : randomBlock(random, 1 + random.below(5));
  return {
    name: 'block',
    make(random) {
      if (random.chance(10)) return noise(random, 400);
      if (random.chance(12)) return blockOfOddTransactions(random);
      const block = fresh(random);
      return random.chance(8) ? block : mutateBytes(random, block, fresh(random));
    },
    check: checkBlockBytes,
    show: (bytes) => bytes.toString('hex'),
  };
}
