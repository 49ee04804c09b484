import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { generators } from '../scripts/generators.ts'
import { readmeWith } from '../scripts/readme.ts'

const ROOT = resolve(import.meta.dir, '..')

const filesIn = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
      .map(path => [relative(ROOT, path), readFileSync(path, 'utf8')]),
  )

for (const { folder, files } of generators)
  test(`generated files: ${folder} is what the code makes (else run: scripts/bun scripts/generate.ts)`, () => {
    expect(filesIn(folder)).toEqual(new Map(files()))
  })

test('generated tables: README.md is what the registries make (else run: scripts/bun scripts/generate.ts)', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  expect(readmeWith(readme)).toBe(readme)
})
