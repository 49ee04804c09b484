import { runTool } from './run-tool.ts'

/** Path of a Python that has the tools of the tests. Throws with the reason when none can be had on this machine. */
export const pythonTools = async (): Promise<string> => {
  const said = await runTool(['scripts/python-tools'])
  return said.trim().split('\n').at(-1) ?? ''
}
