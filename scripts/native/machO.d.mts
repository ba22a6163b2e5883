/** Types of the exports that tests use. */
export function withoutLeftovers(program: Buffer): Buffer;
