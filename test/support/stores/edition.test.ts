import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { edition } from './edition.ts'

/** One file of each kind that determines what is stored. */
const DECISIVE = [
  'src/store/sqlite/writer.ts',
  'src/load/deriver.ts',
  'indices/balance.ts',
  'indices/mappings/blocks.json',
  'test/support/nodes/recording.ts',
  'test/chain/devnet/blocks.ndjson.gz',
  'bun.lock',
  'package.json',
]

test('edition: every change, new file and new name gives another edition; tests, actions and tool folders do not count', () => {
  const root = mkdtempSync(join(tmpdir(), 'iostlens-edition-'))
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  try {
    for (const file of DECISIVE) write(file, file)
    const before = edition(root)
    for (const file of DECISIVE) {
      write(file, 'other')
      expect({ file, same: edition(root) === before }).toEqual({ file, same: false })
      write(file, file)
    }
    for (const file of ['src/store/new.ts', 'indices/new.ts', 'src/node/.hidden']) {
      write(file, '')
      expect({ file, same: edition(root) === before }).toEqual({ file, same: false })
      rmSync(join(root, file))
    }
    const others = ['src/load/load.test.ts', 'src/actions/action.ts', 'src/main.ts', 'test/actions/cases.json']
    for (const file of [...others, 'node_modules/x/index.js', '.cache/loaded/x', 'README.md']) write(file, '')
    expect(edition(root)).toBe(before)
  } finally {
    rmSync(root, { recursive: true })
  }
})
