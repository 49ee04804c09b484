import { mkdir, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { generators } from './generators.ts'
import { readmeWith } from './readme.ts'

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
const readme = join(root, 'README.md')
await Bun.write(readme, readmeWith(await Bun.file(readme).text()))
count++
console.log(`Wrote ${count} files.`)
