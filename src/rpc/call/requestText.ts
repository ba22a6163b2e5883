/**
 * Parses the text of requests: small ones synchronously, large ones in slices with yields to the event loop, batches one
 * element at a time. Does not depend on methods.
 */
import type { JsonValue } from '../../util/json/json.js';
import { JsonParseError, JsonScanner } from '../../util/json/jsonParse.js';
import { inSlices } from '../../scheduler/slices.js';
import { atOnce, type Slices } from '../../util/slices.js';

/** Maximum size in bytes of a request body that is parsed synchronously. Parsing this size takes a few milliseconds. */
export const AT_ONCE_BYTES = 1 << 18;

/** Parses the next value and the white space after it, in slices. */
export function* readWhole(scanner: JsonScanner): Slices<JsonValue> {
  const value = yield* scanner.readValueInSlices();
  yield* scanner.skipSpaceInSlices();
  return value;
}

/** Checks the syntax of a whole batch. Rejects if it is invalid, before any element is run. */
export async function checkBatchSyntax(text: string): Promise<void> {
  const work = skipBatch(new JsonScanner(text));
  if (text.length > AT_ONCE_BYTES) await inSlices(work);
  else atOnce(work);
}

function* skipBatch(scanner: JsonScanner): Slices<void> {
  yield* scanner.skipSpaceInSlices();
  scanner.take('[');
  if (!scanner.take(']')) {
    do {
      yield* scanner.skipValueInSlices();
      yield* scanner.skipSpaceInSlices();
      yield;
    } while (scanner.take(','));
    if (!scanner.take(']')) scanner.fail();
  }
  yield* scanner.skipSpaceInSlices();
  if (!scanner.atEnd()) scanner.fail();
}

/** Parses the next element of a batch whose syntax was checked before. An element with too many values is parsed as null. */
export function readElement(scanner: JsonScanner): JsonValue | Promise<JsonValue> {
  if (scanner.text.length > AT_ONCE_BYTES) return readElementInSlices(scanner);
  const start = scanner.offset;
  try {
    return scanner.readValue();
  } catch (error) {
    if (!(error instanceof JsonParseError)) throw error;
    scanner.offset = start;
    scanner.skipValue();
    return null;
  }
}

async function readElementInSlices(scanner: JsonScanner): Promise<JsonValue> {
  const start = scanner.offset;
  try {
    return await inSlices(readWhole(scanner));
  } catch (error) {
    if (!(error instanceof JsonParseError)) throw error;
    scanner.offset = start;
    await inSlices(scanner.skipValueInSlices());
    return null;
  }
}
