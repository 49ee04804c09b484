import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { FOLDER, mappingFiles } from './mappings.ts'
import { tables, withTable } from './tables.ts'

/** Writes every generated file again: `scripts/bun scripts/generate.ts`. */
const root = resolve(import.meta.dir, '..')
let count = 0
await rm(join(root, FOLDER), { recursive: true, force: true })
for (const [path, text] of mappingFiles()) {
  await Bun.write(join(root, path), text)
  count++
}
for (const table of tables) {
  const document = join(root, table.document)
  await Bun.write(document, withTable(table, await Bun.file(document).text()))
  count++
}
console.log(`Wrote ${count} files.`)
