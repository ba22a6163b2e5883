/** Names of the values of a protobuf enumeration: number to name and name to number. */
import type { GenEnum } from '@bufbuild/protobuf/codegenv2';
import { MetadataError } from './metadataError.js';

export interface EnumNames<Value extends number> {
  /** Name of a number. Throws `MetadataError` if the number has no name. */
  nameOf(number: number): string;
  /** Number of a name. Throws `MetadataError` if the name is unknown. */
  numberOf(name: string): Value;
}

export function enumNames<Value extends number>(schema: GenEnum<Value>): EnumNames<Value> {
  const names = new Map(schema.values.map(({ name, number }) => [number, name]));
  const numbers = new Map(schema.values.map(({ name, number }) => [name, number]));
  return {
    nameOf: (number) => {
      const name = names.get(number);
      if (name === undefined)
        throw new MetadataError(`Enum ${schema.name} has no name defined for value ${number}`);
      return name;
    },
    numberOf: (name) => {
      const number = numbers.get(name);
      if (number === undefined)
        throw new MetadataError(`Enum ${schema.name} has no value defined for name '${name}'`);
      return number as Value;
    },
  };
}
