/** Types of the exports of `toolchain.mjs` that tests use. */
export function nodeOfVersion(major: number): { program: string; env: NodeJS.ProcessEnv } | null;
export function withoutNpmSettings(env?: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
