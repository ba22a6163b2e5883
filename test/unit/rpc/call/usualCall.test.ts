/** The parser of usual calls gives the same requests as the JSON parser. */
import { describe, expect, it } from 'vitest';
import { newRequest, readRequest, type ParsedRequest } from '../../../../src/rpc/call/envelope.js';
import { MAX_USUAL_CHARS, readUsualBatch, UsualCalls } from '../../../../src/rpc/call/usualCall.js';
import { parseJson } from '../../../../src/util/json/jsonParse.js';
import { randomOf } from '../../../support/claimLife.js';

/** The request as the JSON parser reads it; null if it is invalid. */
function parsed(text: string): ParsedRequest | null {
  const request = newRequest('documented');
  try {
    readRequest(parseJson(text), request);
    return request;
  } catch {
    return null;
  }
}

const read = (text: string): ParsedRequest | null => new UsualCalls('documented').read(text);

describe('a call', () => {
  it.each([
    ['of a client in Go', '{"jsonrpc":"1.0","method":"getblockhash","params":[100],"id":17}'],
    ['of lbrycrd-cli', '{"method":"getblockcount","params":[],"id":1}\n'],
    ['of Python', '{"version": "1.1", "method": "getblock", "params": ["ab", true, null], "id": 5}'],
    ['of version 2.0', '{"jsonrpc":"2.0","id":"curl","method":"getinfo"}'],
    ['without an id', '{"jsonrpc":"2.0","method":"getinfo"}'],
    ['with an empty id', '{"id":null,"method":"getinfo","params":null}'],
    ['with negative numbers', '{"id":-3,"method":"getinfo","params":[-1,0,999999999999999]}'],
  ])('%s is read', (_what, text) => {
    expect(read(text)).toEqual(parsed(text));
    expect(read(text)).not.toBeNull();
  });

  it.each([
    ['a number that loses its text', '{"id":1,"method":"a","params":[1.0]}'],
    ['a number that a double rounds', '{"id":1,"method":"a","params":[1234567890123456789]}'],
    ['a number with a leading zero', '{"id":01,"method":"a"}'],
    ['a negative zero', '{"id":1,"method":"a","params":[-0]}'],
    ['an escape', '{"id":1,"method":"a","params":["\\u0041"]}'],
    ['other characters', '{"id":1,"method":"a","params":["é"]}'],
    ['a control character', '{"id":1,"method":"a","params":["\t"]}'],
    ['named parameters', '{"id":1,"method":"a","params":{"b":1}}'],
    ['nested lists', '{"id":1,"method":"a","params":[[1]]}'],
    ['a member twice', '{"id":1,"method":"a","method":"b"}'],
    ['no method', '{"id":1}'],
    ['a comma at the end', '{"id":1,"method":"a",}'],
    ['text behind it', '{"id":1,"method":"a"} '],
    ['a batch', '[{"id":1,"method":"a"}]'],
    ['too many characters', `{"id":1,"method":"a","params":["${'b'.repeat(MAX_USUAL_CHARS)}"]}`],
  ])('with %s is left to the parser', (_what, text) => {
    expect(read(text)).toBeNull();
  });

  it('that differs from the previous one only by its id is read without parsing', () => {
    const calls = new UsualCalls('documented');
    const text = (id: string): string => `{"jsonrpc":"2.0","id":${id},"method":"a","params":["b",2]}`;
    for (const id of ['7', '8', '123456', '0', '9', '08', '1.5', '', '-4', '"x"', '10']) {
      const call = calls.read(text(id));
      expect(call ?? parsed(text(id)), id).toEqual(parsed(text(id)));
    }
    const params = [7, 8].map((id) => calls.read(text(String(id)))?.params);
    expect(params[0]).toBe(params[1]);
  });
});

describe('a batch', () => {
  const CALLS = [
    '{"id":1,"method":"a"}',
    '{"method":"b","params":["x,]}",-5, null],"id":"two"}',
    '{"jsonrpc":"2.0","method":"c"}',
  ];

  it.each([
    ['of one call', `[${CALLS[0]}]`],
    ['of several calls', `[${CALLS.join(',')}]`],
    ['with spaces after commas, and a line feed', `[${CALLS.join(', ')}]\n`],
  ])('%s is read', (_what, text) => {
    const values = parseJson(text);
    const wanted = (values as unknown[]).map((_, n) => parsed(CALLS[n]!));
    expect(readUsualBatch(text, 'documented')).toEqual(wanted);
  });

  it.each([
    ['without calls', '[]'],
    ['with a comma at the end', `[${CALLS[0]},]`],
    ['with a call of another form', `[${CALLS[0]},{"id":1}]`],
    ['with another value', `[${CALLS[0]},5]`],
    ['with a nested batch', `[[${CALLS[0]}]]`],
    ['without an end', `[${CALLS[0]}`],
    ['with text behind it', `[${CALLS[0]}]]`],
    ['with a second batch', `[${CALLS[0]}][${CALLS[0]}]`],
    ['with spaces before it', ` [${CALLS[0]}]`],
    ['with an escape', `[{"id":1,"method":"a","params":["\\u0041"]}]`],
  ])('%s is left to the parser', (_what, text) => {
    expect(readUsualBatch(text, 'documented')).toBeNull();
  });
});

describe('any text', () => {
  const PARTS =
    '{ } [ ] , : "id" "method" "params" "jsonrpc" "2.0" "a" "b c" 1 23 -5 0 00 1.5 1e3 true false null tru \\ " \n \t é -'.split(
      ' ',
    );

  it('gives the request of the JSON parser, or null', () => {
    const random = randomOf(33);
    const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
    const scalar = (): string =>
      pick(['1', '-20', '0', '"x"', '""', '"a, b: [c]}"', 'true', 'false', 'null']);
    const gap = (): string => (random(5) === 0 ? ' ' : '');
    const list = (): string => `[${Array.from({ length: random(4) }, scalar).join(`,${gap()}`)}]`;
    const member = (): string =>
      pick([
        () => `"id":${gap()}${scalar()}`,
        () => `"method":${gap()}"m${random(3)}"`,
        () => `"params":${gap()}${list()}`,
        () => `"jsonrpc":${gap()}"${pick(['1.0', '2.0'])}"`,
        () => `"other":${scalar()}`,
      ])();
    const calls = new UsualCalls('documented');
    let readCount = 0;
    for (let n = 0; n < 20_000; n++) {
      let text = `{${Array.from({ length: 1 + random(5) }, member).join(`,${gap()}`)}}`;
      if (random(5) < 2) {
        const at = random(text.length);
        text = text.slice(0, at) + pick([...PARTS, '']) + text.slice(at + random(3));
      }
      const call = calls.read(text);
      expect(readUsualBatch(`[${text}]`, 'documented'), text).toEqual(call && [call]);
      if (call === null) continue;
      readCount++;
      expect(call, text).toEqual(parsed(text));
    }
    expect(readCount).toBeGreaterThan(2_000);
  });
});
