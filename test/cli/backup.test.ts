import { expect, test } from 'bun:test'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { cliFolder } from '../support/processes/cli-process.ts'
import { replayed } from '../support/stores/loading.ts'
import { addKey, expectEnd, stop, storeIn } from './folder.ts'

/** The part of the chain that is loaded while two copies are made. */
const HEIGHT = 700

test('backup: copies of a store during load and service are whole; a restored copy is loaded further and verified', async () => {
  await using folder = await cliFolder()
  await using node = await replayed(HEIGHT)
  const key = await addKey(folder)
  const up = folder.start(['up', '--node', node.url, '--listen', '127.0.0.1:0', '--prove', 'linked'])
  await up.firstLine
  // The chain is being loaded from its first to its last block. The first copies may find nothing loaded yet.
  const copies: string[] = []
  for (let number = 0; copies.length < 2; number++) {
    const { code, out, err } = await folder.run(['backup', `copy-${number}.sqlite`])
    if (code === 75) expect(err).toContain('nothing is loaded yet')
    else {
      expect([code, out]).toEqual([0, expect.stringMatching(/at height \d+ to copy-\d+\.sqlite: \d+ bytes, checked/)])
      copies.push(`copy-${number}.sqlite`)
    }
  }
  await up.logs('Loaded blocks.')
  await stop(up)
  await expectEnd(folder, ['backup', 'nowhere/copy.sqlite'], 2, 'does not exist')
  for (const copy of copies) {
    const { code, err } = await folder.run(['status', '--all', '--node', node.url, '--store', `sqlite:${copy}`])
    expect([copy, code, err]).toEqual([copy, 0, ''])
  }

  for (const end of ['', '-wal', '-shm']) await rm(`${storeIn(folder)}${end}`, { force: true })
  await rename(join(folder.path, copies[0] ?? ''), storeIn(folder))
  await expectEnd(folder, ['load', '--node', node.url, '--once'], 0, `Loaded up to block ${HEIGHT}.\n`)
  expect(await folder.run(['verify', '--node', node.url])).toMatchObject({ code: 0 })
  const serving = folder.start(['serve', '--listen', '127.0.0.1:0'])
  const response = await fetch(`${await serving.firstLine}/api/base/get-overview`, { headers: { 'x-api-key': key } })
  expect([response.status, response.headers.get('x-block-height')]).toEqual([200, String(HEIGHT)])
})
