import { describe, expect, it } from 'vitest';
import { parseUtxoRequest, TooManyOutPoints } from '../../../../src/server/rest/utxosRequest.js';

const outPoint = (fill: number): Buffer => Buffer.alloc(36, fill);
const list = (...outPoints: Buffer[]): Buffer => Buffer.concat([Buffer.of(outPoints.length), ...outPoints]);

describe('parseUtxoRequest', () => {
  it('reads a request of BIP64', () => {
    const body = Buffer.concat([Buffer.of(1), list(outPoint(7), outPoint(8))]);
    expect(parseUtxoRequest(body)).toEqual({ checkMempool: true, outPoints: [outPoint(7), outPoint(8)] });
    expect(parseUtxoRequest(Buffer.concat([Buffer.of(0), list(outPoint(7))]))).toEqual({
      checkMempool: false,
      outPoints: [outPoint(7)],
    });
  });

  it('reads a list alone, which includes the mempool, with any trailing bytes', () => {
    const wanted = { checkMempool: true, outPoints: [outPoint(7)] };
    expect(parseUtxoRequest(list(outPoint(7)))).toEqual(wanted);
    expect(parseUtxoRequest(Buffer.concat([list(outPoint(7)), Buffer.from('more')]))).toEqual(wanted);
  });

  // QUIRK: the reference parses these bytes differently: 40, the length, as the flag and 1 as the number of outputs.
  it('does not treat BIP64 with trailing bytes as BIP64', () => {
    const body = Buffer.concat([Buffer.of(1), list(outPoint(7)), Buffer.of(9, 9)]);
    expect(parseUtxoRequest(body)).toEqual({ checkMempool: true, outPoints: [body.subarray(1, 37)] });
  });

  it('refuses truncated requests, and invalid numbers', () => {
    expect(parseUtxoRequest(list(outPoint(7)).subarray(0, 36))).toBeNull();
    expect(parseUtxoRequest(Buffer.of(1))).toBeNull();
    expect(parseUtxoRequest(Buffer.from('fd0100', 'hex'))).toBeNull();
    expect(parseUtxoRequest(Buffer.from('feffffff7f', 'hex'))).toBeNull();
  });

  it('counts outputs without reading them if there are more than one request may have', () => {
    const outPoints = Buffer.alloc(16 * 36);
    const many = Buffer.concat([Buffer.of(16), outPoints]);
    expect(() => parseUtxoRequest(Buffer.concat([Buffer.of(0), many]))).toThrow(new TooManyOutPoints(16));
    expect(parseUtxoRequest(many.subarray(0, -1))).toBeNull();
  });
});
