import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { cliFolder, spawnIn } from '../support/processes/cli-process.ts'
import { ROOT } from '../support/root.ts'
import { elasticsearchUrl } from '../support/stores/elasticsearch.ts'

const REHEARSE = join(ROOT, 'scripts/rehearse')
const SMALL = ['--folder', 'rehearsal', '--holders', '200', '--every', '1']
const url = elasticsearchUrl()

const STEPS = ['archive write', 'load', 'load, by blocks', 'transaction by hash', 'verify', 'backup', 'restore']

const rehearsed = async (folder: string, words: readonly string[]) => {
  const { code, out, err } = await spawnIn(folder, [REHEARSE, ...SMALL, ...words]).ended
  // When a step fails, stderr says why.
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  const rows = [...out.matchAll(/^\| ([a-z].*?) +\|/gm)].map(([, step]) => step)
  for (const step of STEPS) expect(rows).toContain(step)
  return out
}

test('rehearse: near-empty and busy blocks are measured; a second run repeats nothing, and a larger one continues', async () => {
  await using folder = await cliFolder()
  const sizes = ['--blocks', '600', '--transactions', '500']
  const first = await rehearsed(folder.path, sizes)
  expect(first).toContain('sparse: block 600, ')
  expect(first).toContain('busy: block 10, ')
  const again = await rehearsed(folder.path, sizes)
  expect(again).not.toContain(': block ')
  const table = (text: string) => text.slice(text.indexOf('sparse blocks on SQLite'), text.indexOf('busy: '))
  expect(table(again)).toBe(table(first))
  const larger = await rehearsed(folder.path, ['--blocks', '900', '--transactions', '0'])
  expect(larger).toContain('sparse: block 900, ')
  expect(larger).toMatch(/archive write +\| 300 blocks/)
})

test.skipIf(url === undefined)('rehearse: on Elasticsearch', async () => {
  await using folder = await cliFolder()
  const prefix = `rehearsal-${crypto.randomUUID().slice(0, 8)}`
  try {
    const store = ['--store', `${url}/${prefix}`, '--partition-documents', '1000']
    const out = await rehearsed(folder.path, ['--blocks', '1500', '--transactions', '0', ...store])
    expect(out).toMatch(/segments in \d+ indices/)
  } finally {
    await fetch(`${url}/_snapshot/${prefix}-sparse/rehearsal`, { method: 'DELETE' })
    await fetch(`${url}/_snapshot/${prefix}-sparse`, { method: 'DELETE' })
    const indices = Object.keys((await (await fetch(`${url}/${prefix}-*`)).json()) as object)
    for (const index of indices) await fetch(`${url}/${index}`, { method: 'DELETE' })
  }
})
