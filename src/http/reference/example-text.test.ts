import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseExact } from '#chain/json.ts'
import { exampleText } from './example-text.ts'

const row = (n: number) => ({ seq: n, amount: '1.5', from: 'a', to: 'b', memo: null })

test('exampleText: a short answer is complete, with every digit', () => {
  const { text, isShorter } = exampleText('{"data":{"rows":[{"big":9007199254740993}],"total":1}}')
  expect(isShorter).toBe(false)
  expect(text).toContain('"big": 9007199254740993')
})

test('exampleText: a long list keeps its first rows and the fields after it', () => {
  const rows = Array.from({ length: 50 }, (_, n) => row(n))
  const { text, isShorter } = exampleText(JSON.stringify({ data: { rows, page: 1, size: 50, total: 99 } }))
  expect(isShorter).toBe(true)
  const { data } = JSON.parse(text)
  expect(data).toEqual({ rows: rows.slice(0, 5), page: 1, size: 50, total: 99 })
})

test('exampleText: a long text is cut within its quotes', () => {
  const { text, isShorter } = exampleText(JSON.stringify({ code: `"${'x'.repeat(5_000)}` }))
  expect(isShorter).toBe(true)
  expect(JSON.parse(text).code).toBe(`"${'x'.repeat(199)}…`)
})

test('exampleText: any answer gives valid JSON', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5, stringUnit: 'binary' }), json => {
      const { text, isShorter } = exampleText(json)
      expect(() => JSON.parse(text)).not.toThrow()
      if (!isShorter) expect(parseExact(text)).toEqual(parseExact(json))
    }),
  )
})
