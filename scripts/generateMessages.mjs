/**
 * Generates src/metadata/messages/ from data/proto/: `npm run messages`. protobufjs parses the files and creates the
 * descriptors that protoc would create; protoc-gen-es generates the code from them. This needs only JavaScript packages: no
 * protoc and no platform binary.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponseSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
} from '@bufbuild/protobuf/wkt';
import protobuf from 'protobufjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const input = join(root, 'data', 'proto');
const output = join(root, 'src', 'metadata', 'messages');

const TYPES = FieldDescriptorProto_Type;

/** The full name of a type as descriptors write it, with a dot before it. */
const nameOf = (type) => (type.fullName.startsWith('.') ? type.fullName : `.${type.fullName}`);

function describeEnum(type) {
  return { name: type.name, value: Object.entries(type.values).map(([name, number]) => ({ name, number })) };
}

function describeField(field, oneofs) {
  field.resolve();
  const target = field.resolvedType;
  const kind =
    target === null ? field.type.toUpperCase() : target instanceof protobuf.Enum ? 'ENUM' : 'MESSAGE';
  const label = field.repeated ? 'REPEATED' : field.required ? 'REQUIRED' : 'OPTIONAL';
  return {
    name: field.name,
    jsonName: field.name.replace(/_(.)/g, (_, letter) => letter.toUpperCase()),
    number: field.id,
    label: FieldDescriptorProto_Label[label],
    type: TYPES[kind],
    ...(target === null ? {} : { typeName: nameOf(target) }),
    ...(field.partOf === null ? {} : { oneofIndex: oneofs.indexOf(field.partOf) }),
  };
}

function describeMessage(type) {
  return {
    name: type.name,
    field: type.fieldsArray.map((field) => describeField(field, type.oneofsArray)),
    oneofDecl: type.oneofsArray.map(({ name }) => ({ name })),
    nestedType: type.nestedArray.filter((inner) => inner instanceof protobuf.Type).map(describeMessage),
    enumType: type.nestedArray.filter((inner) => inner instanceof protobuf.Enum).map(describeEnum),
  };
}

/** Returns the descriptor of one .proto file, which must not import other files. */
function describeFile(name) {
  const text = readFileSync(join(input, name), 'utf8');
  const { root: tree, package: pkg } = protobuf.parse(text, new protobuf.Root(), { keepCase: true });
  tree.resolveAll();
  const space = tree.lookup(pkg);
  return create(FileDescriptorProtoSchema, {
    name,
    package: pkg,
    syntax: /syntax = "(\w+)"/.exec(text)[1],
    messageType: space.nestedArray.filter((inner) => inner instanceof protobuf.Type).map(describeMessage),
    enumType: space.nestedArray.filter((inner) => inner instanceof protobuf.Enum).map(describeEnum),
  });
}

/** Generates the files. Returns their texts by file name. */
export function generateMessages() {
  const names = readdirSync(input)
    .filter((name) => name.endsWith('.proto'))
    .sort();
  const request = create(CodeGeneratorRequestSchema, {
    fileToGenerate: names,
    parameter: 'target=ts,import_extension=js,erasable_syntax=true,elide_plugin_version=true',
    protoFile: names.map(describeFile),
  });
  const plugin = createRequire(import.meta.url).resolve('@bufbuild/protoc-gen-es/package.json');
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(dirname(plugin), 'bin', 'protoc-gen-es')],
    { input: toBinary(CodeGeneratorRequestSchema, request), maxBuffer: 1 << 26 },
  );
  if (status !== 0) throw new Error(String(stderr));
  const { error, file } = fromBinary(CodeGeneratorResponseSchema, stdout);
  if (error) throw new Error(error);
  return new Map(file.map(({ name, content }) => [name, content]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = generateMessages();
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  for (const [name, content] of files) writeFileSync(join(output, name), content);
}
