import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { compactJson, elementSpans, isCompactForm, memberSpans, spansInside } from './json-text.ts'

const cut = (text: string, spans: Iterable<readonly [number, number]>): readonly string[] =>
  [...spans].map(([from, to]) => text.slice(from, to))

test('memberSpans: members are in written order, including digit keys and strings with quotes and brackets', () => {
  const text = ' {"b" : "}\\"" , "12345":[1, {"x":"]"}],"__proto__":-1.5e3 ,"a\\u0062":null}'
  const members = memberSpans(text)
  expect([...members.keys()]).toEqual(['b', '12345', '__proto__', 'ab'])
  expect(cut(text, members.values())).toEqual(['"}\\""', '[1, {"x":"]"}]', '-1.5e3', 'null'])
  expect(memberSpans('{}').size).toBe(0)
})

test('memberSpans: the last of two equal keys counts, as in JSON.parse', () => {
  const text = '{"a":1,"a":2}'
  expect(cut(text, memberSpans(text).values())).toEqual(['2'])
})

test('elementSpans: elements of any kind are found, also in empty lists', () => {
  const text = '[ 1,"a\\\\", [ ] ,{"b":[]}, true ]'
  expect(cut(text, elementSpans(text))).toEqual(['1', '"a\\\\"', '[ ]', '{"b":[]}', 'true'])
  expect(elementSpans('[]')).toEqual([])
})

test('spansInside: objects and lists at one depth are found, whatever strings and deeper levels contain', () => {
  const text = '{"a":[ {"b":[{}]}, ["]", [1]] ,3,"{"], "c":{"d":"}\\""}}'
  expect(cut(text, spansInside(text, 2))).toEqual(['{"b":[{}]}', '["]", [1]]'])
  expect(cut(text, spansInside(text, 0))).toEqual([text])
  expect(spansInside('1', 0)).toEqual([])
})

test('compactJson: the result equals JSON.stringify for values whose order and numbers survive it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 4 }), (value, indent) => {
      const compact = JSON.stringify(JSON.parse(JSON.stringify(value)))
      return compactJson(JSON.stringify(JSON.parse(compact), null, indent)) === compact
    }),
  )
})

test('compactJson: order, digits and escapes stay as written', () => {
  expect(compactJson('{ "b" : 1.50 ,\n "1" : "\\u003c  x" }')).toBe('{"b":1.50,"1":"\\u003c  x"}')
})

test('compacted JSON: the result agrees with compactJson for any whitespace, escapes and other letters', () => {
  const texts = ['{"a": [1, 2 ,\n"x, \\" y"], "b":"\\\\" }', '["\\u00e9 ", "a  b"]', '{ }', '"\\\\"', '[ "a", 1.5 ]']
  for (const text of texts)
    for (const compact of [...texts.map(each => compactJson(each)), compactJson(text).slice(0, -1), ''])
      expect(isCompactForm(compact, ` ${text},`, [1, 1 + text.length])).toBe(compact === compactJson(text))
})
