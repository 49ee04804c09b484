import { runTool } from './run-tool.ts'

/** Path of a Python with the tools of the tests. Throws with the reason when this machine cannot provide one. */
export async function pythonTools(): Promise<string> {
  const said = await runTool(['scripts/python-tools'])
  return said.trim().split('\n').at(-1) ?? ''
}
