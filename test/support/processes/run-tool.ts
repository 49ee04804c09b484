import { ROOT } from '../root.ts'

/**
 * Runs a program, in the project's folder unless another is given. Returns its output. Throws with all output
 * when it fails.
 */
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
