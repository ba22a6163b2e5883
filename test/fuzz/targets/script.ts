/** Fuzz target: the script interpreter. Any script with any flags ends with a verdict within the limits. */
import type { SignatureVerifier } from '../../../src/crypto/ecdsa.js';
import { TransactionChecker } from '../../../src/script/checker.js';
import { evalScript } from '../../../src/script/evalScript.js';
import { verifyScript } from '../../../src/script/interpreter.js';
import { OP } from '../../../src/script/opcodes.js';
import {
  MAX_OPS_PER_SCRIPT,
  MAX_SCRIPT_ELEMENT_SIZE,
  MAX_SCRIPT_SIZE,
  MAX_STACK_SIZE,
  nextOp,
} from '../../../src/script/script.js';
import { SCRIPT_ERROR, type ScriptErrorCode } from '../../../src/script/scriptError.js';
import { PrecomputedSighash } from '../../../src/script/sighash.js';
import { toHex, type Bytes } from '../../../src/util/bytes.js';
import { law, type Target } from '../support/campaign.js';
import { meaningfulFlags, randomSpend, type Spend } from './scriptMaterial.js';

const ERROR_NAMES = new Map<number, string>(Object.entries(SCRIPT_ERROR).map(([name, code]) => [code, name]));

/** Accepts signatures by their bytes only, so that scripts continue after an accepted one that is not a real signature. */
export const COIN_TOSS: SignatureVerifier = {
  verify: (hash, signature, key) =>
    ((signature[signature.length - 1] ?? 0) + (key[1] ?? 0) + hash.length) % 2 === 0,
};

function verdictOf(spend: Spend, flags: number): ScriptErrorCode {
  const checker = new TransactionChecker(
    spend.tx,
    0,
    spend.amount,
    new PrecomputedSighash(spend.tx),
    COIN_TOSS,
  );
  return verifyScript(spend.scriptSig, spend.scriptPubKey, spend.witness, flags, checker);
}

/** Checks limits that a script which ran to its end cannot exceed, without running it. */
function checkStaticLimits(script: Bytes): void {
  law(script.length <= MAX_SCRIPT_SIZE, 'size of a script that ran');
  let operations = 0;
  let depth = 0;
  for (let at = 0; at < script.length;) {
    const opcode = script[at]!;
    const next = nextOp(script, at);
    law(next > at, 'a script that ran is whole');
    if (opcode <= OP.OP_PUSHDATA4) law(next - at - 5 <= MAX_SCRIPT_ELEMENT_SIZE, 'size of a push');
    if (opcode > OP.OP_16) operations++;
    if (opcode === OP.OP_IF || opcode === OP.OP_NOTIF) depth++;
    if (opcode === OP.OP_ENDIF) depth--;
    law(depth >= 0, 'flow is balanced on the way');
    at = next;
  }
  law(depth === 0, 'flow is balanced at the end');
  law(operations <= MAX_OPS_PER_SCRIPT, 'count of operations');
}

function checkEvaluation(spend: Spend, version: 0 | 1): void {
  const checker = new TransactionChecker(
    spend.tx,
    0,
    spend.amount,
    new PrecomputedSighash(spend.tx),
    COIN_TOSS,
  );
  const stack: Bytes[] = spend.witness.slice(0, -1);
  const error = evalScript(stack, spend.scriptPubKey, spend.flags, checker, version);
  law(ERROR_NAMES.has(error), 'an error of the list');
  if (error !== SCRIPT_ERROR.OK) return;
  checkStaticLimits(spend.scriptPubKey);
  law(stack.length <= MAX_STACK_SIZE, 'depth of the stack');
  const given = new Set<Bytes>(spend.witness);
  for (const element of stack) {
    law(given.has(element) || element.length <= MAX_SCRIPT_ELEMENT_SIZE, 'size of an element');
  }
}

function inputsOf({ scriptSig, scriptPubKey, witness }: Spend): string {
  return [scriptSig, scriptPubKey, ...witness].map(toHex).join('|');
}

export function checkSpend(spend: Spend): string {
  const before = inputsOf(spend);
  const verdict = verdictOf(spend, spend.flags);
  const name = ERROR_NAMES.get(verdict);
  law(name !== undefined, () => `verdict ${verdict} is not of the list`);
  law(verdictOf(spend, spend.flags) === verdict, 'the same spend gets the same verdict');
  checkEvaluation(spend, 0);
  checkEvaluation(spend, 1);
  law(inputsOf(spend) === before, 'scripts and witness are left as they were');
  // Every flag is a soft fork or a policy, so it only makes the rules stricter.
  const [fewer, more] = [meaningfulFlags(spend.flags & 0x0d5a9), meaningfulFlags(spend.flags | 0x1a2d4)];
  const isFewer = (fewer & ~spend.flags) === 0;
  if (verdict === SCRIPT_ERROR.OK && isFewer)
    law(verdictOf(spend, fewer) === SCRIPT_ERROR.OK, 'fewer flags accept');
  if (verdict !== SCRIPT_ERROR.OK) law(verdictOf(spend, more) !== SCRIPT_ERROR.OK, 'more flags refuse');
  return name;
}

export const scriptTarget: Target<Spend> = {
  name: 'script',
  make: randomSpend,
  check: checkSpend,
  show(spend) {
    const { version, lockTime, inputs } = spend.tx;
    return [
      `flags ${spend.flags}, version ${version}, lock time ${lockTime}, sequence ${inputs[0]!.sequence}`,
      `scriptSig ${toHex(spend.scriptSig)}`,
      `scriptPubKey ${toHex(spend.scriptPubKey)}`,
      `witness ${spend.witness.map(toHex).join(' ')}`,
    ].join('\n');
  },
};
