import { describe, expect, it } from 'vitest';
import { HubError } from '../../../../src/hub/protocol/hubError.js';
import {
  answerFrame,
  detectVersion,
  errorText,
  readMessage,
} from '../../../../src/hub/protocol/wireMessages.js';
import { JsonObject } from '../../../../src/util/json/json.js';
import { parseJson } from '../../../../src/util/json/jsonParse.js';

const read = (text: string) => readMessage(parseJson(text), detectVersion(parseJson(text)));

/** Code and message of the error for a text. */
function refusal(text: string): [number, string] {
  const item = read(text);
  if (item.kind !== 'error') throw new Error(`${text} is ${item.kind}`);
  return [item.error.code, item.error.message];
}

describe('the version of a connection', () => {
  it('is determined by its first message', () => {
    const versions = ['{"jsonrpc":"2.0"}', '{"jsonrpc":"1.0"}', '{}', '7', '{"result":1,"error":null}'];
    expect(versions.map((text) => detectVersion(parseJson(text)))).toEqual([
      '2.0',
      '1.0',
      'loose',
      'loose',
      '1.0',
    ]);
    expect(detectVersion(parseJson('[{},{"jsonrpc":"1.0"},{"jsonrpc":"2.0"}]'))).toBe('2.0');
    expect(detectVersion(parseJson('[{},{"jsonrpc":"1.0"}]'))).toBe('1.0');
    expect(detectVersion(parseJson('[]'))).toBe('loose');
  });
});

describe('messages', () => {
  it('are requests with positional or named arguments', () => {
    expect(read('{"jsonrpc":"2.0","method":"m","params":[1],"id":5}')).toEqual({
      kind: 'request',
      request: { method: 'm', params: [1], id: 5 },
    });
    const named = read('{"jsonrpc":"2.0","method":"m","params":{"a":1},"id":"x"}');
    expect(named.kind === 'request' && named.request.params).toBeInstanceOf(JsonObject);
    expect(read('{"method":"m","id":1}')).toMatchObject({ request: { params: [] } });
    expect(read('{"method":"m"}')).toMatchObject({ kind: 'request', request: { id: null } });
  });

  it('are refused in the words of the reference', () => {
    expect(refusal('7')).toEqual([-32600, 'request object must be a dictionary']);
    expect(refusal('[]')).toEqual([-32600, 'batch is empty']);
    expect(refusal('{"jsonrpc":"2.0","method":"m","id":[1]}')).toEqual([-32600, 'invalid "id": [1]']);
    expect(refusal('{"jsonrpc":"2.0","method":"m","params":7,"id":1}')).toEqual([
      -32602,
      'invalid request arguments: 7',
    ]);
    expect(refusal('{"jsonrpc":"1.0","method":"m","params":[]}')).toEqual([-32600, 'request has no "id"']);
    expect(refusal('{"jsonrpc":"1.0","method":"m","params":{},"id":1}')[0]).toBe(-32602);
    const later = readMessage(parseJson('{"method":"m","id":1}'), '2.0');
    expect(later).toMatchObject({ kind: 'error', id: 1, error: { message: '"jsonrpc" is not "2.0"' } });
  });

  it('that are answers are distinguished', () => {
    expect(read('{"jsonrpc":"2.0","result":1,"id":1}').kind).toBe('answer');
    expect(read('[{"result":1},{"error":1}]').kind).toBe('answer');
    expect(read('[{"result":1},{"method":"m"}]').kind).toBe('batch');
  });
});

describe('answers', () => {
  it('repeat the id as it was', () => {
    const ids = ['12345678901234567890', '1.50', '"ä\\n"', 'true'];
    for (const id of ids) {
      const [before, behind] = answerFrame('2.0', parseJson(id));
      expect(JSON.parse(`${before}null${behind}`)).toEqual(
        JSON.parse(`{"jsonrpc":"2.0","result":null,"id":${id}}`),
      );
    }
    expect(answerFrame('2.0', parseJson('12345678901234567890'))[1]).toContain('12345678901234567890');
    expect(JSON.parse(errorText('1.0', new HubError(1, 'a"b'), 'x'))).toEqual({
      result: null,
      error: { code: 1, message: 'a"b' },
      id: 'x',
    });
  });
});
