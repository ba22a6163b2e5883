/** Compact filters compared with the vectors of BIP158 (blocks of Bitcoin's test network). */
import { describe, expect, it } from 'vitest';
import { buildFilter, FilterElements, filterHash, filterHeader } from '../../../src/index/compactFilter.js';
import { hashFromHex, hashToHex, toHex } from '../../../src/util/bytes.js';

interface Vector {
  readonly what: string;
  readonly block: string;
  readonly outputs: readonly string[];
  readonly spent: readonly string[];
  readonly before: string;
  readonly filter: string;
  readonly header: string;
}

const payTo = (hash: string): string => `76a914${hash}88ac`;

const VECTORS: readonly Vector[] = [
  {
    what: 'the genesis block',
    block: '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943',
    outputs: [
      '4104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac',
    ],
    spent: [],
    before: '00'.repeat(32),
    filter: '019dfca8',
    header: '21584579b7eb08997773e5aeff3a7f932700042d0ed2a6129012b7d7ae81b750',
  },
  {
    what: 'an output script that does not parse',
    block: '0000000000000c00901f2049055e2a437c819d79a3d54fd63e6af796cd7b8a79',
    outputs: ['76a914c486de584a735ec2f22da7cd9681614681f92173d83d0aa68688ac'],
    spent: [],
    before: 'e9d729b72d533c29abe5276d5cf6c152f3723f10efe000b1e0c9ca5265a8beb6',
    filter: '010c0b40',
    header: 'e6137ae5a8424c40da1e5023c16975cc97b09300b4c050e6b1c713add3836c40',
  },
  {
    what: 'a witness commitment, and a spent witness script',
    block: '000000006f27ddfe1dd680044a34548f41bed47eba9e6f0b310da21423bc5f33',
    outputs: [
      payTo('f2c25ac3d59f3d674b1d1d0a25c27339aaac0ba6'),
      '6a24aa21a9edcb26cb3052426b9ebb4d19c819ef87c19677bbf3a7c46ef0855bd1b2abe83491',
      '001446c29eabe8208a33aa1023c741fa79aa92e881ff',
    ],
    spent: ['002027a5000c7917f785d8fc6e5a55adfca8717ecb973ebb7743849ff956d896a7ed'],
    before: 'a4a4d6c6034da8aa06f01fe71f1fffbd79e032006b07f6c7a2c60a66aa310c01',
    filter: '0385acb4f0fe889ef0',
    header: '3588f34fbbc11640f9ed40b2a66a4e096215d50389691309c1dac74d4268aa81',
  },
  {
    what: 'the same script several times',
    block: '000000000000015d6077a411a8f5cc95caf775ccf11c54e27df75ce58d187313',
    outputs: [
      payTo('876fbb82ec05caa6af7a3b5e5a983aae6c6cc6d6'),
      '6a24aa21a9ed5c748e121c0fe146d973a4ac26fa4a68b0549d46ee22d25f50a5e46fe1b377ee',
      '52534b424c4f434b3acd16772ad61a3c5f00287480b720f6035d5e54c9efc71be94bb5e3727f109090',
      payTo('3ebc40e411ed3c76f86711507ab9523008903972'),
      payTo('50333046115eaa0ac9e0216565f945070e445739'),
      payTo('c01a7ca16b47be50cbdbc60724f701d52d751566'),
      'a914b7e6f7ff8658b2d1fb107e3d7be7af4742e6b1b387',
      payTo('913bcc2be49cb534c20474c4dee1e9c4c317e7eb'),
      'a9148fc37ad460fdfbd2b44fe446f6e3071a4f64faa687',
      payTo('913bcc2be49cb534c20474c4dee1e9c4c317e7eb'),
    ],
    spent: [
      'a914feb8a29635c56d9cd913122f90678756bf23887687',
      payTo('c01a7ca16b47be50cbdbc60724f701d52d751566'),
      payTo('913bcc2be49cb534c20474c4dee1e9c4c317e7eb'),
    ],
    before: 'da49977ba1ee0d620a2c4f8f646b03cd0d230f5c6c994722e3ba884889f0be1a',
    filter: '09027acea61b6cc3fb33f5d52f7d088a6b2f75d234e89ca800',
    header: '4cd9dd007a325199102f1fc0b7d77ca25ee3c84d46018c4353ecfcb56c0d3e7a',
  },
];

function filterOf({ outputs, spent, block }: Pick<Vector, 'outputs' | 'spent' | 'block'>): Buffer {
  const elements = new FilterElements();
  for (const script of outputs) elements.addOutput(Buffer.from(script, 'hex'));
  for (const script of spent) elements.addSpent(Buffer.from(script, 'hex'));
  return buildFilter(elements.list, hashFromHex(block));
}

describe('the compact filter of a block', () => {
  it.each(VECTORS)('equals that of BIP158: $what', (vector) => {
    const filter = filterOf(vector);
    expect(toHex(filter)).toBe(vector.filter);
    const header = filterHeader(filterHash(filter), hashFromHex(vector.before));
    expect(hashToHex(header)).toBe(vector.header);
  });

  it('is a zero without scripts', () => {
    expect(toHex(filterOf({ block: '00'.repeat(32), outputs: ['6a', '', '6a0101'], spent: [''] }))).toBe(
      '00',
    );
  });
});
