/**
 * One case: a copy of a state is corrupted, started, queried, used and stopped. The result must equal that of an intact copy,
 * or the node must end with one clear message whose advice leads to that result. Everything else is a `failure`.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { loadBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { corrupt, Random, SOFT, type Corruption } from './corruptions.js';
import { act, askAll, feed, firstDifference, type Answer } from './queries.js';
import { CorruptedNode, INDEX_ARGS, NodeEnded } from './runner.js';
import type { CorruptionFixture, State } from './fixture.js';

export type Outcome =
  /** The answers are equal, and the log has no warning. */
  | 'same'
  /** The answers about the chain are equal. A warning names a file that the node does not need. */
  | 'warned'
  /** A warning says that the last blocks could not be read. The answers are equal after these blocks were received again. */
  | 'refetched'
  /** The node refused answers that need the corrupt data, and the log names the file. All other answers are equal. */
  | 'refused'
  /** The node ended at the start, or when it read the corrupt data, with one clear message. */
  | 'message'
  | 'failure';

export interface CaseResult {
  readonly number: number;
  readonly corruption: Corruption;
  readonly outcome: Outcome;
  /** The failure, or the message of the node. */
  readonly detail: string;
}

export interface IntactCopy {
  readonly asked: readonly Answer[];
  readonly acted: readonly Answer[];
}

/** Answers of an intact copy. */
export async function intactCopyOf(
  fixture: CorruptionFixture,
  state: State,
  work: string,
): Promise<IntactCopy> {
  const dataDir = mkdtempSync(join(work, 'intact-'));
  cpSync(state.folder, dataDir, { recursive: true });
  const node = await CorruptedNode.start(dataDir, INDEX_ARGS);
  if (!node.isRunning) throw new Error(`the intact copy of ${state.name} does not start: ${node.stderr}`);
  const asked = await askAll(node, fixture);
  const acted = await act(node, fixture);
  const ending = await node.stop();
  if (ending.code !== 0 || node.stderr !== '')
    throw new Error(`the intact copy of ${state.name} ended badly: ${node.stderr}`);
  rmSync(dataDir, { recursive: true });
  return { asked, acted };
}

class Failure extends Error {
  override readonly name = 'Failure';
}

const TRACE = /^\s+at |node:internal|\b(?:Assertion|Type|Range|Syntax|Reference)Error\b|HARNESS|\[object/m;
/**
 * Words of advice. If the log cannot be opened, the message has the text of the reference without advice, because the tests of
 * the reference compare it exactly.
 */
const ADVICE =
  /Could not open debug log file|-reindex(?:-chainstate)?\b|\b(?:remove|delete|move|bring|restore|make room|free|permission|start again)\b/i;

/** Throws unless the node ended with one message for the operator. */
function mustBeClear(code: number | null, stderr: string, dataDir: string): void {
  const lines = stderr.trim().split('\n');
  if (code !== 1) throw new Failure(`ended with ${code}: ${stderr}`);
  if (TRACE.test(stderr)) throw new Failure(`a stack trace: ${stderr}`);
  const errors = lines.filter((line) => !line.startsWith('Warning:'));
  if (errors.length < 1 || errors.length > 3) throw new Failure(`${errors.length} lines: ${stderr}`);
  if (!errors.join(' ').includes(dataDir)) throw new Failure(`names no file: ${stderr}`);
  if (!ADVICE.test(errors.join(' '))) throw new Failure(`says not what to do: ${stderr}`);
}

/** The first answer that differs and is not a refusal, and whether there were refusals. */
function compare(
  expected: readonly Answer[],
  found: readonly Answer[],
  kinds: readonly string[],
  read: (text: string) => string = (text) => text,
): { wrong: string | null; refused: string | null } {
  let refused: string | null = null;
  for (const [i, answer] of expected.entries()) {
    if (!kinds.includes(answer.kind)) continue;
    const own = found[i]!;
    if (read(own.text) === read(answer.text)) continue;
    const reported = `${answer.question}: ${firstDifference(own.text, answer.text)}`;
    const isCheck = answer.question.startsWith('verifychain') && own.text === 'false';
    if (!isCheck && (!own.isError || answer.isError)) return { wrong: reported, refused };
    refused ??= reported;
  }
  return { wrong: null, refused };
}

/**
 * Tips that an intact node does not know. On regtest, half of the headers with a flipped bit still have valid proof of work.
 * They are then other blocks, which exist only in the files.
 */
function flippedTips(answers: readonly Answer[], { hashes, arrivals }: CorruptionFixture): string[] {
  const known = new Set([...hashes, ...arrivals.map(hashOfBlock)]);
  return answers.flatMap((answer) => tipsOf(answer).filter((tip) => !known.has(tip.split(' ')[1]!)));
}

function withoutTips(answer: Answer, gone: readonly string[]): Answer {
  if (gone.length === 0 || answer.kind !== 'tips') return answer;
  return { ...answer, text: JSON.stringify(tipsOf(answer).filter((tip) => !gone.includes(tip))) };
}

function tipsOf({ kind, isError, text }: Answer): string[] {
  return kind === 'tips' && !isError ? (JSON.parse(text) as string[]) : [];
}

function hashOfBlock(hex: string): string {
  return hashToHex(loadBlock(Buffer.from(hex, 'hex')).hash);
}

/** Whether the wallet lost records. A file that was cut after a whole record looks whole to the node. */
function isWalletCut(
  { kind, path, isShorter }: Corruption,
  { stderr }: Pick<CorruptedNode, 'stderr'>,
): boolean {
  return kind === 'wallet' && (isShorter || stderr.includes(`${basename(path)} were not whole`));
}

/** An answer of a wallet that received its transactions again. Their receive times differ. */
function withoutTimes(text: string): string {
  return text.replaceAll(/"(time|timereceived|timesmart)":\d+/g, '"$1":0');
}

export async function runCase(
  fixture: CorruptionFixture,
  intactCopies: ReadonlyMap<string, IntactCopy>,
  seed: number,
  number: number,
  work: string,
): Promise<CaseResult> {
  const random = new Random(Math.imul(seed, 0x01000193) + number * 7919);
  const state = random.pick(fixture.states);
  const dataDir = mkdtempSync(join(work, `case${number}-`));
  cpSync(state.folder, dataDir, { recursive: true });
  const done = corrupt(dataDir, state, random);
  // Without the addon all results must be equal, except after corruption of an open database, because classic-level does not
  // verify what it reads.
  const isFallback = done.kind !== 'live' && number % 6 === 1;
  const env: Record<string, string> = isFallback ? { LBCNODE_NATIVE: '0' } : {};
  const started: CorruptedNode[] = [];
  try {
    const outcome = await judge(fixture, intactCopies.get(state.name)!, dataDir, done, started, env);
    return { number, corruption: done, ...outcome };
  } catch (error) {
    const detail = error instanceof Failure ? error.message : String((error as Error).stack);
    return { number, corruption: done, outcome: 'failure', detail };
  } finally {
    for (const node of started) if (node.isRunning) await node.kill();
    if (done.kind === 'folder' && existsSync(done.path)) done.mend?.();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

type Judged = Pick<CaseResult, 'outcome' | 'detail'>;

async function judge(
  fixture: CorruptionFixture,
  intact: IntactCopy,
  dataDir: string,
  done: Corruption,
  started: CorruptedNode[],
  env: Record<string, string>,
): Promise<Judged> {
  const logBefore = new CorruptLog(dataDir);
  const node = await CorruptedNode.start(dataDir, INDEX_ARGS, env);
  started.push(node);
  let acting = false;
  const ended = async (): Promise<Judged> => {
    const { code } = await node.ended;
    mustBeClear(code, node.stderr, dataDir);
    await followAdvice(fixture, intact, dataDir, done, node.stderr, started, acting);
    return { outcome: 'message', detail: node.stderr.trim() };
  };
  if (!node.isRunning) return ended();
  done.later?.();
  try {
    let flipped: string[] = [];
    const ask = async (): Promise<Answer[]> => {
      const answers = await askAll(node, fixture);
      if (done.kind === 'blk') flipped = flippedTips(answers, fixture);
      return answers.map((answer) => withoutTips(answer, flipped));
    };
    let asked = await ask();
    let refetched = false;
    const isShorter = compare(intact.asked.slice(0, 1), asked, ['chain']).wrong;
    const lacksBranch = compare(intact.asked, asked, ['tips']).wrong;
    if ((done.kind === 'blk' || done.kind === 'copy') && (isShorter ?? lacksBranch)) {
      // The corrupt data contained blocks that were written after the last flush. The node cannot recognise that a file was
      // longer, or that a valid block was another one.
      const isValid = flipped.some((tip) => !tip.endsWith(' invalid'));
      if (!done.isShorter && !isValid && !node.stderr.includes(basename(done.path)))
        throw new Failure(`without a warning ${isShorter ?? lacksBranch}`);
      refetched = true;
      await feed(node, fixture);
      asked = await ask();
    }
    const all = compare(intact.asked, asked, ['chain', 'tips']);
    if (all.wrong) throw new Failure(all.wrong);
    const changed = isWalletCut(done, node) ? withoutTimes : undefined;
    const wallet = compare(intact.asked, asked, ['wallet'], changed);
    if (wallet.wrong && !(done.kind === 'wallet' && done.isDeleted)) throw new Failure(wallet.wrong);
    const isSoft = SOFT.includes(done.kind);
    // Unconfirmed transactions that only the wallet had are lost with it.
    const isForgotten = done.kind === 'copy' || (done.kind === 'wallet' && done.isDeleted === true);
    const soft = compare(intact.asked, asked, isSoft ? ['soft', 'fees'] : isForgotten ? [] : ['soft']);
    const softDiffers = soft.wrong ?? soft.refused;
    if (done.kind === 'peers' && !done.isDeleted && !done.isWhole && node.stderr === '')
      throw new Failure('without a warning peers.dat was taken as it is');
    if (softDiffers && !(isSoft && done.isDeleted) && !node.stderr.includes(basename(done.path)))
      throw new Failure(`without a warning ${softDiffers}`);
    acting = true;
    const acted = compare(intact.acted, await act(node, fixture), ['chain']);
    if (acted.wrong) throw new Failure(acted.wrong);
    const refused = all.refused ?? acted.refused ?? wallet.refused;
    const ending = await node.stop();
    if (ending.code !== 0) return await ended();
    if (TRACE.test(node.stderr)) throw new Failure(`a stack trace: ${node.stderr}`);
    if (refused) {
      const said = logBefore.linesAbout(basename(done.path));
      if (said.length === 0) throw new Failure(`the log does not name ${basename(done.path)}: ${refused}`);
      const advice = said.find((line) => ADVICE.test(line));
      if (advice === undefined) throw new Failure(`the log says not what to do: ${said[0]}`);
      await followAdvice(fixture, intact, dataDir, done, advice, started, true);
      return { outcome: 'refused', detail: refused };
    }
    if (refetched) return { outcome: 'refetched', detail: node.stderr.trim() };
    if (node.stderr !== '') return { outcome: 'warned', detail: node.stderr.trim() };
    return { outcome: 'same', detail: '' };
  } catch (error) {
    if (error instanceof NodeEnded) return ended();
    throw error;
  }
}

/** The text that is written to the log from now on. */
class CorruptLog {
  private readonly path: string;
  private readonly begin: number;
  constructor(dataDir: string) {
    this.path = join(dataDir, 'regtest', 'debug.log');
    this.begin = readText(this.path).length;
  }
  linesAbout(file: string): string[] {
    const text = readText(this.path).slice(this.begin);
    return text.split('\n').filter((line) => line.includes(file));
  }
}

/**
 * Follows the advice of the message. After the lost blocks were received again, every answer must equal that of the intact
 * copy.
 */
async function followAdvice(
  fixture: CorruptionFixture,
  intact: IntactCopy,
  dataDir: string,
  done: Corruption,
  message: string,
  started: CorruptedNode[],
  hasActed = false,
): Promise<void> {
  if (done.isFolder && /\b(?:remove|move|delete)\b/i.test(message)) {
    rmSync(done.path, { recursive: true, force: true });
  }
  const option = /-reindex(?:-chainstate)?\b/.exec(message)?.[0];
  if (option === undefined) done.mend?.();
  if (option === undefined && !done.isFolder && done.mend === null)
    throw new Failure(`no advice that can be followed: ${message}`);
  const node = await CorruptedNode.start(dataDir, [...INDEX_ARGS, ...(option ? [option] : [])]);
  started.push(node);
  if (!node.isRunning) throw new Failure(`after ${option}: ${node.stderr}\n(the advice: ${message})`);
  await feed(node, fixture);
  if (!hasActed) {
    const { wrong, refused } = compare(intact.asked, await askAll(node, fixture), [
      'chain',
      'tips',
      'wallet',
    ]);
    if (wrong ?? refused) throw new Failure(`after ${option}: ${wrong ?? refused}`);
  }
  const acted = compare(
    intact.acted.slice(fixture.doubleSpends.length),
    (await act(node, fixture)).slice(fixture.doubleSpends.length),
    ['chain'],
  );
  // The second node may already have what the first one accepted.
  const reported = [acted.wrong, acted.refused].find(
    (one) => one !== null && one !== undefined && !one.includes('submitblock'),
  );
  if (reported) throw new Failure(`after ${option}: ${reported}`);
  const { code } = await node.stop();
  if (code !== 0) throw new Failure(`after ${option} the stop failed: ${node.stderr}`);
}

function readText(path: string): string {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, 'utf8') : '';
  } catch {
    // Another object has the name of the file.
    return '';
  }
}
