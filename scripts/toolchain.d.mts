/** Types of what tests use of `toolchain.mjs`. */
export function nodeOfVersion(major: number): { program: string; env: NodeJS.ProcessEnv } | null;
export function withoutNpmSettings(env?: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
