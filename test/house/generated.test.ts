import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { FOLDER, mappingFiles } from '../../scripts/mappings.ts'
import { tables, withTable } from '../../scripts/tables.ts'
import { ROOT } from '../support/root.ts'

const filesIn = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
      .map(path => [relative(ROOT, path), readFileSync(path, 'utf8')]),
  )

test(`generated files: ${FOLDER} is the output of the code (else run: scripts/bun scripts/generate.ts)`, () => {
  expect(filesIn(FOLDER)).toEqual(new Map(mappingFiles()))
})

for (const table of tables)
  test(`generated tables: ${table.name} in ${table.document} is the output of the registry (else run: scripts/bun scripts/generate.ts)`, () => {
    const text = readFileSync(join(ROOT, table.document), 'utf8')
    expect(withTable(table, text)).toBe(text)
  })
