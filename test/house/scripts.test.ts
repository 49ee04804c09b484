import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { cliFolder, spawnIn } from '../support/processes/cli-process.ts'
import { ROOT } from '../support/root.ts'

const SCRIPTS = join(ROOT, 'scripts')

test.each([
  'start',
  'check',
  'test',
  'build',
  'release',
  'backfill',
  'follow',
  'check-loaded',
  'bench',
  'generate-chain',
  'replay',
])('scripts: %s prints its help from any folder', async script => {
  await using folder = await cliFolder()
  const { code, out, err } = await spawnIn(folder.path, [join(SCRIPTS, script), '--help']).ended
  expect([code, err]).toEqual([0, ''])
  expect(out).toStartWith(`usage: scripts/${script}`)
})

test('scripts: bun is the pinned version', async () => {
  await using folder = await cliFolder()
  const { engines } = await Bun.file(join(ROOT, 'package.json')).json()
  const { code, out } = await spawnIn(folder.path, [join(SCRIPTS, 'bun'), '--version']).ended
  expect([code, out]).toEqual([0, `${engines.bun}\n`])
})
