import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { systemProgram } from '#test/support/processes/system-program.ts'
import { ROOT } from '#test/support/root.ts'

const FOLDER = join(ROOT, 'packaging/systemd')
const units = [...new Bun.Glob('*.service').scanSync(FOLDER)].sort()

async function analyze(...args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
  const child = Bun.spawn([await systemProgram('systemd-analyze', 'systemd'), ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, said: out + err }
}

test.each(units)('systemd: %s has no setting unknown to systemd', async unit => {
  const { said } = await analyze('verify', '--man=no', '--recursive-errors=no', join(FOLDER, unit))
  // The program itself is not installed on the test machine.
  const other = said
    .split('\n')
    .filter(line => line !== '' && !line.includes('/usr/local/bin/iostlens is not executable'))
  expect(other).toEqual([])
})

test.each(units)('systemd: the sandbox of %s has an exposure of 1.5 or less by systemd’s rating', async unit => {
  const { code, said } = await analyze('security', '--offline=yes', '--threshold=15', join(FOLDER, unit))
  expect([code, /Overall exposure level .*: ([\d.]+)/.exec(said)?.[1]]).toEqual([0, expect.any(String)])
})
