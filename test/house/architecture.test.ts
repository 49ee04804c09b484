import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { ROOT } from '../support/root.ts'

/** Rows of the table in src/README.md: folder → folders from which it may import. */
function layers(): ReadonlyMap<string, ReadonlySet<string>> {
  const rows = read('src/README.md').matchAll(/^\| `(\w+)`[^|]*\|[^|]*\|([^|]*)\|$/gm)
  return new Map([...rows].map(([, folder = '', may = '']) => [folder, new Set(may.match(/\w+/g))]))
}

const sources = ['src', 'indices', 'scripts', 'test'].flatMap(top =>
  readdirSync(join(ROOT, top), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map(entry => relative(ROOT, join(entry.parentPath, entry.name))),
)

const importsOf = (file: string): readonly string[] =>
  ts.preProcessFile(read(file), true, true).importedFiles.map(({ fileName }) => fileName)

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

const targetsOf = (file: string): readonly string[] =>
  importsOf(file).flatMap(specifier => targetOf(file, specifier) ?? [])

const isTest = (file: string): boolean => /\.(test|suite)\.tsx?$/.test(file)

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

const product = sources.filter(file => /^(src|indices)\//.test(file) && !isTest(file))
const lengths = new Map(product.map(file => [file, read(file).split('\n').length - 1]))

test('layers: every folder of src has a row, every row a folder', () => {
  const entries = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
  const folders = entries.filter(entry => entry.isDirectory()).map(({ name }) => name)
  expect([...layers().keys()].sort()).toEqual([...folders, 'indices'].sort())
})

const listImports = (files: readonly string[], isWrong: (file: string, specifier: string) => boolean) =>
  files.flatMap(file =>
    importsOf(file)
      .filter(specifier => isWrong(file, specifier))
      .map(specifier => `${file} → ${specifier}`),
  )

test('layers: no file has an import that the table does not allow', () => {
  const table = layers()
  const wrong = listImports(product, (file, specifier) => {
    const folder = folderOf(file)
    const target = targetOf(file, specifier)
    if (folder === undefined || target === undefined) return false
    const [may, other] = [table.get(folder), folderOf(target) ?? target]
    return other !== folder && may?.has('all') !== true && may?.has(other) !== true
  })
  expect(wrong).toEqual([])
})

/** The files that import each other in a circle, and those that lead from one circle to another. */
function findCircles(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const left = new Set(imports.keys())
  const isFree = (others: readonly string[]): boolean => !others.some(other => left.has(other))
  for (let count = -1; count !== left.size; ) {
    count = left.size
    for (const file of left) if (isFree(imports.get(file) ?? [])) left.delete(file)
  }
  return [...left]
}

test('imports: no files import each other in a circle, not even by types', () => {
  const imports = new Map(product.map(file => [file, targetsOf(file)]))
  expect(findCircles(imports)).toEqual([])
  const [first = '', second = ''] = imports.keys()
  expect(findCircles(new Map([...imports, [first, [second]], [second, [first]]]))).toEqual(
    expect.arrayContaining([first, second]),
  )
})

test('layers: one folder imports Elysia, one Elasticsearch, one SQLite, and one reads the environment', () => {
  const homes: readonly (readonly [RegExp, RegExp])[] = [
    [/^elysia$/, /^src\/http\//],
    [/^@elastic\//, /^src\/store\/elastic\/|^scripts\/|^test\//],
    [/^bun:sqlite$/, /^src\/store\/sqlite\/|^scripts\/|^test\//],
    [/^node:process$/, /^src\/cli\/|^src\/main\.ts$|^scripts\/|^test\//],
  ]
  const wrong = listImports(
    sources.filter(file => !isTest(file)),
    (file, name) => homes.some(([what, where]) => what.test(name) && !where.test(file)),
  )
  expect(wrong).toEqual([])
  const readers = product.filter(
    file => /process\.env|Bun\.env/.test(read(file)) && !/^src\/cli\/|^src\/main\.ts$/.test(file),
  )
  expect(readers).toEqual([])
})

test('imports: paths across folders use an alias and have a file extension', () => {
  const wrong = listImports(sources, (file, specifier) => {
    const target = targetOf(file, specifier)
    if (target === undefined) return false
    const crosses = specifier.startsWith('.') && folderOf(target) !== folderOf(file) && folderOf(file) !== undefined
    return crosses || !/\.(tsx?|js|css|json|html|txt|png)$/.test(specifier)
  })
  expect(wrong).toEqual([])
})

/** Folders within a folder of src: each may import from itself and from those before it. */
const INNER: Readonly<Record<string, readonly string[]>> = {
  actions: ['request', 'find', 'shape', 'list', 'feed'],
  explorer: ['format', 'find', 'download', 'part', 'pages'],
}

test.each(Object.entries(INNER))('layers: in %s, each folder imports only from those before it', (top, folders) => {
  const rankOf = (path: string): number => folders.indexOf(new RegExp(`^src/${top}/(\\w+)/`).exec(path)?.[1] ?? '')
  const files = sources.filter(file => rankOf(file) >= 0 && !isTest(file))
  const wrong = listImports(files, (file, specifier) => rankOf(targetOf(file, specifier) ?? '') > rankOf(file))
  expect(wrong).toEqual([])
  for (const folder of folders) expect(sources.some(file => file.startsWith(`src/${top}/${folder}/`))).toBe(true)
})

test('sizes: no file of the product has more than 450 lines', () => {
  expect([...lengths].filter(([, lines]) => lines > 450)).toEqual([])
})

/** Files that registries list one by one. */
const LISTED = /^src\/actions\/get-|^src\/explorer\/pages\/|^indices\//

test('sizes: a file with one importer has at least 40 lines; a smaller one belongs into its importer', () => {
  const importers = new Map<string, number>()
  for (const file of product)
    for (const target of new Set(targetsOf(file))) importers.set(target, (importers.get(target) ?? 0) + 1)
  const closets = [...lengths].filter(([file, lines]) => lines < 40 && importers.get(file) === 1 && !LISTED.test(file))
  expect(closets).toEqual([])
})

/** A new helper is private; whoever merges files lowers the figure. */
const MAX_EXPORTS_PER_1000_LINES = 35

test('sizes: few declarations are exported', () => {
  const countExports = (file: string): number =>
    read(file).match(/^export (?:async |abstract )?(?:function|const|class|type)\b/gm)?.length ?? 0
  const exported = product.reduce((sum, file) => sum + countExports(file), 0)
  const lines = [...lengths.values()].reduce((sum, count) => sum + count, 0)
  expect((1_000 * exported) / lines).toBeLessThanOrEqual(MAX_EXPORTS_PER_1000_LINES)
})

test('objects: no object is built of spreads of objects that are written there', () => {
  expect(product.filter(file => read(file).includes('...{'))).toEqual([])
})

test('explorer pages name their JSX factory, because a program that starts elsewhere reads no tsconfig.json', () => {
  const without = sources.filter(file => file.endsWith('.tsx') && !read(file).startsWith('/** @jsxImportSource '))
  expect(without).toEqual([])
})

/** Maximum number of raw lines of a function, including comments and blank lines: a screen does not show more. */
const MAX_LINES = 60

function listLongFunctions(file: string, text: string): readonly string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  const long: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const line = (at: number): number => source.getLineAndCharacterOfPosition(at).line + 1
      const [first, last] = [line(node.getStart(source)), line(node.getEnd())]
      if (last - first + 1 > MAX_LINES) long.push(`${file}:${first} has ${last - first + 1} lines`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return long
}

test(`sizes: no function of the product, of scripts or of shared test code is longer than ${MAX_LINES} lines`, () => {
  const files = sources.filter(file => /^(src|indices|scripts|test\/support)\//.test(file) && !isTest(file))
  expect(files.flatMap(file => listLongFunctions(file, read(file)))).toEqual([])
  const list = (count: number) => listLongFunctions('a.ts', `const long = () => {\n${'\n'.repeat(count - 2)}}`)
  expect([list(MAX_LINES), list(MAX_LINES + 1)]).toEqual([[], ['a.ts:1 has 61 lines']])
})
