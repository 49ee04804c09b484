import { runTool } from './run-tool.ts'

/** Path of a program of the system, installed with Debian's package where it is missing. Throws with the reason when it cannot be had. */
export const systemProgram = async (program: string, debianPackage: string): Promise<string> =>
  (await runTool(['scripts/system-program', program, debianPackage])).trim()
