import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { systemProgram } from '#test/support/processes/system-program.ts'
import { ROOT } from '#test/support/root.ts'

const UNIT = join(ROOT, 'packaging/systemd/iostlens.service')

const analyze = async (...args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> => {
  const child = Bun.spawn([await systemProgram('systemd-analyze', 'systemd'), ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, said: out + err }
}

test('systemd: the unit has no setting unknown to systemd', async () => {
  const { said } = await analyze('verify', '--man=no', '--recursive-errors=no', UNIT)
  // The program itself is not installed on the test machine.
  const other = said
    .split('\n')
    .filter(line => line !== '' && !line.includes('/usr/local/bin/iostlens is not executable'))
  expect(other).toEqual([])
})

test('systemd: the sandbox has an exposure of 1.5 or less by systemd’s rating', async () => {
  const { code, said } = await analyze('security', '--offline=yes', '--threshold=15', UNIT)
  expect([code, /Overall exposure level .*: ([\d.]+)/.exec(said)?.[1]]).toEqual([0, expect.any(String)])
})
