import { mkdir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { generators } from './generators.ts'
import { tables, withTable } from './tables.ts'

/** Writes every generated file anew: `scripts/bun scripts/generate.ts`. */
const root = resolve(import.meta.dir, '..')
let count = 0
for (const { folder, files } of generators) {
  await rm(join(root, folder), { recursive: true, force: true })
  for (const [path, text] of files()) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await Bun.write(join(root, path), text)
    count++
  }
}
for (const table of tables) {
  const document = join(root, table.document)
  await Bun.write(document, withTable(table, await Bun.file(document).text()))
  count++
}
console.log(`Wrote ${count} files.`)
