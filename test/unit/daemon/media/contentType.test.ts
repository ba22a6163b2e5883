import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { contentExtension } from '../../../../src/daemon/media/contentType.js';
import { mediaTypeOfFile } from '../../../../src/metadata/mediaTypes.js';

const recorded = join(import.meta.dirname, '../../../../../shared/conformance/sdk/streams.jsonl.gz');

interface Line {
  readonly kind: string;
  readonly name: string;
  readonly head: string;
  readonly zeros: number;
  readonly media_type: string;
  readonly stream_type: string;
}

const headOf = (text: string, zeros = 300): Buffer =>
  Buffer.concat([Buffer.from(text, 'latin1'), Buffer.alloc(zeros)]);

describe('the kind of a file by its content', () => {
  it.skipIf(!existsSync(recorded))('is that of lbry-sdk for recorded files', () => {
    const lines = gunzipSync(readFileSync(recorded)).toString().trim().split('\n');
    const files = lines.map((line) => JSON.parse(line) as Line).filter(({ kind }) => kind === 'content type');
    expect(files.length).toBeGreaterThan(100);
    for (const { name, head, zeros, media_type: mediaType, stream_type: kind } of files) {
      const bytes = Buffer.concat([Buffer.from(head, 'hex'), Buffer.alloc(zeros)]);
      expect([name, head, mediaTypeOfFile(name, contentExtension(bytes))]).toEqual([
        name,
        head,
        { mediaType, kind },
      ]);
    }
  });

  it('looks into archives of office programs', () => {
    const zip = (name: string, more = ''): string => `PK\x03\x04${'\0'.repeat(26)}${name}${more}`;
    expect(contentExtension(headOf(zip('word/document.xml')))).toBe('docx');
    expect(
      contentExtension(headOf(zip('[Content_Types].xml', zip('_rels/.rels', zip('xl/workbook.xml'))))),
    ).toBe('xlsx');
    expect(contentExtension(headOf(zip('[Content_Types].xml', zip('other'))))).toBe('zip');
    expect(contentExtension(headOf(zip('mimetypeapplication/vnd.oasis.opendocument.text')))).toBe('odt');
    expect(contentExtension(headOf(zip('mimetypeapplication/epub+zip')))).toBe('epub');
  });

  it('distinguishes related types', () => {
    const png = '\x89PNG\r\n\x1a\n';
    const chunk = (type: string, length = 0): string =>
      `\0\0\0${String.fromCharCode(length)}${type}${'x'.repeat(length)}CRC.`;
    expect(contentExtension(headOf(png + chunk('IHDR', 13) + chunk('acTL', 8)))).toBe('apng');
    expect(contentExtension(headOf(png + chunk('IHDR', 13) + chunk('IDAT', 8)))).toBe('png');
    expect(contentExtension(headOf('\0\0\0\x18ftypmif1\0\0\0\0mif1avif'))).toBe('avif');
    expect(contentExtension(headOf('\0\0\0\x18ftypmif1\0\0\0\0mif1heic'))).toBe('heic');
    expect(contentExtension(headOf('II*\0\x10\0\0\0CR\x02'))).toBe('cr2');
    expect(contentExtension(headOf('\x50\x2a\x4d\x18\x02\0\0\0ab\x28\xb5\x2f\xfd'))).toBe('zst');
    expect(contentExtension(headOf('!<arch>\ndebian-binary'))).toBe('deb');
  });

  it('finds nothing in short or plain files', () => {
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from('\xff', 'latin1'),
      Buffer.from('plain text'),
      Buffer.alloc(8192),
    ])
      expect(contentExtension(bytes)).toBeNull();
    // A length that reaches beyond the file.
    expect(contentExtension(Buffer.from('\0\0\xff\xffftypisom\0\0\0\0', 'latin1'))).toBeNull();
  });
});
