import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { ROOT } from '../support/root.ts'

/** Rows of the table in src/README.md: folder → folders from which it may import. */
function layers(): ReadonlyMap<string, ReadonlySet<string>> {
  const rows = readFileSync(join(ROOT, 'src/README.md'), 'utf8').matchAll(/^\| `(\w+)`[^|]*\|[^|]*\|([^|]*)\|$/gm)
  return new Map(
    [...rows].map(([, folder = '', may = '']) => [
      folder,
      new Set(
        may
          .split(',')
          .map(name => name.trim())
          .filter(Boolean),
      ),
    ]),
  )
}

const sources = ['src', 'indices', 'scripts', 'test'].flatMap(top =>
  readdirSync(join(ROOT, top), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map(entry => relative(ROOT, join(entry.parentPath, entry.name))),
)

const importsOf = (file: string): readonly string[] =>
  ts.preProcessFile(readFileSync(join(ROOT, file), 'utf8'), true, true).importedFiles.map(({ fileName }) => fileName)

/** The folder of the table that contains a file: `indices`, or the first one under src. undefined elsewhere. */
function folderOf(path: string): string | undefined {
  const [top, folder, ...rest] = path.split('/')
  if (top === 'indices') return 'indices'
  return top === 'src' && rest.length > 0 ? folder : undefined
}

/** The path of an imported file from the project's root. undefined for packages. */
function targetOf(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return relative(ROOT, resolve(ROOT, dirname(file), specifier))
  const alias = /^#(\w+)\/(.*)$/.exec(specifier)
  if (alias === null) return undefined
  const [, name = '', rest = ''] = alias
  return name === 'indices' || name === 'test' ? `${name}/${rest}` : `src/${name}/${rest}`
}

const isTest = (file: string): boolean => /\.(test|suite)\.tsx?$/.test(file)

test('layers: every folder of src has a row, every row a folder', () => {
  const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => entry.name)
  expect([...layers().keys()].sort()).toEqual([...folders, 'indices'].sort())
})

test('layers: no file has an import that the table does not allow', () => {
  const table = layers()
  const wrong = sources
    .filter(file => !isTest(file))
    .flatMap(file => {
      const folder = folderOf(file)
      if (folder === undefined) return []
      const may = table.get(folder)
      return importsOf(file).flatMap(specifier => {
        const target = targetOf(file, specifier)
        const other = target === undefined ? undefined : (folderOf(target) ?? target)
        if (other === undefined || other === folder || may?.has('all') || may?.has(other)) return []
        return [`${file} → ${specifier}`]
      })
    })
  expect(wrong).toEqual([])
})

/** Groups of files that import each other in a circle, including type imports (Tarjan's algorithm). */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const circles: (readonly string[])[] = []
  const order = new Map<string, number>()
  const open: string[] = []
  const isOpen = new Set<string>()
  /** The earliest file on the stack that a file reaches, by its visiting order. */
  const visit = (file: string): number => {
    const own = order.size
    order.set(file, own)
    open.push(file)
    isOpen.add(file)
    let least = own
    for (const other of imports.get(file) ?? []) {
      const seen = order.get(other)
      if (seen === undefined) least = Math.min(least, visit(other))
      else if (isOpen.has(other)) least = Math.min(least, seen)
    }
    if (least < own) return least
    const circle = open.splice(open.indexOf(file))
    for (const each of circle) isOpen.delete(each)
    if (circle.length > 1) circles.push(circle.sort())
    return least
  }
  for (const file of imports.keys()) if (!order.has(file)) visit(file)
  return circles
}

test('imports: no files import each other in a circle, not even by types', () => {
  const files = sources.filter(file => /^(src|indices)\//.test(file) && !isTest(file))
  const imports = new Map(
    files.map(file => [file, importsOf(file).flatMap(specifier => targetOf(file, specifier) ?? [])]),
  )
  expect(circlesOf(imports).map(circle => circle.join(' ↔ '))).toEqual([])
  const [first = '', second = ''] = files
  const circle = new Map([...imports, [first, [second]], [second, [first]]])
  expect(circlesOf(circle).flat()).toEqual(expect.arrayContaining([first, second]))
})

test('layers: one folder imports Elysia, one Elasticsearch, one SQLite, and one reads the environment', () => {
  const homes: readonly (readonly [RegExp, RegExp])[] = [
    [/^elysia$/, /^src\/http\//],
    [/^@elastic\//, /^src\/store\/elastic\/|^scripts\/|^test\//],
    [/^bun:sqlite$/, /^src\/store\/sqlite\/|^scripts\/|^test\//],
    [/^node:process$/, /^src\/cli\/|^src\/main\.ts$|^scripts\/|^test\//],
  ]
  const wrong = sources
    .filter(file => !isTest(file))
    .flatMap(file =>
      importsOf(file)
        .filter(name => homes.some(([what, where]) => what.test(name) && !where.test(file)))
        .map(name => `${file} → ${name}`),
    )
  expect(wrong).toEqual([])
  const readers = sources.filter(
    file =>
      file.startsWith('src/') &&
      !isTest(file) &&
      /process\.env|Bun\.env/.test(readFileSync(join(ROOT, file), 'utf8')) &&
      !/^src\/cli\/|^src\/main\.ts$/.test(file),
  )
  expect(readers).toEqual([])
})

test('imports: paths across folders use an alias and have a file extension', () => {
  const wrong = sources.flatMap(file =>
    importsOf(file)
      .filter(specifier => {
        const target = targetOf(file, specifier)
        if (target === undefined) return false
        const crosses = specifier.startsWith('.') && folderOf(target) !== folderOf(file) && folderOf(file) !== undefined
        return crosses || !/\.(tsx?|js|css|json|html|txt|png)$/.test(specifier)
      })
      .map(specifier => `${file} → ${specifier}`),
  )
  expect(wrong).toEqual([])
})

/** Folders within a folder of src: each may import from itself and from those before it. */
const INNER: Readonly<Record<string, readonly string[]>> = {
  actions: ['request', 'find', 'shape', 'list', 'feed'],
  explorer: ['format', 'find', 'download', 'part', 'pages'],
}

test.each(Object.entries(INNER))('layers: in %s, each folder imports only from those before it', (top, folders) => {
  const rankOf = (path: string): number => folders.indexOf(new RegExp(`^src/${top}/(\\w+)/`).exec(path)?.[1] ?? '')
  const wrong = sources
    .filter(file => rankOf(file) >= 0 && !isTest(file))
    .flatMap(file =>
      importsOf(file)
        .filter(specifier => rankOf(targetOf(file, specifier) ?? '') > rankOf(file))
        .map(specifier => `${file} → ${specifier}`),
    )
  expect(wrong).toEqual([])
  for (const folder of folders) expect(sources.some(file => file.startsWith(`src/${top}/${folder}/`))).toBe(true)
})

/** Lines of each file of the product. */
const lengths: ReadonlyMap<string, number> = new Map(
  sources
    .filter(file => /^(src|indices)\//.test(file) && !isTest(file))
    .map(file => [file, readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1]),
)

test('sizes: no file of the product has more than 450 lines', () => {
  expect([...lengths].filter(([, lines]) => lines > 450)).toEqual([])
})

/** Files that registries list one by one. */
const LISTED = /^src\/actions\/get-|^src\/explorer\/pages\/|^indices\//

test('sizes: a file with one importer has at least 40 lines; a smaller one belongs into its importer', () => {
  const importers = new Map<string, number>()
  for (const file of lengths.keys())
    for (const target of new Set(importsOf(file).flatMap(specifier => targetOf(file, specifier) ?? [])))
      importers.set(target, (importers.get(target) ?? 0) + 1)
  const closets = [...lengths].filter(([file, lines]) => lines < 40 && importers.get(file) === 1 && !LISTED.test(file))
  expect(closets).toEqual([])
})

/** A new helper is private; whoever merges files lowers the figure. */
const MAX_EXPORTS_PER_1000_LINES = 35

test('sizes: few declarations are exported', () => {
  const countExports = (file: string): number =>
    readFileSync(join(ROOT, file), 'utf8').match(/^export (?:async |abstract )?(?:function|const|class|type)\b/gm)
      ?.length ?? 0
  const exported = [...lengths.keys()].reduce((sum, file) => sum + countExports(file), 0)
  const lines = [...lengths.values()].reduce((sum, count) => sum + count, 0)
  expect((1_000 * exported) / lines).toBeLessThanOrEqual(MAX_EXPORTS_PER_1000_LINES)
})

test('objects: no object is built of spreads of objects that are written there', () => {
  expect([...lengths.keys()].filter(file => readFileSync(join(ROOT, file), 'utf8').includes('...{'))).toEqual([])
})

test('explorer pages name their JSX factory, because a program that starts elsewhere reads no tsconfig.json', () => {
  const without = sources.filter(
    file => file.endsWith('.tsx') && !readFileSync(join(ROOT, file), 'utf8').startsWith('/** @jsxImportSource '),
  )
  expect(without).toEqual([])
})

test('every source file loads', async () => {
  // Loading a program would run it.
  const isProgram = (file: string): boolean => /(main|crash-loader)\.ts$/.test(file)
  const files = sources.filter(file => /^(src|indices)\//.test(file) && !isTest(file) && !isProgram(file))
  for (const file of files) await import(join(ROOT, file))
  expect(files.length).toBeGreaterThan(150)
})
