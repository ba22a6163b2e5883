/** Generated files match the declarations, and the declarations are consistent. */
import { existsSync, readFileSync } from 'node:fs';
import * as openRpc from '@open-rpc/meta-schema';
import { Ajv } from 'ajv';
import jsonSchemaDraft7 from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' };
import { describe, expect, it } from 'vitest';
import { ALIASES, DECLARATIONS } from '../../../../src/daemon/api/declarations/table.js';
import { generatedDaemonFiles } from '../../../../src/daemon/api/generated.js';
import { daemonOperatorFiles } from '../../../../src/daemon/main/operatorFiles.js';
import { implementationsByName } from '../../../../src/daemon/api/methodTable.js';
import { UsagePattern } from '../../../../src/daemon/main/usagePattern.js';
import { projectFile } from '../../../../src/util/project.js';

/** Components for files. Methods that need them answer that they are skipped. */
const ABSENT = ['blob_manager', 'disk_space', 'file_manager'];

describe('declarations of the daemon', () => {
  it('equal the generated files', () => {
    for (const [name, text] of Object.entries({ ...generatedDaemonFiles(), ...daemonOperatorFiles() })) {
      const path = projectFile(name);
      expect(existsSync(path) ? readFileSync(path, 'utf8') : null, `${name}: run npm run docs`).toBe(text);
    }
  });

  it('make a valid OpenRPC document', () => {
    const document = JSON.parse(generatedDaemonFiles()['data/lbcnetOpenRpc.json']!) as object;
    const ajv = new Ajv({ strict: false, allErrors: true });
    ajv.addFormat('regex', (text: string) => new RegExp(text, 'u') instanceof RegExp);
    ajv.addFormat('uri', (text: string) => URL.canParse(text));
    ajv.addFormat('uri-reference', true);
    // Schemas to which OpenRPC's schema refers: JSON Schema draft 7, and a definition that is stored elsewhere.
    const jsonSchemaId = 'https://meta.json-schema.tools';
    ajv.addMetaSchema({ ...jsonSchemaDraft7, $id: jsonSchemaId });
    const reference = { properties: { $ref: { type: 'string' } } };
    ajv.addMetaSchema({ $id: `${jsonSchemaId}/`, definitions: { JSONSchemaObject: reference } });
    const validate = ajv.compile((openRpc as unknown as { openrpcDocument: object }).openrpcDocument);
    expect(validate(document), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
  });

  it('have a method each, sorted, with an implementation or a component that is absent', () => {
    const names = DECLARATIONS.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)].sort());
    const implemented = implementationsByName();
    const missing = DECLARATIONS.filter(({ name }) => !implemented.has(name));
    expect(missing.filter(({ needs }) => !needs.some((need) => ABSENT.includes(need)))).toEqual([]);
    for (const { declaration } of implemented.values()) expect(DECLARATIONS).toContain(declaration);
    for (const { replacedBy } of ALIASES) expect(names).toContain(replacedBy);
  });

  it('have usage lines that name their parameters', () => {
    for (const { name, usage, params } of DECLARATIONS) {
      const line = usage.join(' ');
      expect(() => new UsagePattern(line), name).not.toThrow();
      // Options of the command line that are not parameters of the method, as in lbrynet.
      const strange = [...line.matchAll(/--(\w+)/g)]
        .map(([, option]) => option)
        .filter((option) => !params.some((param) => param.name === option));
      expect(strange, name).toEqual(name === 'account_balance' ? ['address'] : []);
    }
  });
});
