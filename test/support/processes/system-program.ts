import { runTool } from './run-tool.ts'

/**
 * Path of a system program. If it is missing, its Debian package is installed. Throws with the reason when that fails.
 */
export const systemProgram = async (program: string, debianPackage: string): Promise<string> =>
  (await runTool(['scripts/system-program', program, debianPackage])).trim()
