export function runCompiler(
  compiler: { readonly command: string; readonly env?: NodeJS.ProcessEnv },
  args: readonly string[],
): Promise<{ stdout: string; stderr: string }>;
