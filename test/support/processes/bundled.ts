import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

const made = new Map<string, Promise<string>>()

/**
 * Path of a program of the tests as one file with its byte code beside it: a process of it starts in a third of the time.
 * It is made once by each process of tests. The program must not wait at its top level.
 */
export const bundled = (program: string): Promise<string> => {
  const known = made.get(program) ?? make(program)
  made.set(program, known)
  return known
}

const make = async (program: string): Promise<string> => {
  const outdir = mkdtempSync(join(tmpdir(), 'iostlens-program-'))
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }))
  await Bun.build({ entrypoints: [program], outdir, target: 'bun', format: 'cjs', bytecode: true })
  return join(outdir, basename(program).replace(/\.ts$/, '.js'))
}
