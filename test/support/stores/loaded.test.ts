import { expect, test } from 'bun:test'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { testFolder } from '../test-folder.ts'
import { edition } from './loaded.ts'

const root = testFolder()
const write = (file: string, text: string): void => {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), text)
}
const DECISIVE = ['src/store/sqlite/writer.ts', 'indices/mappings/blocks.json', 'test/chain/devnet/x.gz', 'bun.lock']
const OTHERS = ['src/load/load.test.ts', 'src/actions/action.ts', 'src/main.ts', '.cache/loaded/x', 'README.md']

test('edition: a change or a new file gives another edition if it determines what is stored, and only then', () => {
  for (const file of DECISIVE) write(file, file)
  const before = edition(root)
  for (const file of [...DECISIVE, 'src/node/.hidden', 'test/support/new.ts']) {
    write(file, 'other')
    expect({ file, same: edition(root) === before }).toEqual({ file, same: false })
    if (DECISIVE.includes(file)) write(file, file)
    else rmSync(join(root, file))
  }
  for (const file of OTHERS) write(file, '')
  expect(edition(root)).toBe(before)
})
