import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { ROOT } from '../support/root.ts'

/** Maximum number of raw lines, including comments and blank lines: a screen does not show more. */
const MOST = 60

function lengthsIn(file: string, text: string): readonly string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  const long: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const line = (at: number): number => source.getLineAndCharacterOfPosition(at).line + 1
      const [first, last] = [line(node.getStart(source)), line(node.getEnd())]
      if (last - first + 1 > MOST) long.push(`${file}:${first} has ${last - first + 1} lines`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return long
}

test(`functions: no function of the product, of scripts or of shared test code is longer than ${MOST} lines`, () => {
  const files = ['src', 'indices', 'scripts', 'test/support'].flatMap(top =>
    readdirSync(join(ROOT, top), { recursive: true, encoding: 'utf8' })
      .filter(name => /(?<!\.test)\.tsx?$/.test(name))
      .map(name => `${top}/${name}`),
  )
  expect(files.length).toBeGreaterThan(400)
  expect(files.flatMap(file => lengthsIn(file, readFileSync(join(ROOT, file), 'utf8')))).toEqual([])
  const lines = (count: number) => `const long = () => {\n${'\n'.repeat(count - 2)}}`
  expect([lengthsIn('a.ts', lines(MOST)), lengthsIn('a.ts', lines(MOST + 1))]).toEqual([[], ['a.ts:1 has 61 lines']])
})
