/** Fuzz target: the script layer, the scan of the block parser and the addon parse claim prefixes with equal results. */
import { checkClaimScriptSizes } from '../../../src/consensus/checkTransaction.js';
import { OUTPUT_CLAIM_KIND } from '../../../src/primitives/blockLayout.js';
import { parseTxFallback } from '../../../src/primitives/blockScan.js';
import { claimKind, claimPrefixLength as scannedPrefixLength } from '../../../src/primitives/scriptScan.js';
import { formatTransaction } from '../../../src/primitives/transaction.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  CLAIM_ID_SIZE,
  claimNameLength,
  claimPrefixLength,
  decodeClaimScript,
  stripClaimPrefix,
  type ClaimScript,
} from '../../../src/script/claimScript.js';
import { OP } from '../../../src/script/opcodes.js';
import { equalBytes, toHex, type Bytes } from '../../../src/util/bytes.js';
import { randomClaimPrefix, randomScript, type Random } from '../../differential/support.js';
import { law, type Target } from '../support/campaign.js';
import { mutateBytes, noise } from '../support/mutate.js';
import { parseBothWays } from './parsing.js';

/** The entry for this script in the table of a transaction with this one output. */
function columnOf(script: Bytes): number {
  const bytes = formatTransaction({
    version: 1,
    inputs: [
      {
        prevout: { hash: Buffer.alloc(32, 1), index: 0 },
        scriptSig: Buffer.alloc(0),
        sequence: 0,
        witness: [],
      },
    ],
    outputs: [{ value: 1n, script }],
    lockTime: 0,
  });
  const parsed = parseBothWays(parseTxFallback, 'parseTx', bytes);
  law(parsed !== null, 'a transaction parses whatever its output script');
  return parsed.outputs[OUTPUT_CLAIM_KIND]!;
}

/** The same prefix in its shortest form. */
function rebuilt(claim: ClaimScript): Buffer {
  const { kind, name, claimId, value } = claim;
  if (kind === 'claim') return buildClaimPrefix(name, value!);
  if (kind === 'support') return buildSupportPrefix(name, claimId!, value);
  return buildUpdatePrefix(name, claimId!, value!);
}

function checkParts(script: Buffer, claim: ClaimScript): void {
  const { kind, name, claimId, value, prefixLength } = claim;
  law(prefixLength >= 5 && prefixLength <= script.length, 'length of the prefix');
  law(
    name.length + (claimId?.length ?? 0) + (value?.length ?? 0) < prefixLength,
    'the parts lie in the prefix',
  );
  law((kind === 'claim') === (claimId === undefined), 'new claims alone have no id');
  law(claimId === undefined || claimId.length === CLAIM_ID_SIZE, 'size of the id');
  law(kind === 'support' || value !== undefined, 'claims and updates have a value');
  law(claimNameLength(script) === name.length, 'length of the name');
  const prefix = rebuilt(claim);
  const again = decodeClaimScript(prefix);
  law(prefix.length <= prefixLength, 'the shortest form is not longer');
  law(
    again !== null && again.kind === kind && again.prefixLength === prefix.length,
    'the shortest form decodes',
  );
  law(
    (equalBytes(again.name, name) && equalBytes(again.value ?? name, value === undefined ? name : value)) ||
      value?.length === 0,
    'and says the same',
  );
  law(equalBytes(stripClaimPrefix(script), script.subarray(prefixLength)), 'stripping takes the prefix');
  law(claimPrefixLength(script.subarray(0, prefixLength)) === prefixLength, 'what follows does not matter');
  law(claimPrefixLength(script.subarray(0, prefixLength - 1)) === 0, 'a prefix cut short is none');
}

export function checkClaimScript(script: Buffer): string {
  const length = claimPrefixLength(script);
  const claim = decodeClaimScript(script);
  law((claim?.prefixLength ?? 0) === length, 'decoding and measuring agree');
  law(scannedPrefixLength(script, 0, script.length) === length, 'the scan agrees');
  const framed = Buffer.concat([Buffer.of(0xb5, 0x4c), script, Buffer.of(0x75, 0x6d)]);
  law(scannedPrefixLength(framed, 2, 2 + script.length) === length, 'the scan stays within its bounds');
  const kind = length === 0 ? 0 : script[0]!;
  law(claimKind(script, 0, script.length) === kind, 'kind by the scan');
  law(columnOf(script) === kind, 'kind by the table');
  const metadata = claim?.kind === 'support' && claim.value !== undefined;
  law(
    claimPrefixLength(script, false) === (metadata ? 0 : length),
    'metadata alone is refused without leave',
  );
  const sizes = checkClaimScriptSizes(script);
  if (claim === null) {
    law(sizes === null, 'no prefix has no size');
    law(
      stripClaimPrefix(script) === script && claimNameLength(script) === 0,
      'no prefix is stripped of nothing',
    );
    return 'none';
  }
  checkParts(script, claim);
  law((sizes === null) === (length <= 8192 && claim.name.length <= 255), 'limits of sizes');
  return metadata ? 'support with metadata' : claim.kind;
}

/** A push in any of its four length forms, minimal or not, sometimes with a wrong length. */
function anyPush(random: Random, data: Buffer): Buffer {
  const size = random.chance(20) ? random.below(300) : data.length;
  const form = random.below(4);
  if (form === 0 && size < 0x4c) return Buffer.concat([Buffer.of(size), data]);
  if (form <= 1 && size < 0x100) return Buffer.concat([Buffer.of(0x4c, size), data]);
  const head = Buffer.alloc(form === 3 ? 5 : 3);
  head[0] = form === 3 ? 0x4e : 0x4d;
  if (form === 3) head.writeUInt32LE(random.chance(20) ? random.u32() : size, 1);
  else head.writeUInt16LE(size & 0xffff, 1);
  return Buffer.concat([head, data]);
}

function longPrefix(random: Random): Buffer {
  const name = anyPush(random, random.bytes(random.chance(2) ? random.below(30) : 250 + random.below(12)));
  const id = anyPush(random, random.bytes(random.chance(10) ? random.pick([0, 19, 21]) : CLAIM_ID_SIZE));
  const value = anyPush(
    random,
    random.chance(6) ? Buffer.alloc(8100 + random.below(100), 7) : random.bytes(random.below(90)),
  );
  const opcode = random.pick([OP.OP_CLAIM_NAME, OP.OP_SUPPORT_CLAIM, OP.OP_UPDATE_CLAIM]);
  const parts: Buffer[] = [Buffer.of(opcode), name];
  if (opcode !== OP.OP_CLAIM_NAME) parts.push(id);
  if (opcode !== OP.OP_SUPPORT_CLAIM || random.chance(2)) parts.push(value);
  const long = opcode !== OP.OP_CLAIM_NAME && parts.length === 4;
  parts.push(Buffer.of(OP.OP_2DROP, long !== random.chance(20) ? OP.OP_2DROP : OP.OP_DROP));
  return Buffer.concat(parts);
}

export const claimScriptTarget: Target<Buffer> = {
  name: 'claim script',
  make(random) {
    if (random.chance(10)) {
      return Buffer.concat([Buffer.of(random.pick([0xb5, 0xb6, 0xb7])), noise(random, 60)]);
    }
    const prefix = random.chance(2) ? longPrefix(random) : randomClaimPrefix(random);
    const script = Buffer.concat([prefix, randomScript(random)]);
    return random.chance(2) ? mutateBytes(random, script) : script;
  },
  check: checkClaimScript,
  show: toHex,
};
