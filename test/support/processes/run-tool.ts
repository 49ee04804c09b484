import { ROOT } from '../root.ts'

/** Runs a program. Returns its output. Throws with all output when it fails. */
export async function runTool(
  command: readonly string[],
  {
    environment = {},
    input = '',
    folder = ROOT,
  }: {
    readonly environment?: Readonly<Record<string, string>>
    readonly input?: string
    readonly folder?: string
  } = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdin: new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${out}\n${err}`)
  return out
}

/** Path of a Python with the tools of the tests. Throws with the reason when this machine cannot provide one. */
export async function pythonTools(): Promise<string> {
  const said = await runTool(['scripts/python-tools'])
  return said.trim().split('\n').at(-1) ?? ''
}

/** Path of a system program, from its Debian package if it is missing. */
export const systemProgram = async (program: string, debianPackage: string): Promise<string> =>
  (await runTool(['scripts/system-program', program, debianPackage])).trim()
