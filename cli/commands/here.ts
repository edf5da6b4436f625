/** Where a command's words are relative to: npm and npx change folders, and say where they were called. */
export function here(env: NodeJS.ProcessEnv): string {
  return env['INIT_CWD'] || process.cwd();
}
